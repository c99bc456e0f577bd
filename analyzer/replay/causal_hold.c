// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal_hold.h"

#include <errno.h>
#include <stdlib.h>

/* Requests of write-back under way that are a burst: fewer than what the kernel throttles. */
#define HOLD_BURST_LEAST 8
/*
 * So many requests that were held back are no coincidence. By chance, one of a hundred comes
 * directly after a burst where bursts last for 25 ms.
 */
#define HOLD_LEAST 5

/* This struct is what is known of one request that was held back. */
struct hold_request {
	uint64_t gap_ns; /* since the burst had drained */
	uint32_t depth;	 /* requests of write-back under way when it could have been sent */
	bool write;	 /* or a flush */
};

struct hold_requests {
	struct hold_request *held; /* owned, room for each flush and write of a thread */
	size_t nr;
	size_t nr_held[2], nr_free[2]; /* flushes, writes; nr_free came at once during a burst */
};

static size_t hold_sent_until(const struct causal_times *t, const struct causal_span *s,
			      uint64_t ns)
{
	const struct request *r = &t->requests[s->first];
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r[middle].arrival_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t hold_ended_until(const struct causal_span *s, uint64_t ns)
{
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->ends[middle].ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the completion within CAUSAL_FOLLOW_NS before at_ns that left nothing under way. */
static const struct causal_end *hold_drained(const struct causal_times *t,
					     const struct causal_span *s, uint64_t at_ns)
{
	size_t last = hold_ended_until(s, at_ns);

	for (; last && at_ns - s->ends[last - 1].ns <= CAUSAL_FOLLOW_NS; last--)
		if (hold_sent_until(t, s, s->ends[last - 1].ns) == last)
			return &s->ends[last - 1];
	return NULL;
}

/* Looks at a request that could have been sent at since_ns, and was sent at at_ns. */
static void hold_look(const struct causal_times *t, struct causal_request *q, uint64_t since_ns,
		      uint64_t at_ns, struct hold_requests *h)
{
	const struct causal_span *s = t->lanes;
	size_t depth = hold_sent_until(t, s, since_ns) - hold_ended_until(s, since_ns);
	bool write = q->operation == OPERATION_WRITE;
	const struct causal_end *e;

	if (depth < HOLD_BURST_LEAST)
		return;
	if (at_ns - since_ns <= CAUSAL_FOLLOW_NS) {
		h->nr_free[write]++;
		return;
	}
	e = hold_drained(t, s, at_ns);
	if (!e)
		return;
	q->gap_ns = at_ns - e->ns;
	q->after_lane = 0;
	q->after = e->request;
	h->nr_held[write]++;
	h->held[h->nr++] = (struct hold_request){ q->gap_ns, (uint32_t)depth, write };
}

static void hold_look_lane(const struct causal_times *t, const struct causal_span *s,
			   struct causal_lane *lane, struct hold_requests *h)
{
	const struct request *r = &t->requests[s->first];

	for (size_t i = 1; i < lane->nr; i++) {
		struct causal_request *q = &lane->requests[i];
		uint64_t since_ns = r[i - 1].arrival_ns;

		/* A thread with others of its own under way was not idle. */
		if (q->operation == OPERATION_READ || q->done != i)
			continue;
		if (s->ends[i - 1].ns > since_ns)
			since_ns = s->ends[i - 1].ns;
		hold_look(t, q, since_ns, r[i].arrival_ns, h);
	}
}

static int hold_by_gap(const void *a, const void *b)
{
	const struct hold_request *x = a, *y = b;

	return (x->gap_ns > y->gap_ns) - (x->gap_ns < y->gap_ns);
}

static int hold_by_depth(const void *a, const void *b)
{
	const struct hold_request *x = a, *y = b;

	return (x->depth > y->depth) - (x->depth < y->depth);
}

/*
 * Sums up. The depth is one that three of four bursts had reached, since requests could mostly be
 * sent when a burst had begun; the gap is the median.
 */
static void hold_sum_up(struct hold_requests *h, struct causal_hold *hold)
{
	bool holds[2];
	size_t nr = 0;

	for (int k = 0; k < 2; k++)
		holds[k] = h->nr_held[k] >= HOLD_LEAST && h->nr_held[k] > h->nr_free[k];
	*hold = (struct causal_hold){ .flushes = holds[0], .writes = holds[1] };
	for (size_t i = 0; i < h->nr; i++)
		if (holds[h->held[i].write])
			h->held[nr++] = h->held[i];
	if (!nr)
		return;
	qsort(h->held, nr, sizeof(*h->held), hold_by_gap);
	hold->gap_ns = h->held[nr / 2].gap_ns;
	qsort(h->held, nr, sizeof(*h->held), hold_by_depth);
	hold->depth = h->held[nr / 4].depth;
}

int causal_hold_find(const struct causal_times *t, struct causal_plan *plan)
{
	struct hold_requests h = { .nr = 0 };
	size_t most = 0;

	if (causal_tid(&t->requests[t->lanes[0].first]))
		return 0;
	for (size_t l = 1; l < plan->nr_lanes; l++)
		most += plan->lanes[l].nr;
	h.held = calloc(most + 1, sizeof(*h.held));
	if (!h.held)
		return -ENOMEM;
	for (size_t l = 1; l < plan->nr_lanes; l++)
		if (!causal_is_kernel(plan->lanes[l].tid) && !plan->lanes[l].open &&
		    !plan->lanes[l].pool)
			hold_look_lane(t, &t->lanes[l], &plan->lanes[l], &h);
	hold_sum_up(&h, &plan->hold);
	free(h.held);
	return 0;
}
