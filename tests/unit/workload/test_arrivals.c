/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "tests/literal/slow_found.h"
#include "tests/support/tap.h"
#include "tests/support/traffic.h"
#include "workload/arrivals.h"
#include "workload/window.h"

#define NR     4000
#define SECOND 1000000000ull

static const uint64_t *counts_of(const struct arrivals *a, int side, enum arrival_kind kind)
{
	const struct arrival_counts *c = &a->direction[side];

	return kind == TALLY_OUTSTANDING    ? c->outstanding
	       : kind == TALLY_INTERARRIVAL ? c->interarrival
					    : c->seek;
}

/* Holds the counts of a period against those of the slow twin, which sees what was fed before. */
static void same_as_slow(const struct arrivals *a, const struct request *r, size_t from, size_t nr)
{
	static struct slow_found slow;

	slow_found(r, from, nr, &slow);
	for (int side = 0; side < 2; side++)
		for (unsigned int kind = 0; kind < NR_TALLIES; kind++)
			ok(!memcmp(counts_of(a, side, kind), slow.counts[side][kind],
				   arrival_tally_nr(kind) * sizeof(uint64_t)));
}

static void hold_against_slow(const struct request *r, size_t nr)
{
	struct arrivals a = { 0 };

	ok_int(arrivals_add_many(&a, r, nr), 0);
	same_as_slow(&a, r, 0, nr);
	arrivals_release(&a);
}

static void as_by_definition(void)
{
	static struct request r[NR];
	struct traffic t = { 1 };

	traffic_random_4k(&t, r, NR, 1ull << 30);
	hold_against_slow(r, NR);
	traffic_sequential(&t, r, NR, 4);
	hold_against_slow(r, NR);
}

static void any_requests(void)
{
	static struct request r[NR];
	struct traffic t = { 2 };

	traffic_anything(&t, r, NR);
	for (size_t i = 0; i < NR; i += 3) /* times near each other, with disorder */
		r[i].completion_ns =
			(r[i].arrival_ns = SECOND + i * 1000 + traffic_random(&t) % 50000) +
			traffic_random(&t) % 200000;
	hold_against_slow(r, NR);
}

/* An agent counts what is under way, so that nothing need be kept for it. */
static void captured_requests_bring_their_depth(void)
{
	static struct request r[NR];
	struct traffic t = { 7 };
	struct arrivals a = { 0 };

	traffic_random_4k(&t, r, NR, 1ull << 30);
	for (size_t i = 0; i < NR; i++) {
		r[i].source = SOURCE_BPF;
		r[i].queue_depth = (uint32_t)(traffic_random(&t) % 2000);
	}
	ok_int(arrivals_add_many(&a, r, NR), 0);
	same_as_slow(&a, r, 0, NR);
	ok_eq(arrivals_memory(&a), 0);
	arrivals_release(&a);
}

/* Twice as many as the grid tells apart, some of which end soon. */
static void deep_queue(void)
{
	static struct request r[NR];
	struct traffic t = { 3 };
	struct arrivals a = { 0 };
	size_t most;

	for (size_t i = 0; i < NR; i++) {
		r[i].arrival_ns = i * 1000;
		r[i].completion_ns = r[i].arrival_ns + traffic_random(&t) % (2048 * 2 * 1000);
	}
	hold_against_slow(r, NR);
	ok_int(arrivals_add_many(&a, r, NR), 0);
	most = arrivals_memory(&a);
	ok_int(arrivals_add_many(&a, r, NR), 0);
	ok_eq(arrivals_memory(&a), most);
	ok_eq(most, 2048 * sizeof(uint64_t));
	arrivals_release(&a);
}

static void periods_add_up(void)
{
	static struct request r[NR];
	struct traffic t = { 4 };
	struct arrivals a = { 0 }, whole = { 0 };
	struct arrival_tally sum[NR_TALLIES] = { 0 }, all[NR_TALLIES] = { 0 };

	traffic_random_4k(&t, r, NR, 1ull << 34);
	for (size_t i = 0; i < NR; i += NR / 5) {
		struct arrival_tally part[NR_TALLIES] = { 0 };

		ok_int(arrivals_add_many(&a, r + i, NR / 5), 0);
		same_as_slow(&a, r, i, i + NR / 5);
		ok_int(arrivals_tallies(&a, OPERATION_READ, part), 0);
		for (int k = 0; k < NR_TALLIES; k++) {
			ok_int(arrival_tally_merge(&sum[k], &part[k]), 0);
			arrival_tally_release(&part[k]);
		}
		arrivals_clear(&a);
	}
	ok_int(arrivals_add_many(&whole, r, NR), 0);
	ok_int(arrivals_tallies(&whole, OPERATION_READ, all), 0);
	for (int k = 0; k < NR_TALLIES; k++) {
		ok(all[k].nr > 1);
		ok_eq(sum[k].nr, all[k].nr);
		ok(sum[k].nr == all[k].nr &&
		   !memcmp(sum[k].counts, all[k].counts, all[k].nr * sizeof(*all[k].counts)));
		arrival_tally_release(&sum[k]);
		arrival_tally_release(&all[k]);
	}
	arrivals_release(&a);
	arrivals_release(&whole);
}

static struct request read_at(uint64_t arrival_ns, uint64_t sector)
{
	return (struct request){ .arrival_ns = arrival_ns,
				 .dispatch_ns = arrival_ns,
				 .completion_ns = arrival_ns + 1000,
				 .sector = sector,
				 .bytes = 4096 };
}

static uint64_t sum_of(const uint64_t *counts, unsigned int nr)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < nr; i++)
		sum += counts[i];
	return sum;
}

