/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/draw/timegrid.h"
#include "tests/support/tap.h"

#define MS 1000000ull
#define S  1000000000ull

/* splitmix64: repeatable numbers for made-up loads. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Times that mostly rise, at gaps from microseconds to minutes, some a little late. */
static uint64_t *made_up_times(size_t nr, uint64_t seed)
{
	uint64_t *times = calloc(nr, sizeof(*times)), t = 1700000000 * S, state = seed;

	for (size_t i = 0; times && i < nr; i++) {
		t += next(&state) % (1ull << (10 + next(&state) % 28));
		times[i] = next(&state) % 50 ? t : t - next(&state) % (3 * S);
	}
	return times;
}

static uint64_t row_sum(const struct timegrid *g, size_t row)
{
	uint64_t sum = 0;

	for (size_t c = 0; c < g->nr; c++)
		sum += timegrid_column(g, c)[row];
	return sum;
}

/* Every column against a walk over all times. */
static void check_against_times(const struct timegrid *g, const uint64_t *times, size_t nr)
{
	uint64_t *counts = calloc(g->nr, sizeof(*counts)), *sums = calloc(g->nr, sizeof(*sums));
	bool inside = true, same = true;

	for (size_t i = 0; i < nr; i++) {
		uint64_t column = times[i] / g->step_ns - g->first;

		if (column >= g->nr) {
			inside = false;
			continue;
		}
		counts[column]++;
		sums[column] += times[i];
	}
	for (size_t c = 0; c < g->nr; c++)
		same = same && timegrid_column(g, c)[0] == counts[c] &&
		       timegrid_column(g, c)[1] == sums[c];
	ok(inside);
	ok(same);
	free(counts);
	free(sums);
}

static void columns_hold_what_fell_into_them(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		size_t nr = 1 + seed * seed * 40, max = 2 + seed * 13;
		uint64_t *times = made_up_times(nr, seed);
		struct timegrid g;

		timegrid_init(&g, 2, max);
		for (size_t i = 0; i < nr; i++) {
			uint64_t *column = timegrid_at(&g, times[i]);

			column[0]++;
			column[1] += times[i];
		}
		ok(g.nr <= max);
		check_against_times(&g, times, nr);
		timegrid_release(&g);
		free(times);
	}
}

static void widening_keeps_sums(void)
{
	size_t nr = 5000;
	uint64_t *times = made_up_times(nr, 7);
	struct timegrid g, wide;

	timegrid_init(&g, 2, 3000);
	for (size_t i = 0; i < nr; i++) {
		uint64_t *column = timegrid_at(&g, times[i]);

		column[0]++;
		column[1] += times[i];
	}
	for (uint64_t ratio = 1; ratio < 40; ratio += 3) {
		ok_int(timegrid_widen(&g, g.step_ns * ratio, &wide), 0);
		ok_eq(row_sum(&wide, 0), nr);
		ok_eq(row_sum(&wide, 1), row_sum(&g, 1));
		check_against_times(&wide, times, nr);
		timegrid_release(&wide);
	}
	ok(timegrid_widen(&g, g.step_ns + 1, &wide) < 0);
	timegrid_release(&g);
	free(times);
}

static void widths_are_round_and_divide_the_next(void)
{
	struct timegrid g;
	uint64_t last = 1 * MS;

	timegrid_init(&g, 1, 4);
	for (uint64_t t = 0; t < 1ull << 62; t = t * 3 + MS) {
		timegrid_at(&g, t)[0]++;
		if (!ok(g.step_ns % last == 0))
			break;
		last = g.step_ns;
	}
	ok(g.nr <= 4);
	timegrid_release(&g);
}

static void an_hour_is_drawn_in_round_columns(void)
{
	struct timegrid g;

	timegrid_init(&g, 1, 3000);
	for (uint64_t t = 0; t < 3600 * S; t += 10 * MS)
		timegrid_at(&g, t)[0]++;
	ok_eq(g.step_ns, 5 * S);
	ok_eq(timegrid_step_for(&g, 600), 10 * S);
	ok_eq(timegrid_step_for(&g, 100), 60 * S);
	timegrid_release(&g);
}

static void an_empty_grid_has_no_columns(void)
{
	struct timegrid g, wide;

	timegrid_init(&g, 3, 10);
	ok_eq(g.nr, 0);
	ok_int(timegrid_widen(&g, 5 * MS, &wide), 0);
	ok_eq(wide.nr, 0);
	timegrid_release(&wide);
	timegrid_release(&g);
	timegrid_release(&g);
}

/* 7 s from 0.5 s on, in columns of 1 s: half of a seventh at both ends, a seventh between. */
static void an_amount_is_spread_by_time(void)
{
	const uint64_t amounts[] = { 1400, 3 };
	uint64_t sums[2] = { 0 };
	struct timegrid g, wide;

	timegrid_init(&g, 2, 20);
	ok(timegrid_spread(&g, 500000000, 7500000000, amounts) == 0);
	ok(timegrid_widen(&g, 1000000000, &wide) == 0);
	ok_eq(wide.nr, 8);
	for (size_t c = 0; c < wide.nr; c++) {
		ok_eq(timegrid_column(&wide, c)[0], c == 0 || c == 7 ? 100 : 200);
		sums[0] += timegrid_column(&wide, c)[0];
		sums[1] += timegrid_column(&wide, c)[1];
	}
	ok_eq(sums[0], 1400);
	ok_eq(sums[1], 3);
	timegrid_release(&wide);
	timegrid_release(&g);
	ok_eq(timegrid_round_ns(3600000000000), 3600000000000);
	ok_eq(timegrid_round_ns(7200000000000), 7200000000000);
	ok_eq(timegrid_round_ns(1500000000), 2000000000);
}

static const struct tap_test tests[] = {
	{ "every column holds exactly what fell into it, in any order",
	  columns_hold_what_fell_into_them },
	{ "widening keeps every sum, and the columns of a walk over all times",
	  widening_keeps_sums },
	{ "each width divides the next", widths_are_round_and_divide_the_next },
	{ "an hour is drawn in round columns", an_hour_is_drawn_in_round_columns },
	{ "an amount is spread over its interval by time, and its sum stays exact",
	  an_amount_is_spread_by_time },
	{ "an empty grid has no columns and may be released twice", an_empty_grid_has_no_columns },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
