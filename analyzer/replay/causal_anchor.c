// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal_anchor.h"

#include <stdbool.h>

/*
 * Returns whether a request completed at or before a time, and was sent before it. By a coarse
 * clock requests take no time: those that were sent at the same instant would else wait for each
 * other.
 */
static bool causal_ended_before(const struct causal_times *t, const struct causal_end *e,
				uint64_t ns)
{
	const struct request *r = &t->requests[t->lanes[e->lane].first + e->request];

	return e->ns < ns || (e->ns == ns && r->arrival_ns < ns);
}

/* Returns the last completion of a lane before a time, as above; NULL if there is none. */
static const struct causal_end *causal_last_end(const struct causal_times *t,
						const struct causal_span *s, uint64_t ns)
{
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (causal_ended_before(t, &s->ends[middle], ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &s->ends[low - 1] : NULL;
}

void causal_anchor_at(struct causal_request *q, const struct causal_end *e, uint64_t arrival_ns)
{
	q->gap_ns = arrival_ns - e->ns;
	q->after_lane = e->lane;
	q->after = e->request;
}

void causal_anchor(struct causal_request *q, const struct causal_times *t, uint64_t depends,
		   uint64_t arrival_ns, uint64_t since_ns)
{
	q->after_lane = q->after = UINT32_MAX;
	for (uint32_t l = 0; l < t->nr_lanes && l < CAUSAL_DEPEND_LANES; l++) {
		const struct causal_end *e;

		if (!(depends >> l & 1))
			continue;
		e = causal_last_end(t, &t->lanes[l], arrival_ns);
		if (!e || e->ns <= since_ns)
			continue;
		since_ns = e->ns;
		q->after_lane = l;
		q->after = e->request;
	}
	q->gap_ns = arrival_ns - since_ns;
}

void causal_anchor_any(struct causal_request *q, const struct causal_times *t, size_t nr,
		       uint64_t arrival_ns, uint64_t since_ns)
{
	const struct causal_end *last = NULL;
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->all[middle].ns < arrival_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low)
		last = &t->all[low - 1];
	for (size_t i = low; i < nr && i - low < CAUSAL_DEPEND_LANES; i++)
		if (causal_ended_before(t, &t->all[i], arrival_ns))
			last = &t->all[i];
	q->after_lane = q->after = UINT32_MAX;
	q->gap_ns = arrival_ns - since_ns;
	if (last && last->ns > since_ns)
		causal_anchor_at(q, last, arrival_ns);
}
