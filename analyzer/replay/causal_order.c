// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAUSAL_GROUPS 256 /* more threads than these are sorted by comparison */
#define CAUSAL_ARRAYS 4	  /* arrays of causal_end that use the memory of the requests' copy */

_Static_assert(CAUSAL_ARRAYS * sizeof(struct causal_end) <= sizeof(struct request),
	       "these arrays fit into the memory of the copy");

static int causal_by_lane(const void *a, const void *b)
{
	const struct request *x = a, *y = b;
	uint64_t s = causal_rank(x), t = causal_rank(y);

	if (s != t)
		return s < t ? -1 : 1;
	if (x->arrival_ns != y->arrival_ns)
		return x->arrival_ns < y->arrival_ns ? -1 : 1;
	return (x->sector > y->sector) - (x->sector < y->sector);
}

static int causal_by_time(const void *a, const void *b)
{
	const struct causal_end *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->request > y->request) - (x->request < y->request);
}

/* Sorts what is not sorted yet. Requests of a thread, and their completions, mostly are. */
static void causal_sort(void *items, size_t nr, size_t size,
			int (*compare)(const void *, const void *))
{
	const char *item = items;

	for (size_t i = 1; i < nr; i++)
		if (compare(item + (i - 1) * size, item + i * size) > 0) {
			qsort(items, nr, size, compare);
			return;
		}
}

/* This struct describes a submitter, and where its next request goes. */
struct causal_group {
	uint64_t rank;
	size_t nr, next;
};

struct causal_groups {
	struct causal_group of[CAUSAL_GROUPS]; /* ascending by rank */
	size_t nr;
};

/* Returns the group of a lane, which is made if it is not there; NULL if there are too many. */
static struct causal_group *causal_group_of(struct causal_groups *g, uint64_t rank)
{
	size_t low = 0, high = g->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (g->of[middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < g->nr && g->of[low].rank == rank)
		return &g->of[low];
	if (g->nr == CAUSAL_GROUPS)
		return NULL;
	memmove(&g->of[low + 1], &g->of[low], (g->nr++ - low) * sizeof(*g->of));
	g->of[low] = (struct causal_group){ .rank = rank };
	return &g->of[low];
}

/* Few threads that send a lot are distributed in one pass: most of the time of a long trace. */
int causal_order_lanes(struct causal_times *t, struct request *r, size_t nr)
{
	struct causal_groups g = { .nr = 0 };
	struct request *copy = malloc(nr * sizeof(*copy));
	size_t first = 0;

	t->room = copy;
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct causal_group *of = causal_group_of(&g, causal_rank(&r[i]));

		if (!of) {
			causal_sort(r, nr, sizeof(*r), causal_by_lane);
			return 0;
		}
		of->nr++;
	}
	memcpy(copy, r, nr * sizeof(*copy));
	for (size_t k = 0; k < g.nr; k++) {
		g.of[k].next = first;
		first += g.of[k].nr;
	}
	for (size_t i = 0; i < nr; i++)
		r[causal_group_of(&g, causal_rank(&copy[i]))->next++] = copy[i];
	for (size_t k = 0; k < g.nr; k++)
		causal_sort(r + g.of[k].next - g.of[k].nr, g.of[k].nr, sizeof(*r), causal_by_lane);
	return 0;
}

static int causal_find_lanes(struct causal_times *t, size_t nr)
{
	const struct request *r = t->requests;

	for (size_t i = 0, end; i < nr; i = end) {
		struct causal_span *more = realloc(t->lanes, (t->nr_lanes + 1) * sizeof(*more));

		if (!more)
			return -ENOMEM;
		t->lanes = more;
		for (end = i; end < nr && causal_rank(&r[end]) == causal_rank(&r[i]);)
			end++;
		more[t->nr_lanes++] = (struct causal_span){ i, end - i, t->ends + i };
	}
	return 0;
}

/* Merges two ascending runs. */
static void causal_merge(const struct causal_end *a, size_t nr_a, const struct causal_end *b,
			 size_t nr_b, struct causal_end *out)
{
	while (nr_a || nr_b) {
		bool first = nr_a && (!nr_b || a->ns <= b->ns);

		*out++ = first ? *a++ : *b++;
		*(first ? &nr_a : &nr_b) -= 1;
	}
}

/*
 * Puts the events of all lanes in order, by merging neighbouring lanes until one run is left.
 * *events has them by lane, ascending in each, and *spare is memory for as many. The two pointers
 * may have been exchanged in the end: the result is always *events. The runs of lanes end at
 * stops[].
 */
static int causal_merge_lanes(const struct causal_times *t, struct causal_end **events,
			      struct causal_end **spare)
{
	size_t *stops = malloc(t->nr_lanes * sizeof(*stops)), nr_runs = t->nr_lanes;

	if (!stops)
		return -ENOMEM;
	for (size_t l = 0; l < nr_runs; l++)
		stops[l] = t->lanes[l].first + t->lanes[l].nr;
	while (nr_runs > 1) {
		struct causal_end *from = *events;
		size_t left = 0, begin = 0;

		*events = *spare;
		*spare = from;
		for (size_t k = 0; k < nr_runs; k += 2) {
			size_t middle = stops[k], end = k + 1 < nr_runs ? stops[k + 1] : middle;

			causal_merge(from + begin, middle - begin, from + middle, end - middle,
				     *events + begin);
			stops[left++] = begin = end;
		}
		nr_runs = left;
	}
	free(stops);
	return 0;
}

int causal_order_ends(struct causal_times *t, size_t nr)
{
	t->ends = t->room;
	t->all = t->ends + nr;
	t->spare[0] = t->all + nr;
	t->spare[1] = t->spare[0] + nr;
	if (causal_find_lanes(t, nr) < 0)
		return -ENOMEM;
	for (size_t l = 0; l < t->nr_lanes; l++) {
		struct causal_span *s = &t->lanes[l];

		for (size_t i = 0; i < s->nr; i++)
			s->ends[i] = (struct causal_end){ t->requests[s->first + i].completion_ns,
							  (uint32_t)l, (uint32_t)i };
		causal_sort(s->ends, s->nr, sizeof(*s->ends), causal_by_time);
	}
	memcpy(t->all, t->ends, nr * sizeof(*t->all));
	return causal_merge_lanes(t, &t->all, &t->spare[0]);
}

int causal_order_arrivals(const struct causal_times *t, const struct causal_end **arrivals)
{
	struct causal_end *a = t->spare[0], *spare = t->spare[1];
	int ret;

	for (uint32_t l = 0; l < t->nr_lanes; l++) {
		const struct causal_span *s = &t->lanes[l];

		for (uint32_t i = 0; i < s->nr; i++)
			a[s->first + i] =
				(struct causal_end){ t->requests[s->first + i].arrival_ns, l, i };
	}
	ret = causal_merge_lanes(t, &a, &spare);
	*arrivals = a;
	return ret;
}
