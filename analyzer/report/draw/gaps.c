/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/draw/gaps.h"

void gaps_release(struct gaps *g)
{
	free(g->items);
	*g = (struct gaps){ 0 };
}

int gaps_common(const struct gaps *a, const struct gaps *b, struct gaps *out)
{
	size_t i = 0, j = 0;

	/*
	 * Each step of the walk ends a gap of a or of b, so the result has at most as many gaps as
	 * both together.
	 */
	*out = (struct gaps){ .items = calloc(a->nr + b->nr + 1, sizeof(*out->items)) };
	if (!out->items)
		return -ENOMEM;
	while (i < a->nr && j < b->nr) {
		const struct time_gap *x = &a->items[i], *y = &b->items[j];
		uint64_t begin = x->begin_ns > y->begin_ns ? x->begin_ns : y->begin_ns;
		uint64_t end = x->end_ns < y->end_ns ? x->end_ns : y->end_ns;

		if (begin < end)
			out->items[out->nr++] = (struct time_gap){ begin, end };
		if (x->end_ns < y->end_ns)
			i++;
		else
			j++;
	}
	return 0;
}

int gaps_cut(struct gaps *g, uint64_t begin_ns, uint64_t end_ns)
{
	struct time_gap *kept;
	size_t nr = 0;

	if (begin_ns >= end_ns || !gaps_within(g->items, g->nr, begin_ns, end_ns))
		return 0;
	kept = calloc(g->nr + 1, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	/* At most one gap is cut in two, because the gaps are disjoint. */
	for (size_t i = 0; i < g->nr; i++) {
		struct time_gap before = g->items[i], after = g->items[i];

		before.end_ns = before.end_ns < begin_ns ? before.end_ns : begin_ns;
		after.begin_ns = after.begin_ns > end_ns ? after.begin_ns : end_ns;
		if (before.begin_ns < before.end_ns)
			kept[nr++] = before;
		if (after.begin_ns < after.end_ns)
			kept[nr++] = after;
	}
	free(g->items);
	*g = (struct gaps){ kept, nr };
	return 0;
}

int gaps_outside(struct gaps *g, uint64_t begin_ns, uint64_t end_ns)
{
	struct time_gap *all = calloc(g->nr + 2, sizeof(*all));

	if (!all)
		return -ENOMEM;
	all[0] = (struct time_gap){ 0, begin_ns };
	if (g->nr)
		memcpy(all + 1, g->items, g->nr * sizeof(*all));
	all[g->nr + 1] = (struct time_gap){ end_ns, UINT64_MAX };
	free(g->items);
	*g = (struct gaps){ all, g->nr + 2 };
	return 0;
}

uint64_t gaps_within(const struct time_gap *items, size_t nr, uint64_t begin_ns, uint64_t end_ns)
{
	size_t low = 0, high = nr;
	uint64_t sum = 0;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (items[middle].end_ns <= begin_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < nr && items[low].begin_ns < end_ns; low++) {
		uint64_t from = items[low].begin_ns > begin_ns ? items[low].begin_ns : begin_ns;
		uint64_t to = items[low].end_ns < end_ns ? items[low].end_ns : end_ns;

		sum += to - from;
	}
	return sum;
}

uint64_t gaps_watched_ns(const struct time_gap *items, size_t nr, uint64_t begin_ns,
			 uint64_t end_ns, bool has_requests)
{
	uint64_t gap_ns = gaps_within(items, nr, begin_ns, end_ns);

	if (gap_ns < end_ns - begin_ns)
		return end_ns - begin_ns - gap_ns;
	return has_requests ? end_ns - begin_ns : 0;
}
