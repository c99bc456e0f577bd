/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "analyzer/report/picture/load.h"
#include "tests/support/tap.h"

#define MS 1000000ull
#define S  1000000000ull

static void peaks_of_a_known_load(void)
{
	struct load l;
	struct load_peaks p;

	load_init(&l);
	ok_int(load_peaks(&l, S, &p), -ENODATA);
	/* 100 s: second i has i + 1 requests of 4 KiB. */
	for (uint64_t s = 0; s < 100; s++)
		for (uint64_t i = 0; i <= s; i++)
			ok_int(load_add(&l, (500 + s) * S + i * 5 * MS, 4096), 0);
	ok_int(load_peaks(&l, S, &p), 0);
	ok_near(p.window_s, 1, 0);
	ok_eq(p.nr_windows, 100);
	ok_near(p.of[LOAD_REQUESTS].mean, 50.5, 1e-9);
	ok_near(p.of[LOAD_REQUESTS].p95, 95, 0);
	ok_near(p.of[LOAD_REQUESTS].p99, 99, 0);
	ok_near(p.of[LOAD_REQUESTS].max, 100, 0);
	ok_eq(p.of[LOAD_REQUESTS].max_at_ns, 599 * S);
	ok_near(p.of[LOAD_BYTES].max, 409600, 0);
	load_release(&l);
}

static void idle_windows_count(void)
{
	struct load l;
	struct load_peaks p;

	load_init(&l);
	load_add(&l, 0, 512);
	load_add(&l, 99 * S, 512);
	ok_int(load_peaks(&l, S, &p), 0);
	ok_eq(p.nr_windows, 100);
	ok_near(p.of[LOAD_REQUESTS].p95, 0, 0);
	ok_near(p.of[LOAD_REQUESTS].mean, 0.02, 1e-12);
	load_release(&l);
}

static void unwatched_windows_do_not_count(void)
{
	const struct time_gap gaps[] = { { 10 * S, 50 * S }, { 90 * S + S / 2, 95 * S } };
	struct load l;
	struct load_peaks p;

	load_init(&l);
	for (uint64_t s = 0; s < 100; s++)
		if (s < 10 || (s >= 50 && s < 90) || s >= 95)
			ok_int(load_add(&l, s * S, 512), 0);
	l.gaps = gaps;
	l.nr_gaps = 2;
	ok_int(load_peaks(&l, S, &p), 0);
	ok_eq(p.nr_windows, 55);
	ok_near(p.of[LOAD_REQUESTS].mean, 55 / 55.5, 1e-12);
	ok_near(p.of[LOAD_REQUESTS].p95, 1, 0);
	load_release(&l);
}

/* Ten requests per second from 5.5 s to 8.1 s, of which windows see 0.5 s, 1 s, 1 s and 0.1 s. */
static void partial_windows_count_by_their_watched_time(void)
{
	const uint64_t begin_ns = 5 * S + S / 2, end_ns = 8 * S + S / 10;
	const uint64_t amounts[NR_LOAD_ROWS] = { 26, 26 * 4096 };
	struct gaps gaps = { 0 };
	struct load l;
	struct load_peaks p;

	load_init(&l);
	ok_int(gaps_outside(&gaps, begin_ns, end_ns), 0);
	ok_int(timegrid_spread(&l.grid, begin_ns, end_ns, amounts), 0);
	l.gaps = gaps.items;
	l.nr_gaps = gaps.nr;
	ok_int(load_peaks(&l, S, &p), 0);
	ok_eq(p.nr_windows, 2);
	ok_near(p.of[LOAD_REQUESTS].mean, 10, 1e-9);
	ok_near(p.of[LOAD_REQUESTS].max, 10, 1e-9);
	ok_near(p.of[LOAD_REQUESTS].p95, 10, 1e-9);
	load_release(&l);
	gaps_release(&gaps);
}

/* One request has no rate over the nanosecond that it is known to have taken. */
static void one_instant_counts_as_a_window(void)
{
	struct gaps gaps = { 0 };
	struct load l;
	struct load_peaks p;

	load_init(&l);
	ok_int(gaps_outside(&gaps, 5 * S, 5 * S + 1), 0);
	load_add(&l, 5 * S, 4096);
	l.gaps = gaps.items;
	l.nr_gaps = gaps.nr;
	ok_int(load_peaks(&l, MS, &p), 0);
	ok_near(p.of[LOAD_REQUESTS].max, 1000, 0);
	ok_near(p.of[LOAD_REQUESTS].mean, 1000, 0);
	load_release(&l);
	gaps_release(&gaps);
}

static void a_day_keeps_its_seconds(void)
{
	struct load l;
	struct load_peaks p;

	load_init(&l);
	for (uint64_t s = 0; s < 86400; s++)
		load_add(&l, s * S, 512);
	load_add(&l, 43200 * S + 7, 512);
	ok_int(load_peaks(&l, load_window_ns(86400 * S), &p), 0);
	ok_near(p.window_s, 1, 0);
	ok_near(p.of[LOAD_REQUESTS].max, 2, 0);
	ok_eq(p.of[LOAD_REQUESTS].max_at_ns, 43200 * S);
	load_release(&l);
}

static void windows_suit_the_span(void)
{
	ok_eq(load_window_ns(99 * MS), MS);
	ok_eq(load_window_ns(500 * MS), 10 * MS);
	ok_eq(load_window_ns(9 * S), 100 * MS);
	ok_eq(load_window_ns(10 * S), S);
	ok_eq(load_window_ns(604800 * S), S);
}

static const struct tap_test tests[] = {
	{ "mean, P95, P99 and maximum of a known load", peaks_of_a_known_load },
	{ "idle windows count", idle_windows_count },
	{ "windows that nobody watched do not count", unwatched_windows_do_not_count },
	{ "partial windows count by their watched time",
	  partial_windows_count_by_their_watched_time },
	{ "a trace of one instant counts as a window", one_instant_counts_as_a_window },
	{ "a day keeps windows of a second", a_day_keeps_its_seconds },
	{ "short traces have short windows", windows_suit_the_span },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
