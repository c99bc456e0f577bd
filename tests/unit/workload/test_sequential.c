/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "tests/literal/slow_sequential.h"
#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/sequential.h"

#define MAX_SUBSET SEQUENTIAL_SUBSET_MAX

/* Fills a list of one kind of load. */
typedef void (*fill_fn)(struct slow_range *list, size_t nr, struct slow_rng *g);

static void fill_few_ends(struct slow_range *list, size_t nr, struct slow_rng *g)
{
	uint64_t places = 1 + slow_below(g, 2 * nr);

	for (size_t i = 0; i < nr; i++) {
		list[i].start = slow_below(g, places);
		list[i].end = slow_below(g, places);
	}
}

static void fill_one_place(struct slow_range *list, size_t nr, struct slow_rng *g)
{
	uint64_t places = 1 + slow_below(g, 3);

	for (size_t i = 0; i < nr; i++) {
		list[i].start = slow_below(g, places);
		list[i].end = list[i].start + slow_below(g, 2); /* zero length too */
	}
}

static void fill_wrapping(struct slow_range *list, size_t nr, struct slow_rng *g)
{
	uint64_t at = UINT64_MAX - slow_below(g, nr);

	for (size_t i = 0; i < nr; i++) {
		uint64_t length = slow_below(g, 4);

		if (!slow_below(g, 4))
			at = UINT64_MAX - slow_below(g, 8) + slow_below(g, 16);
		list[i].start = at;
		list[i].end = at += length;
	}
}

static void fill_streams(struct slow_range *list, size_t nr, struct slow_rng *g)
{
	uint64_t at[16], nr_streams = 1 + slow_below(g, 16);

	for (size_t k = 0; k < 16; k++)
		at[k] = slow_below(g, 1000);
	for (size_t i = 0; i < nr; i++) {
		uint64_t *stream = &at[slow_below(g, nr_streams)];
		uint64_t length = 1 + slow_below(g, 3);

		list[i].start = *stream;
		*stream += length;
		/* Some overlap: they end past where the next one begins. */
		list[i].end = *stream + (slow_below(g, 5) ? 0 : 1);
	}
}

static void fill_random(struct slow_range *list, size_t nr, struct slow_rng *g)
{
	for (size_t i = 0; i < nr; i++) {
		list[i].start = slow_random(g);
		list[i].end = slow_below(g, 20) ? slow_random(g) : list[slow_below(g, i + 1)].start;
	}
}

/* All open one end, then all close it; then the other way round. */
static void fill_piles(struct slow_range *list, size_t nr, struct slow_rng *g)
{
	uint64_t cut = slow_below(g, nr + 1);

	for (size_t i = 0; i < nr; i++) {
		list[i].start = i < cut ? 1 : 2;
		list[i].end = i < cut ? 2 : slow_below(g, 2) ? 1 : 2;
	}
}

static const fill_fn fills[] = { fill_few_ends, fill_one_place, fill_wrapping,
				 fill_streams,	fill_random,	fill_piles };

struct totals {
	uint64_t requests, counted, streaming, continuing;
	double sum_ratios;
	uint64_t nr_subsets;
};

static uint64_t nr_streaming(const struct sequential *s)
{
	return s->all_streaming + s->streaming;
}

/* One subset through the literal loops, then through the one pass, whose subset ends with it. */
static bool same_counts(struct sequential *s, struct slow_range *list, size_t nr, struct totals *t)
{
	uint64_t counted = sequential_counted(s), streaming = nr_streaming(s);
	uint64_t want_streaming = slow_sequential_streaming(list, nr), want_counted;
	uint64_t want_continuing = slow_sequential_continuing(list, nr);

	for (size_t i = 0; i < nr; i++)
		if (sequential_add(s, list[i].start, list[i].end))
			return ok(!"sequential_add");
	want_counted = slow_sequential_count(list, nr); /* destroys the list */
	t->requests += nr;
	t->counted += want_counted;
	t->streaming += want_streaming;
	t->continuing += want_continuing;
	t->sum_ratios += (double)want_counted / (double)nr;
	t->nr_subsets++;
	if (sequential_counted(s) - counted == want_counted &&
	    nr_streaming(s) - streaming == want_streaming)
		return true;
	ok_eq(sequential_counted(s) - counted, want_counted);
	ok_eq(nr_streaming(s) - streaming, want_streaming);
	return false;
}

