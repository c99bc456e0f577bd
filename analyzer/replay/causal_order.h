/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_order: puts the requests of a window in order by lane, and the arrivals and completions of
 * all lanes in order of time. Requests are mostly in order already, as they were recorded, so that
 * lanes are distributed and merged and not sorted: O(n log lanes) for n requests.
 */
#ifndef ANALYZER_CAUSAL_ORDER_H
#define ANALYZER_CAUSAL_ORDER_H

#include "analyzer/replay/causal_depend.h"

/*
 * Sorts requests by lane, then by arrival, then by sector. Allocates t->room, which the caller
 * frees. The functions below put their arrays there, because memory that has been written to costs
 * no more page faults. Returns 0 or -ENOMEM.
 */
int causal_order_lanes(struct causal_times *t, struct request *r, size_t nr);
/* Sets the lanes of t->requests, t->ends and t->all. Returns 0 or -ENOMEM. */
int causal_order_ends(struct causal_times *t, size_t nr);
/*
 * Gives the arrivals of all lanes, ascending by time: ns is the arrival of a lane's request. They
 * lie in t->spare, so that a later call overwrites them. Returns 0 or -ENOMEM.
 */
int causal_order_arrivals(const struct causal_times *t, const struct causal_end **arrivals);

#endif
