/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_wait: which lanes of a simulation of stored requests wait for others.
 *
 * A lane waits for the completion of one request, from which its next gap counts, or for a number
 * of completions of other lanes, or for both. A lane is looked at again only when one of these has
 * come. So thousands of lanes that begin late cost nothing until then: O(log lanes) each time a
 * lane begins to wait or to go on.
 */
#ifndef ANALYZER_WHATIF_SIMULATE_STORED_WAIT_H
#define ANALYZER_WHATIF_SIMULATE_STORED_WAIT_H

#include "analyzer/whatif/simulate/stored_state.h"

/* Makes room for the lanes of a load. Returns 0 or -ENOMEM. */
int stored_wait_init(struct stored_load *load);
void stored_wait_release(struct stored_load *load);
/*
 * Notes for what the next request of a lane waits: for the completion that it follows (after), or
 * for completions of other lanes (others); neither: it does not wait. Returns 0 or -ENOMEM.
 */
int stored_wait_for(struct stored_sim *s, uint32_t lane, bool after, bool others);
/* Notes that a request of a lane has completed. Returns 0 or -ENOMEM. */
int stored_wait_ended(struct stored_sim *s, struct stored_lane *l, size_t index);
/*
 * Takes those lanes of a load that may go on now, in their order. The caller looks at s->ready
 * [0 .. s->nr_ready) and then sets s->nr_ready to 0. Returns 0 or -ENOMEM.
 */
int stored_wait_take(struct stored_sim *s, struct stored_load *load);
/* Forgets who waits, because the load begins anew. */
void stored_wait_clear(struct stored_sim *s, struct stored_load *load);

#endif
