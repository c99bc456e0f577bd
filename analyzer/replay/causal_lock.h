/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_lock: this module finds threads that write a log under a lock. A database does so: one
 * thread at a time writes the log and flushes it, and the others wait for it before they write.
 * Sent by their own causes alone, such writes and flushes of several threads would overlap on
 * another storage, where the application never lets them.
 *
 * A section goes from a write that a thread sends with nothing under way to the completion of what
 * makes it durable: the flush that the thread sends next, or the write itself if it is forced.
 * Between them there may be further writes, each within CAUSAL_FOLLOW_NS after the completion
 * before. Threads of one control group hold a lock if far fewer of their sections begin inside
 * another one's section than would at random times.
 */
#ifndef ANALYZER_CAUSAL_LOCK_H
#define ANALYZER_CAUSAL_LOCK_H

#include "analyzer/replay/causal.h"
#include "analyzer/replay/causal_depend.h"

/*
 * Sets the locks of a plan whose lanes are complete otherwise. The first request of a section takes
 * the lock, and the last one gives it back. A request that took the lock as soon as another lane
 * gave it back waits for that lane, and the other requests of a section wait for their own lane
 * alone: whoever holds a lock never waits for one who may wait for it. Returns 0 or -ENOMEM.
 * O(n log n) for n sections, times the lanes that have any; only the first CAUSAL_DEPEND_LANES
 * lanes are looked at.
 */
int causal_lock(const struct causal_times *t, struct causal_plan *plan);

#endif
