/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_hold: finds whether write-back held requests of threads back.
 *
 * While as much is under way as the throttling of write-back allows, Linux holds back further
 * writes and flushes until that has drained (block/blk-wbt.c); reads and direct writes pass. A
 * request has its arrival only afterwards, so that no response time tells of this wait. It looks
 * like a time that the thread needed: the thread was idle while a burst of write-back was under
 * way, and its request came directly after the last request of a burst had completed.
 *
 * Such a request waits for that completion. If most flushes that could have been sent during a
 * burst were held back, a flush that comes due during a burst of a simulation is held back too, and
 * likewise a write.
 */
#ifndef ANALYZER_CAUSAL_HOLD_H
#define ANALYZER_CAUSAL_HOLD_H

#include "analyzer/replay/causal.h"
#include "analyzer/replay/causal_depend.h"

/*
 * Looks at the flushes and writes of all lanes of the plan, which are filled. Sets what those that
 * were held back wait for, and plan->hold. Returns 0 or -ENOMEM. O(log n) for each flush and write
 * of a thread, and for each completion within CAUSAL_FOLLOW_NS before it.
 */
int causal_hold_find(const struct causal_times *t, struct causal_plan *plan);

#endif
