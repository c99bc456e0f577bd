/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bundles compaction joins: how many objects remain, how often bytes are copied, and that it
 * ends.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/cluster/compact_plan.h"
#include "tests/support/tap.h"

struct plan_world {
	struct compact_bundle bundles[60000];
	size_t nr;
	uint64_t next_id, copied_bytes, received_bytes;
	unsigned int nr_steps;
};

static void plan_receive(struct plan_world *w, int64_t day, uint64_t nr_segments,
			 uint64_t segment_bytes)
{
	uint64_t bytes = nr_segments * segment_bytes;

	w->bundles[w->nr++] = (struct compact_bundle){ .id = ++w->next_id,
						       .bytes = bytes,
						       .used_bytes = bytes,
						       .nr_segments = nr_segments,
						       .day = day };
	w->received_bytes += bytes;
}

/* Makes all steps that are due. A step that would join nothing ends the test. */
static bool plan_join(struct plan_world *w, int64_t today, uint64_t max_bytes)
{
	struct compact_group g;

	while (compact_plan(w->bundles, w->nr, today, max_bytes, &g)) {
		struct compact_bundle made = { .id = ++w->next_id, .copies = g.copies };

		if (g.nr == 0 || g.first + g.nr > w->nr || w->nr_steps++ > 100000)
			return false;
		made.day = w->bundles[g.first].day;
		for (size_t i = g.first; i < g.first + g.nr; i++) {
			made.nr_segments += w->bundles[i].nr_segments;
			made.used_bytes += w->bundles[i].used_bytes;
		}
		made.bytes = made.used_bytes;
		w->copied_bytes += made.bytes;
		if (made.nr_segments > COMPACT_MAX_SEGMENTS || made.bytes > max_bytes)
			return false;
		w->bundles[g.first] = made;
		memmove(&w->bundles[g.first + 1], &w->bundles[g.first + g.nr],
			(w->nr - g.first - g.nr) * sizeof(made));
		w->nr -= g.nr - 1;
	}
	return true;
}

/* A million segments arrive within some days; what is there a day later? */
static void test_million(uint64_t segment_bytes, uint64_t per_bundle, int64_t days)
{
	struct plan_world *w = calloc(1, sizeof(*w));
	uint64_t nr = 1000000 / per_bundle, segments = 0;
	bool is_good = true;

	for (uint64_t i = 0; i < nr; i++) {
		int64_t day = 20000 + (int64_t)(i * (uint64_t)days / nr);

		plan_receive(w, day, per_bundle, segment_bytes);
		if (w->nr % 16 == 0)
			is_good = is_good && plan_join(w, day, COMPACT_MAX_BYTES);
	}
	is_good = is_good && plan_join(w, 20000 + days, COMPACT_MAX_BYTES);
	for (size_t i = 0; i < w->nr; i++)
		segments += w->bundles[i].nr_segments;
	ok(is_good);
	ok(segments == nr * per_bundle);
	ok(w->nr <= 100);
	if (w->nr > 100)
		tap_note("%zu objects of %llu B segments", w->nr,
			 (unsigned long long)segment_bytes);
	/* Each byte is copied at most five times. */
	ok(w->copied_bytes <= 5 * w->received_bytes);
	free(w);
}

static void test_millions(void)
{
	test_million(14000, 100, 1);
	test_million(14000, 500, 10);
	test_million(240000, 130, 1);
	test_million(240000, 20, 3);
}

static void test_waste(void)
{
	struct compact_bundle b[] = {
		{ .id = 1, .bytes = 4000, .used_bytes = 1000, .nr_segments = 20000, .day = 5 },
		{ .id = 2, .bytes = 4000, .used_bytes = 4000, .nr_segments = 20000, .day = 5 },
	};
	struct compact_group g;

	/* A full object is written again once less than half of it is used, and only then. */
	ok(compact_plan(b, 2, 5, COMPACT_MAX_BYTES, &g) && g.nr == 1 && b[g.first].id == 1);
	ok(!compact_plan(b + 1, 1, 9, COMPACT_MAX_BYTES, &g));
	ok(!compact_plan(b, 0, 9, COMPACT_MAX_BYTES, &g));
}

/* With little room for the copies, groups are smaller, and nothing is tried that does not fit. */
static void test_room(void)
{
	struct plan_world *w = calloc(1, sizeof(*w));

	for (int i = 0; i < 50; i++)
		plan_receive(w, 7, 10, 1000);
	ok(plan_join(w, 8, 100000));
	ok(w->nr <= 10);
	ok(plan_join(w, 8, 1000));
	free(w);
}

/* The whole objects are copied first, also the bytes in them that nothing uses any more. */
static void test_source_room(void)
{
	struct compact_bundle b[] = {
		{ .id = 1, .bytes = 4000, .used_bytes = 100, .nr_segments = 5, .day = 5 },
		{ .id = 2, .bytes = 4000, .used_bytes = 100, .nr_segments = 5, .day = 5 },
		{ .id = 3, .bytes = 4000, .used_bytes = 100, .nr_segments = 5, .day = 5 },
	};
	struct compact_group g;

	ok(compact_plan(b, 3, 8, 12000, &g) && g.nr == 3);
	ok(compact_plan(b, 3, 8, 11999, &g) && g.nr == 2);
	ok(!compact_plan(b, 3, 8, 3999, &g));
}

static void test_today(void)
{
	struct plan_world *w = calloc(1, sizeof(*w));

	for (int i = 0; i < COMPACT_FAN_IN - 1; i++)
		plan_receive(w, 7, 10, 1000);
	/* Today's bundles wait until there are enough of them; tomorrow they are joined. */
	ok(plan_join(w, 7, COMPACT_MAX_BYTES) && w->nr == COMPACT_FAN_IN - 1);
	ok(plan_join(w, 8, COMPACT_MAX_BYTES) && w->nr == 1);
	free(w);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "of a million segments at most 100 objects remain, and bytes are copied seldom",
		  test_millions },
		{ "a full object is written again once less than half of it is used", test_waste },
		{ "a group fits into the room for its copies", test_room },
		{ "the whole objects of a group fit into the room for its copies",
		  test_source_room },
		{ "the objects of today wait until there are enough of them", test_today },
	};

	return tap_run(tests, TAP_NR(tests));
}
