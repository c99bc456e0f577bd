/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/capture/pace.h"

void pace_init(struct pace *p, bool is_patient)
{
	*p = (struct pace){ .is_patient = is_patient, .wait_ns = PACE_MIN_NS };
}

/* The wait at most doubles each time, so that one poll without requests changes little. */
static uint64_t by_rate(const struct pace *p, uint64_t interval_ns, uint64_t nr)
{
	uint64_t wait_ns = 2 * p->wait_ns;
	double wanted_ns = nr ? (double)interval_ns * PACE_REQUESTS / (double)nr : PACE_MAX_NS;

	if (wanted_ns < (double)wait_ns)
		wait_ns = (uint64_t)wanted_ns;
	if (wait_ns < PACE_MIN_NS)
		return PACE_MIN_NS;
	return wait_ns < PACE_MAX_NS ? wait_ns : PACE_MAX_NS;
}

void pace_note(struct pace *p, uint64_t interval_ns, uint64_t nr)
{
	if (nr)
		p->nr_empty = 0;
	else if (p->nr_empty < PACE_EMPTY_LOOKS)
		p->nr_empty++;
	if (p->is_patient)
		p->wait_ns = by_rate(p, interval_ns, nr);
	else
		p->wait_ns = p->nr_empty < PACE_EMPTY_LOOKS ? PACE_MIN_NS : PACE_MAX_NS;
}

bool pace_heeds_source(const struct pace *p)
{
	return p->nr_empty || p->wait_ns > PACE_MIN_NS;
}

uint64_t pace_window_end(uint64_t begin_ns, uint64_t width_ns, uint64_t now_ns,
			 unsigned int nr_closed)
{
	uint64_t behind_ns;

	if (now_ns < begin_ns + width_ns + PACE_SETTLE_NS)
		return 0;
	if (nr_closed < PACE_CATCH_UP_WINDOWS)
		return begin_ns + width_ns;
	behind_ns = now_ns - begin_ns - PACE_SETTLE_NS;
	return begin_ns + behind_ns - behind_ns % width_ns;
}
