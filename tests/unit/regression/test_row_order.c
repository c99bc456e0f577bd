// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/models/regression/table/row_order.h"
#include "tests/support/tap.h"

#define MOST 6000

static double x[2 * MOST];
static uint32_t order[2 * MOST], expected[MOST];

static int by_value(const void *a, const void *b)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (x[i] != x[k])
		return x[i] < x[k] ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* The rows of one column are in the order that the C library gives them, equal ones by number. */
static void is_sorted(size_t nr, const char *what)
{
	size_t wrong = 0;

	for (size_t i = 0; i < nr; i++)
		expected[i] = (uint32_t)i;
	qsort(expected, nr, sizeof(*expected), by_value);
	ok_eq(row_order(x, 1, nr, order), 0);
	for (size_t i = 0; i < nr; i++)
		wrong += order[i] != expected[i];
	if (wrong)
		tap_note("%s, %zu rows", what, nr);
	ok_eq(wrong, 0);
}

static double drawn(struct rng *r, int kind, size_t i, size_t nr)
{
	static const double odd[] = { 0., -0., 5e-324, -5e-324, 1e308, -1e3, 2.5e-9, 1, -1, 9 };
	double u = rng_uniform(r);

	switch (kind) {
	case 0:
		return u - 0.5;
	case 1: /* a factor that was measured: few values */
		return floor(8 * u) * 512;
	case 2: /* times: the upper bits of all are equal */
		return 1.7e9 + (double)(nr - i) * 1e-6;
	case 3: /* groups of few values that differ in their lowest bits */
		return floor(u * (double)nr / 20) + 1e-12 * floor(100 * rng_uniform(r));
	case 4:
		return odd[(size_t)(10 * u)];
	case 5: /* in order already */
		return (double)i;
	default:
		return exp(100 * (u - 0.5));
	}
}

static void equals_library(void)
{
	static const size_t sizes[] = { 1, 2, 31, 32, 33, 900, 4095, 4096, MOST };
	static const char *const kinds[] = { "uniform", "factor",  "times",	 "groups",
					     "odd",	"ordered", "exponential" };
	struct rng r;

	rng_seed(&r, 1);
	for (size_t s = 0; s < TAP_NR(sizes); s++) {
		for (int kind = 0; kind < 7; kind++) {
			for (size_t i = 0; i < sizes[s]; i++)
				x[i] = drawn(&r, kind, i, sizes[s]);
			is_sorted(sizes[s], kinds[kind]);
		}
	}
}

static void sorts_each_column(void)
{
	static const double two[] = { 3, 1, 2, -1, -3, -2 };

	for (size_t i = 0; i < 6; i++)
		x[i] = two[i];
	ok_eq(row_order(x, 2, 3, order), 0);
	ok(order[0] == 1 && order[1] == 2 && order[2] == 0);
	ok(order[3] == 1 && order[4] == 2 && order[5] == 0);
	ok_eq(row_order(x, 2, 0, order), 0);
}

static const struct tap_test tests[] = {
	{ "the order is that of the C library, and equal values keep theirs", equals_library },
	{ "each column is sorted by itself", sorts_each_column },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
