/* SPDX-License-Identifier: Apache-2.0 */
/* Which time of a host was observed, held against a look at every instant. */
#include <stdlib.h>

#include "analyzer/characterize/watched.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define SECOND	    1000000000ull
#define NR_SEGMENTS 40
#define NR_TICKS    160 /* half seconds that are looked at */
#define TICK_NS	    (SECOND / 2)

/* Stores the segments of one run of the agent: one of a second every `every` seconds. */
static void test_run(const char *dir, uint64_t epoch, uint64_t from_s, uint64_t every,
		     bool clock_steps)
{
	struct request r[3];

	for (uint64_t i = 0; i < NR_SEGMENTS / every; i++) {
		struct sample s = { .host = "h",
				    .boot_id = "b",
				    .epoch = epoch,
				    .sequence = i,
				    .real_offset_ns = SAMPLE_REAL_NS + from_s * SECOND,
				    .begin_ns = i * every * SECOND,
				    .end_ns = (i * every + 1) * SECOND };

		/* The time of day goes back by 13 s in the middle of the run. */
		if (clock_steps && i >= NR_SEGMENTS / every / 2)
			s.real_offset_ns -= 13 * SECOND;
		sample_requests(i + 1, s.begin_ns, s.end_ns, r, TAP_NR(r));
		sample_store(dir, &s, r, TAP_NR(r));
	}
}

static struct scan *test_scan(struct store **store, const char *dir)
{
	struct scan_request r[64];
	struct scan *scan = NULL;

	ok_int(store_open(store, dir, false, NULL), 0);
	ok_int(scan_open_store(&scan, *store, NULL, NULL, NULL), 0);
	while (scan_next(scan, r, TAP_NR(r)) > 0)
		;
	return scan;
}

/* Returns whether the half second is observed: no interval begins or ends within one. */
static bool literal_watched(const struct scan *scan, uint64_t at_ns)
{
	for (uint32_t t = 0; t < scan_nr_traces(scan); t++) {
		const struct scan_trace *trace = scan_trace(scan, t);

		for (size_t i = 0; i < trace->nr_covered; i++)
			if (trace->covered[i].begin_real_ns <= at_ns &&
			    at_ns < trace->covered[i].end_real_ns)
				return true;
	}
	return false;
}

static void test_same(const struct scan *scan)
{
	bool is[NR_TICKS + 1] = { false };
	uint64_t nr_differ = 0;

	for (uint64_t i = 0; i < NR_TICKS; i++)
		is[i] = literal_watched(scan, SAMPLE_REAL_NS + i * TICK_NS);
	for (uint64_t i = 0; i < NR_TICKS; i++) {
		uint64_t from = i, to, sum = 0, last = 0;
		struct watched_interval next = { 0, 0 };
		bool has = watched_next(scan, "h", SAMPLE_REAL_NS + i * TICK_NS, &next);

		while (from < NR_TICKS && !is[from])
			from++;
		for (to = from; is[to]; to++)
			;
		nr_differ += has != (from < NR_TICKS);
		nr_differ += has && (next.begin_ns != SAMPLE_REAL_NS + from * TICK_NS ||
				     next.end_ns != SAMPLE_REAL_NS + to * TICK_NS);
		for (uint64_t k = i; k < NR_TICKS; k++)
			sum += is[k];
		nr_differ +=
			watched_ns(scan, "h", SAMPLE_REAL_NS + i * TICK_NS,
				   SAMPLE_REAL_NS + NR_TICKS * TICK_NS, &last) != sum * TICK_NS;
	}
	ok_eq(nr_differ, 0);
}

static void test_watched(uint64_t every, bool clock_steps)
{
	const char *dir = sample_folder();
	struct store *store = NULL;
	struct scan *scan;

	test_run(dir, 1, 15, every, clock_steps);
	test_run(dir, 2, 20, 2, false);
	scan = test_scan(&store, dir);
	if (ok_int((int)scan_nr_traces(scan), 2))
		ok(scan_trace(scan, 0)->is_tangled == clock_steps &&
		   !scan_trace(scan, 1)->is_tangled);
	test_same(scan);
	scan_close(scan);
	store_close(store);
	sample_remove(dir);
}

static void in_order(void)
{
	test_watched(4, false);
	test_watched(2, false);
	test_watched(1, false);
}

static void clock_goes_back(void)
{
	test_watched(4, true);
	test_watched(2, true);
}

static const struct tap_test tests[] = {
	{ "the intervals of several runs are found", in_order },
	{ "also where the clock of one went back", clock_goes_back },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
