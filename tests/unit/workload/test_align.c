/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/align.h"

#define SECOND	 1000000000ull
#define BEGIN_S	 1700000000ull
#define STREAMS	 5
#define SECONDS	 400
#define NR_LOADS 20000

struct load {
	uint32_t stream;
	uint64_t real_ns, requests, bytes;
};

static const char *const hosts[STREAMS] = { "a", "a", "b", "c", "c" };
static const char *const devices[STREAMS] = { "7:0", "7:1", "7:0", "8:0", "8:16" };

static struct align *align_of(size_t max_cells)
{
	struct align *a = NULL;
	uint32_t id;

	if (align_new(&a, max_cells))
		abort();
	for (size_t i = 0; i < STREAMS; i++) {
		ok_int(align_stream(a, hosts[i], devices[i], &id), 0);
		ok_eq(id, i);
	}
	return a;
}

static void make(struct load *loads, uint64_t seed)
{
	struct slow_rng g = { seed };

	for (size_t i = 0; i < NR_LOADS; i++) {
		loads[i].stream = (uint32_t)slow_below(&g, STREAMS);
		loads[i].real_ns = BEGIN_S * SECOND + slow_below(&g, SECONDS * SECOND);
		loads[i].requests = 1 + slow_below(&g, 3);
		loads[i].bytes = loads[i].requests * 4096;
	}
}

