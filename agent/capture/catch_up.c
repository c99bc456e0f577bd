/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/capture/catch_up.h"

uint64_t catch_up_end(uint64_t begin_ns, uint64_t width_ns, uint64_t now_ns, unsigned int nr_closed)
{
	uint64_t behind_ns;

	if (now_ns < begin_ns + width_ns + CATCH_UP_SETTLE_NS)
		return 0;
	if (nr_closed < CATCH_UP_MAX)
		return begin_ns + width_ns;
	behind_ns = now_ns - begin_ns - CATCH_UP_SETTLE_NS;
	return begin_ns + behind_ns - behind_ns % width_ns;
}
