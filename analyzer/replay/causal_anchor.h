/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_anchor: this module finds the event from which the gap before a request counts: a
 * completion that it waits for, or an event of its own lane.
 */
#ifndef ANALYZER_CAUSAL_ANCHOR_H
#define ANALYZER_CAUSAL_ANCHOR_H

#include "analyzer/replay/causal.h"
#include "analyzer/replay/causal_depend.h"

/* Lets a request that arrived at a time wait for a completion before it. */
void causal_anchor_at(struct causal_request *q, const struct causal_end *e, uint64_t arrival_ns);
/*
 * Lets a request wait for the last completion of the lanes whose bits are set in depends, if there
 * is one after since_ns, the last event of its own lane. O(lanes * log n).
 */
void causal_anchor(struct causal_request *q, const struct causal_times *t, uint64_t depends,
		   uint64_t arrival_ns, uint64_t since_ns);
/*
 * Does the same for a request that depends on whatever completed last, of all nr completions in
 * t->all. Of those that have the time of the request, in a trace of a coarse clock, at most
 * CAUSAL_DEPEND_LANES are looked at. O(log n).
 */
void causal_anchor_any(struct causal_request *q, const struct causal_times *t, size_t nr,
		       uint64_t arrival_ns, uint64_t since_ns);

#endif