static void not_over_gaps(void)
{
	struct request r[] = { read_at(1000, 0), read_at(2000, 8), read_at(9000, 16),
			       read_at(9500, 24) };
	const struct arrival_counts *c;
	struct arrivals a = { 0 };

	arrivals_add_many(&a, r, 2);
	arrivals_break(&a, 8000);
	arrivals_add_many(&a, r + 2, 2);
	c = &a.direction[OPERATION_READ];
	ok_eq(sum_of(c->outstanding, TALLY_NR_OUTSTANDING), 4);
	ok_eq(sum_of(c->interarrival, TALLY_NR_INTERARRIVAL), 2);
	ok_eq(c->seek[arrival_seek_index(8, 8)], 2);
	ok_eq(c->outstanding[1], 1); /* the last arrives while the one before is under way */
	arrivals_release(&a);
}

static void grids_are_ordered(void)
{
	for (unsigned int kind = 0; kind < NR_TALLIES; kind++) {
		unsigned int nr_wrong = 0;

		for (unsigned int i = 0; i < arrival_tally_nr(kind); i++) {
			nr_wrong += !arrival_tally_is_bucket(kind, arrival_tally_bucket(kind, i));
			nr_wrong += i && arrival_tally_bucket(kind, i) <=
						 arrival_tally_bucket(kind, i - 1);
		}
		ok_eq(nr_wrong, 0);
	}
	ok_int(arrival_tally_bucket(TALLY_OUTSTANDING, 17), 20);
	ok_int(arrival_tally_bucket(TALLY_OUTSTANDING, 40), 1024);
	ok_int(arrival_tally_bucket(TALLY_SEEK, 0), -(1ll << 54));
	ok_int(arrival_tally_bucket(TALLY_SEEK, TALLY_NR_SEEK - 1), 1ll << 54);
	ok_int(arrival_tally_bucket(TALLY_SEEK, arrival_seek_index(0, 128)), 128);
	ok_int(arrival_tally_bucket(TALLY_SEEK, arrival_seek_index(129, 0)), -256);
	ok_int(arrival_tally_bucket(TALLY_INTERARRIVAL, arrival_interarrival_index(SECOND)), 0);
	ok_int(arrival_tally_bucket(TALLY_INTERARRIVAL, arrival_interarrival_index(SECOND + 1)), 8);
	ok(!arrival_tally_is_bucket(TALLY_OUTSTANDING, 17) &&
	   !arrival_tally_is_bucket(TALLY_SEEK, 3) &&
	   !arrival_tally_is_bucket(TALLY_INTERARRIVAL, 4) &&
	   !arrival_tally_is_bucket(TALLY_INTERARRIVAL, 456));
}

static void quantiles(void)
{
	struct arrival_tally_count counts[] = { { 0, 10 }, { 4, 85 }, { 20, 5 } };
	struct arrival_tally t = { counts, 3 }, none = { 0 };
	int64_t bucket = 0;

	ok(arrival_tally_quantile(&t, 0.1, &bucket) && bucket == 0);
	ok(arrival_tally_quantile(&t, 0.5, &bucket) && bucket == 4);
	ok(arrival_tally_quantile(&t, 0.95, &bucket) && bucket == 4);
	ok(arrival_tally_quantile(&t, 0.96, &bucket) && bucket == 20);
	ok(!arrival_tally_quantile(&none, 0.5, &bucket));
	ok_eq(arrival_tally_total(&t), 100);
	ok_eq(arrival_tally_between(&t, 1, 20), 90);
}

/* A window hands over what was counted; unknown directions are counted together. */
static void in_the_window(void)
{
	static const struct window_config defaults;
	static struct request r[NR];
	struct traffic t = { 5 };
	struct window *w = NULL;
	struct profile p;

	traffic_random_4k(&t, r, NR, 1ull << 30);
	profile_init(&p);
	ok_int(window_new(&w, &defaults, 0), 0);
	ok_int(window_add_many(w, r, NR), 0);
	ok_int(window_profile(w, 100 * SECOND, &p), 0);
	ok_eq(arrival_tally_total(&p.read.arrivals[TALLY_OUTSTANDING]), p.requests[OPERATION_READ]);
	ok_eq(arrival_tally_total(&p.write.arrivals[TALLY_OUTSTANDING]),
	      p.requests[OPERATION_WRITE]);
	ok_eq(arrival_tally_total(&p.read.arrivals[TALLY_SEEK]) +
		      arrival_tally_total(&p.write.arrivals[TALLY_SEEK]),
	      NR - 1);
	r[0].flags |= REQUEST_NO_OPERATION;
	r[0].operation = OPERATION_OTHER;
	window_clear(w, 0);
	ok_int(window_add_many(w, r, NR), 0);
	ok_int(window_profile(w, 100 * SECOND, &p), 0);
	ok_eq(arrival_tally_total(&p.undivided_arrivals[TALLY_OUTSTANDING]), NR);
	ok_eq(arrival_tally_total(&p.read.arrivals[TALLY_OUTSTANDING]), 0);
	profile_release(&p);
	window_free(w);
}

static const struct tap_test tests[] = {
	{ "captured requests bring what was under way", captured_requests_bring_their_depth },
	{ "what requests find is as by its definition", as_by_definition },
	{ "requests of any kind and in disorder count as by the definition", any_requests },
	{ "a thousand requests under way take bounded memory and are counted", deep_queue },
	{ "the counts of periods add up to those of the whole", periods_add_up },
	{ "no distance extends over time that was not observed", not_over_gaps },
	{ "the buckets of each grid ascend and are found again", grids_are_ordered },
	{ "quantiles and sums of a tally are those of its counts", quantiles },
	{ "a window gives the tallies of its requests", in_the_window },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
