/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_scale: this module multiplies a stored load by a factor, so that a simulation
 * (stored_sim.h) tells what more or fewer clients would meet.
 *
 * Closed lanes are copied: a factor of 2.5 makes two copies of each lane and one more of half of
 * the lanes, chosen so that they have about half of the requests. A copy waits for the completions
 * of its own copies of other lanes, or for those of the first copy where it has none. It has
 * offsets of its own, and it begins a little later than the first one, because clients do not move
 * in step.
 *
 * Open lanes get a higher or lower rate: the recorded times between requests are divided by the
 * factor, and the requests are repeated so that the lane lasts as long as it did.
 *
 * More clients of an application share what its lanes share under a lock, such as a log. More
 * machines with the application do not.
 *
 *	struct causal_plan more;
 *	int ret = stored_scale(&more, &plan, 1, 1.5);
 *
 *	factor = (double)more.nr / (double)plan.nr;	(1.5 if the lanes can be divided so)
 *	causal_release(&more);
 *
 * A factor of 1 gives an equal plan. The plan is for simulations: its offsets lie beyond the end of
 * the device, and it has no recorded response times.
 */
#ifndef ANALYZER_WHATIF_SIMULATE_STORED_SCALE_H
#define ANALYZER_WHATIF_SIMULATE_STORED_SCALE_H

#include "analyzer/replay/causal.h"

/*
 * Multiplies the load by the number of machines and by the factor of the clients of each. Machines
 * with fewer clients than were recorded become fewer machines with as many. Returns 0
 * or -ENOMEM. Release out whatever this returns. O(requests of out).
 */
int stored_scale(struct causal_plan *out, const struct causal_plan *plan, size_t machines,
		 double clients);
/* Returns whether all lanes of the plan are open, so that its rate is what a factor changes. */
bool stored_scale_is_open(const struct causal_plan *plan);

#endif
