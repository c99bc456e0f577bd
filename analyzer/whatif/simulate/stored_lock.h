/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_lock: the locks of a simulation of stored requests (stored_sim.h), under which the lanes
 * of a load write a log.
 *
 * More clients of an application share its log. What waits for the log when a section of it begins
 * is written by that section: databases call this a group commit. Within a copy of the load the
 * recording has this already, because it has the requests of those alone that wrote for others.
 * Between copies it has not: a section that a lane of another copy begins covers what a lane would
 * write that waits for the lock at that time. The requests of the covered section are not sent, and
 * count as completed when the covering section ends.
 */
#ifndef ANALYZER_WHATIF_SIMULATE_STORED_LOCK_H
#define ANALYZER_WHATIF_SIMULATE_STORED_LOCK_H

#include "analyzer/whatif/simulate/stored_state.h"

/*
 * Takes the lock of a lane whose next request is due. Returns false if another lane holds it. The
 * lane is looked at again when it is its turn.
 */
bool stored_lock_take(struct stored_sim *s, uint32_t lane);
/*
 * Takes the lock from its holder. Returns the lane that has wanted it for the longest time, which
 * takes it next, or STORED_NO_LANE.
 */
uint32_t stored_lock_give(struct stored_sim *s, struct stored_load *load, uint32_t lock);
/* Marks the lanes that the section of the lock's new holder covers. O(lanes). */
void stored_lock_cover(struct stored_sim *s, struct stored_load *load, uint32_t lock);

#endif