static void feed(struct align *a, const struct load *loads, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (align_add(a, loads[i].stream, loads[i].real_ns, loads[i].requests,
			      loads[i].bytes))
			ok(!"align_add");
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Against a plain table of streams by seconds. */
static void against_a_table(void)
{
	static struct load loads[NR_LOADS];
	static double table[STREAMS][SECONDS], sums[SECONDS];
	struct align *a = align_of(0);
	struct align_sum got;
	double own = 0, total = 0;
	size_t at = 0;

	make(loads, 1);
	feed(a, loads, NR_LOADS);
	for (size_t i = 0; i < NR_LOADS; i++)
		table[loads[i].stream][loads[i].real_ns / SECOND - BEGIN_S] +=
			(double)loads[i].bytes;
	for (size_t s = 0; s < STREAMS; s++) {
		double peak = 0;

		for (size_t k = 0; k < SECONDS; k++) {
			peak = fmax(peak, table[s][k]);
			sums[k] += table[s][k];
		}
		own += peak;
	}
	for (size_t k = 0; k < SECONDS; k++) {
		total += sums[k];
		at = sums[k] > sums[at] ? k : at;
	}
	ok_int(align_sum(a, ALIGN_BYTES, &got), 0);
	ok_eq(got.nr_intervals, SECONDS);
	ok_near(got.interval_s, 1, 0);
	ok_near(got.max_per_s, sums[at], 0);
	ok_near(got.max_begin_s, (double)(BEGIN_S + at), 0);
	ok_near(got.mean_per_s, total / SECONDS, 1e-6);
	ok_near(got.own_peaks_per_s, own, 0);
	ok(got.own_peaks_per_s >= got.max_per_s);
	if (ok_eq(got.nr_makers, STREAMS)) {
		double sum = 0;

		for (size_t i = 0; i < got.nr_makers; i++) {
			ok_near(got.makers[i].per_s, table[got.makers[i].stream][at], 0);
			ok(!i || got.makers[i - 1].per_s >= got.makers[i].per_s);
			sum += got.makers[i].share;
		}
		ok_near(sum, 1, 1e-12);
	}
	qsort(sums, SECONDS, sizeof(sums[0]), by_value);
	ok_near(got.p95_per_s, sums[SECONDS * 95 / 100 - 1], 0);
	ok_near(got.p99_per_s, sums[SECONDS * 99 / 100 - 1], 0);
	align_free(a);
}

/* 5 streams over 400 s need 2000 cells: 1024 make the interval longer, and nothing is lost. */
static void memory_is_bounded(void)
{
	static struct load loads[NR_LOADS];
	struct align *small = align_of(1024), *large = align_of(0);
	struct align_sum x, y;

	make(loads, 3);
	feed(small, loads, NR_LOADS);
	feed(large, loads, NR_LOADS);
	ok(align_interval_s(small) >= 2);
	ok_int(align_sum(small, ALIGN_REQUESTS, &x), 0);
	ok_int(align_sum(large, ALIGN_REQUESTS, &y), 0);
	ok_ratio(x.mean_per_s * (double)x.nr_intervals * x.interval_s,
		 y.mean_per_s * (double)y.nr_intervals, 1e-12);
	align_free(small);
	align_free(large);
}

/*
 * Two collectors are given every other load, and a third joins them. It has the sums of one
 * collector of all loads; the same load in all, where one of them had to take longer intervals.
 */
static void joined_equals_whole(size_t cells_of_one, size_t cells)
{
	static struct load loads[NR_LOADS];
	struct align *parts[2] = { align_of(cells_of_one), align_of(cells) };
	struct align *whole = align_of(cells_of_one < cells ? cells_of_one : cells), *joined = NULL;
	struct align_sum want, got;

	make(loads, 11);
	for (size_t i = 0; i < NR_LOADS; i++)
		feed(parts[i % 2], &loads[i], 1);
	feed(whole, loads, NR_LOADS);
	ok_int(align_new(&joined, cells), 0);
	for (size_t i = 0; i < 2; i++) {
		struct cursor in;
		struct buf b;

		buf_init(&b);
		ok_int(align_write(parts[i], &b), 0);
		for (size_t cut = 0; cut < 12; cut++) {
			struct align *spoilt = NULL;

			in = cursor_make(b.data, b.len * cut / 12);
			ok_int(align_new(&spoilt, cells), 0);
			ok_int(align_join(spoilt, &in), -EBADMSG);
			align_free(spoilt);
		}
		in = cursor_make(b.data, b.len);
		ok_int(align_join(joined, &in), 0);
		ok_eq(cursor_left(&in), 0);
		buf_release(&b);
		align_free(parts[i]);
	}
	align_sort(joined);
	ok_eq(align_nr_streams(joined), STREAMS);
	for (uint32_t i = 0; i < STREAMS; i++)
		ok(!strcmp(align_host(joined, i), hosts[i]) &&
		   !strcmp(align_device(joined, i), devices[i]));
	ok(align_has_room(joined) == (cells_of_one == 0));
	for (int q = 0; q < NR_ALIGN_QUANTITIES; q++) {
		ok_int(align_sum(whole, q, &want), 0);
		ok_int(align_sum(joined, q, &got), 0);
		ok_ratio(got.mean_per_s * (double)got.nr_intervals * got.interval_s,
			 want.mean_per_s * (double)want.nr_intervals * want.interval_s, 1e-12);
		if (!align_has_room(joined))
			continue;
		ok(want.interval_s == got.interval_s && want.nr_intervals == got.nr_intervals);
		ok(want.mean_per_s == got.mean_per_s && want.p95_per_s == got.p95_per_s);
		ok(want.max_per_s == got.max_per_s && want.max_begin_s == got.max_begin_s);
		ok(want.own_peaks_per_s == got.own_peaks_per_s);
		ok_eq(want.makers[0].stream, got.makers[0].stream);
	}
	align_free(whole);
	align_free(joined);
}

static void joined(void)
{
	joined_equals_whole(0, 0);
	joined_equals_whole(1024, 0);
}

static void far_apart(void)
{
	struct align *a = align_of(2048);
	struct align_sum got;

	ok_int(align_add(a, 0, 0, 1, 1), 0);
	ok_int(align_add(a, 1, BEGIN_S * SECOND, 2, 1), 0);
	ok_int(align_add(a, 2, UINT64_MAX, 4, 1), 0);
	ok_int(align_sum(a, ALIGN_REQUESTS, &got), 0);
	ok(got.nr_intervals <= 2048);
	ok_ratio(got.mean_per_s * (double)got.nr_intervals * got.interval_s, 7, 1e-12);
	ok_eq(got.makers[0].stream, 2);
	align_free(a);
}

static void nothing_is_unknown(void)
{
	struct align *a = align_of(0);
	struct align_sum got;

	ok_int(align_sum(a, ALIGN_REQUESTS, &got), 0);
	ok(isnan(got.mean_per_s) && isnan(got.max_per_s) && isnan(got.p99_per_s));
	ok_eq(got.nr_intervals, 0);
	ok_int(align_add(a, STREAMS, 0, 1, 1), -EINVAL);
	ok_str(align_host(a, 3), "c");
	ok_str(align_device(a, 4), "8:16");
	ok(!align_host(a, STREAMS));
	align_free(a);
}

/* The test's own realloc() counts its calls. */
static size_t nr_reallocs;

void *realloc(void *p, size_t bytes)
{
	static void *(*real)(void *p, size_t bytes);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "realloc");
	nr_reallocs++;
	return real(p, bytes);
}

/* Requests all over a year reach the bound: each of them must not move all cells. */
static void growth_is_geometric(void)
{
	struct align *a = align_of(ALIGN_MAX_CELLS);

	nr_reallocs = 0;
	for (uint64_t i = 0; i < 65536; i++)
		ok_int(align_add(a, 0, (BEGIN_S + 481 * i) * SECOND, 1, 4096), 0);
	tap_note("%zu reallocations", nr_reallocs);
	ok(nr_reallocs > 10 && nr_reallocs < 300);
	align_free(a);
}

static const struct tap_test tests[] = {
	{ "the aligned sum is that of a plain table of streams by seconds", against_a_table },
	{ "a bound on memory makes the interval longer and loses nothing", memory_is_bounded },
	{ "collectors of parts join to the collector of all", joined },
	{ "streams that are centuries apart stay within the bound", far_apart },
	{ "without any load the sums are unknown", nothing_is_unknown },
	{ "cells grow geometrically up to the bound", growth_is_geometric },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
