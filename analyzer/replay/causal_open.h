/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_open: this module tells lanes whose requests come by themselves (open) from lanes that
 * answer completions (closed).
 *
 * Arrivals that do not depend on the completions see what an outside observer sees at random times
 * (Wolff, Poisson Arrivals See Time Averages, Operations Research 30(2), 1982). A lane is open if
 * two comparisons hold:
 *
 * - The share of its requests that find other requests of the lane under way is the share of time
 * in which there are such requests. A thread that waits for each request never finds any.
 *
 * - The time since the lane's last completion, as its requests find it, is above the median of this
 * time over all instants for half of the requests. A client that keeps a number of requests under
 * way sends directly after a completion, and one that thinks sends after its think time.
 *
 * Both shares may differ by OPEN_SIGMAS standard deviations of independent draws, and by
 * OPEN_TOLERANCE because arrivals are never quite Poisson. Requests of a burst are no independent
 * draws: those that follow the one before in less than 1 / OPEN_BURST of the mean time between
 * requests are one draw with it. A lane of fewer than OPEN_REQUESTS draws, or of which fewer than
 * OPEN_BUSY are expected to find others, stays closed: there is no evidence, and it makes little
 * difference. Of more than OPEN_MOST requests the first ones decide, of which both shares are known
 * to a hundredth.
 */
#ifndef ANALYZER_CAUSAL_OPEN_H
#define ANALYZER_CAUSAL_OPEN_H

#include <stdbool.h>

#include "analyzer/replay/causal_depend.h"

#define OPEN_REQUESTS  50
#define OPEN_BUSY      10.0
#define OPEN_BURST     20 /* one in 20 requests of a Poisson process follows so soon */
#define OPEN_MOST      20000
#define OPEN_SIGMAS    3.0
#define OPEN_TOLERANCE 0.1

/*
 * Sets *open for lane l. Returns 0 or -ENOMEM. O(n log n) for the lane's n requests, at most
 * OPEN_MOST, and 16 bytes for each.
 */
int causal_is_open(const struct causal_times *t, size_t l, bool *open);

#endif
