/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catch_up: where the windows end that are over, after the agent was held up. Pure.
 */
#ifndef AGENT_CATCH_UP_H
#define AGENT_CATCH_UP_H

#include <stdint.h>

/* After a window's end: what completed in it has reached the rings by then. */
#define CATCH_UP_SETTLE_NS 1000000u
/* Windows closed one after another before a stall is taken as one (a stopped machine). */
#define CATCH_UP_MAX 5

/*
 * The end of the window begun at begin_ns, as of now_ns, nr_closed having been closed at this same
 * time; 0 where it is not over. After CATCH_UP_MAX one window takes all that is left of whole widths,
 * and says how long it was. width_ns > 0.
 */
uint64_t catch_up_end(uint64_t begin_ns, uint64_t width_ns, uint64_t now_ns,
		      unsigned int nr_closed);

#endif