static void compare(uint32_t subset, uint64_t nr_requests, uint64_t seed)
{
	static struct slow_range list[MAX_SUBSET];
	struct slow_rng g = { seed };
	struct totals t = { 0 };
	struct sequential s;

	sequential_init(&s, subset);
	for (size_t i = 0; t.requests < nr_requests; i++) {
		fills[i % TAP_NR(fills)](list, subset, &g);
		if (!same_counts(&s, list, subset, &t)) {
			tap_note("subset of %u, list %zu", subset, i);
			break;
		}
	}
	ok_eq(sequential_counted(&s), t.counted);
	ok_near(sequential_ratio(&s), t.sum_ratios / (double)t.nr_subsets, 1e-9);
	ok_near(sequential_stream_ratio(&s), (double)t.streaming / (double)t.requests, 1e-12);
	ok_near(sequential_continuing_ratio(&s), (double)t.continuing / (double)t.requests, 1e-12);
	sequential_release(&s);
}

static void small_subsets(void)
{
	static const uint32_t sizes[] = { 1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 32, 33 };

	for (size_t i = 0; i < TAP_NR(sizes); i++)
		compare(sizes[i], 900000, i + 1);
}

static void large_subsets(void)
{
	compare(100, 200000, 21);
	compare(257, 100000, 22);
	compare(1024, 60000, 23);
	compare(4096, 60000, 24);
	compare(SEQUENTIAL_SUBSET_MAX, 3 * SEQUENTIAL_SUBSET_MAX, 25);
}

static void short_last_subset(void)
{
	static struct slow_range list[100];
	struct slow_rng g = { 5 };
	struct sequential s;
	double want = 0;

	sequential_init(&s, 40);
	fill_streams(list, 100, &g);
	for (size_t i = 0; i < 100; i++)
		ok_int(sequential_add(&s, list[i].start, list[i].end), 0);
	want += (double)slow_sequential_count(list, 40) / 40;
	want += (double)slow_sequential_count(list + 40, 40) / 40;
	want += (double)slow_sequential_count(list + 80, 20) / 20;
	ok_near(sequential_ratio(&s), want / 3, 1e-12);
	sequential_release(&s);
}

static void run_of_three(void)
{
	struct sequential s;

	sequential_init(&s, 4096);
	ok(isnan(sequential_ratio(&s)) && isnan(sequential_stream_ratio(&s)));
	for (uint64_t i = 0; i < 3; i++)
		ok_int(sequential_add(&s, i * 8, i * 8 + 8), 0);
	ok_near(sequential_ratio(&s), 2.0 / 3, 1e-15);
	ok_near(sequential_stream_ratio(&s), 1, 0);
	sequential_release(&s);
}

/* k streams taken in turn, as fio's jobs are: nearly all sequential, however they interleave. */
static void interleaved_streams(void)
{
	struct slow_rng g = { 3 };
	uint64_t at[64];
	struct sequential s, random;

	sequential_init(&s, 4096);
	sequential_init(&random, 4096);
	for (uint64_t k = 0; k < 64; k++)
		at[k] = k << 30;
	for (size_t i = 0; i < 40960; i++) {
		uint64_t *start = &at[slow_below(&g, 64)], far = slow_below(&g, 1ull << 40);

		ok_int(sequential_add(&s, *start, *start + 8), 0);
		ok_int(sequential_add(&random, far, far + 8), 0);
		*start += 8;
	}
	/* Per subset at most one request of each stream stays unpaired: 64 of 4096. */
	ok(sequential_ratio(&s) >= 1 - 64.0 / 4096 && sequential_ratio(&s) <= 1);
	ok_near(sequential_ratio(&random), 0, 1e-3);
	sequential_release(&s);
	sequential_release(&random);
}

#define GOLDEN_INVERSE 0xf1de83e19937733dull /* times 0x9e3779b97f4a7c15 is 1 */

/*
 * A guest sends requests whose ends have products with the golden ratio that begin with the same
 * bits. They must not lie in one row of the table, or each would be compared with all before it.
 */
static void chosen_ends_do_not_meet(void)
{
	struct sequential s;
	size_t row = 0, longest = 0;

	sequential_init(&s, 4096);
	for (uint64_t i = 1; i < 4096; i++)
		ok_int(sequential_add(&s, ~0ull, i * GOLDEN_INVERSE), 0);
	for (size_t i = 0; i < (size_t)1 << s.bits; i++) {
		row = s.table[i] ? row + 1 : 0;
		longest = row > longest ? row : longest;
	}
	ok(longest > 0 && longest < 64);
	sequential_release(&s);
}

static const struct tap_test tests[] = {
	{ "one pass counts what the two loops count, on ten million requests in small subsets",
	  small_subsets },
	{ "one pass counts what the two loops count in subsets up to the largest", large_subsets },
	{ "a short last subset weighs as much as the others", short_last_subset },
	{ "a lone run of three counts two of three, and is all stream", run_of_three },
	{ "interleaved streams are sequential and random requests are not", interleaved_streams },
	{ "ends that somebody chose do not meet in the table", chosen_ends_do_not_meet },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
