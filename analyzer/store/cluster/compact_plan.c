/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/cluster/compact_plan.h"

#include <stdlib.h>

static bool compact_is_wasteful(const struct compact_bundle *b)
{
	return b->used_bytes < b->bytes / 2;
}

static bool compact_is_full(uint64_t nr_segments, uint64_t bytes)
{
	return nr_segments >= COMPACT_FULL_SEGMENTS || bytes >= COMPACT_FULL_BYTES;
}

/* Bundles that need nothing come last; the others by day, by number of copies and by age. */
static int compact_compare(const void *a, const void *b)
{
	const struct compact_bundle *x = a, *y = b;
	bool x_done = compact_is_full(x->nr_segments, x->used_bytes) && !compact_is_wasteful(x);
	bool y_done = compact_is_full(y->nr_segments, y->used_bytes) && !compact_is_wasteful(y);

	if (x_done != y_done)
		return x_done - y_done;
	if (x->day != y->day)
		return (x->day > y->day) - (x->day < y->day);
	if (x->copies != y->copies)
		return (x->copies > y->copies) - (x->copies < y->copies);
	return (x->id > y->id) - (x->id < y->id);
}

/* The sums of a group that ends with the bundle added last. */
struct compact_sum {
	uint64_t segments, bytes, largest;
	uint64_t source_bytes; /* of the whole bundles, which are copied before they are joined */
	size_t nr;
	bool has_waste;
};

static bool compact_is_worth_it(const struct compact_sum *s, bool is_over)
{
	if (s->has_waste)
		return true;
	if (s->nr < 2)
		return false;
	return s->nr >= COMPACT_FAN_IN || compact_is_full(s->segments, s->bytes) ||
	       (is_over && s->largest <= s->segments / 2);
}

/* Finds the largest group worth making among those that begin with the first bundle. */
static bool compact_try(const struct compact_bundle *b, size_t nr, size_t first, int64_t today,
			uint64_t max_bytes, struct compact_group *out)
{
	bool is_over = b[first].day < today;
	struct compact_sum s = { 0 };
	uint32_t copies = 0;

	*out = (struct compact_group){ .first = first };
	for (size_t i = first; i < nr && !compact_is_full(s.segments, s.bytes); i++) {
		s.segments += b[i].nr_segments;
		s.bytes += b[i].used_bytes;
		s.source_bytes += b[i].bytes;
		if (s.segments > COMPACT_MAX_SEGMENTS || s.source_bytes > max_bytes ||
		    s.bytes > max_bytes ||
		    (is_over ? b[i].day >= today
			     : b[i].day != b[first].day || b[i].copies != b[first].copies))
			break;
		s.nr++;
		s.has_waste |= compact_is_wasteful(&b[i]);
		if (b[i].nr_segments > s.largest)
			s.largest = b[i].nr_segments;
		if (b[i].copies + 1 > copies)
			copies = b[i].copies + 1;
		if (compact_is_worth_it(&s, is_over))
			*out = (struct compact_group){ first, s.nr, copies };
	}
	return out->nr > 0;
}

bool compact_plan(struct compact_bundle *bundles, size_t nr, int64_t today, uint64_t max_bytes,
		  struct compact_group *out)
{
	size_t nr_open = 0;

	if (nr)
		qsort(bundles, nr, sizeof(*bundles), compact_compare);
	while (nr_open < nr &&
	       (!compact_is_full(bundles[nr_open].nr_segments, bundles[nr_open].used_bytes) ||
		compact_is_wasteful(&bundles[nr_open])))
		nr_open++;
	for (size_t i = 0; i < nr_open; i++)
		if (compact_try(bundles, nr_open, i, today, max_bytes, out))
			return true;
	return false;
}
