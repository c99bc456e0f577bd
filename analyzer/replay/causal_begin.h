/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_begin: this module finds which thread of a window another one takes the place of. A loop
 * of a shell starts one program after the other, and each of them is a thread of its own: it begins
 * because the one before it has ended, not at a time of its own.
 *
 * Threads that begin whatever the others do see what an outside observer sees at random times, as
 * in causal_open.h: the share of them that begin while k or more threads live is the share of time
 * in which so many live. A thread lives from its first request to its last completion. Where far
 * fewer threads than that begin with some k alive, no more than k run at a time, and a thread that
 * begins takes the place of the one that ended last and whose place is still free.
 * Threads that begin at regular intervals go by a clock, and take no places, unless the times from
 * an end to the next beginning are more regular than the intervals are.
 */
#ifndef ANALYZER_CAUSAL_BEGIN_H
#define ANALYZER_CAUSAL_BEGIN_H

#include "analyzer/replay/causal_depend.h"

#define CAUSAL_NO_LANE UINT32_MAX

/*
 * Sets before[l] to the lane whose place lane l takes, or to CAUSAL_NO_LANE. before has one item
 * per lane. Lanes of the kernel have no place. *clock says that threads begin at regular intervals.
 * Returns 0 or -ENOMEM. O(n log n) for n lanes.
 */
int causal_begin(const struct causal_times *t, uint32_t *before, bool *clock);

#endif
