/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/cache_knee.h"
#include "analyzer/report/miss_ratio.h"
#include "analyzer/report/regions.h"
#include "tests/support/tap.h"

#define NR 1000

static void laws_are_distributions(void)
{
	static double w[NR];
	struct access_distribution d = { .kind = DISTRIBUTION_UNIFORM };
	double sum = 0, harmonic = 0, top = 0;

	ok_int(regions_law(&d, NR, w), 0);
	ok_near(w[0], 1.0 / NR, 1e-12);
	ok_near(w[NR - 1], 1.0 / NR, 1e-12);

	d = (struct access_distribution){ .kind = DISTRIBUTION_ZIPF, .exponent = 0.8 };
	ok_int(regions_law(&d, NR, w), 0);
	for (int i = 0; i < NR; i++) {
		sum += w[i];
		harmonic += pow(i + 1, -0.8);
	}
	ok_near(sum, 1, 1e-9);
	ok_near(w[9], pow(10, -0.8) / harmonic, 1e-12);

	d = (struct access_distribution){ .kind = DISTRIBUTION_GAUSSIAN,
					  .mean_ratio = 0.3,
					  .deviation_ratio = 0.05 };
	ok_int(regions_law(&d, NR, w), 0);
	/* The busiest 10 % of the range: one deviation to either side of the centre, 68.27 %. */
	for (int i = 0; i < NR / 10; i++)
		top += w[i];
	ok_near(top, erf(1 / sqrt(2)), 1e-3);

	d.kind = DISTRIBUTION_UNKNOWN;
	ok_int(regions_law(&d, NR, w), -ENODATA);
}

static void the_table_is_cumulative(void)
{
	uint64_t counts[4] = { 10, 60, 0, 30 };
	struct access_distribution d = { .kind = DISTRIBUTION_UNIFORM };
	struct buf csv;

	buf_init(&csv);
	ok_int(regions_csv(counts, 4, &d, &csv), 0);
	buf_put_u8(&csv, 0);
	ok(strstr((char *)csv.data, "\n0.25,0.600000,0.250000\n") != NULL);
	ok(strstr((char *)csv.data, "\n0.50,0.900000,0.500000\n") != NULL);
	ok(strstr((char *)csv.data, "\n1.00,1.000000,1.000000\n") != NULL);
	buf_clear(&csv);
	memset(counts, 0, sizeof(counts));
	ok_int(regions_csv(counts, 4, &d, &csv), -ENODATA);
	ok_int(regions_csv(counts, 0, &d, &csv), -ENODATA);
	buf_release(&csv);
}

static void the_knee_is_where_the_curve_bends(void)
{
	struct cache_point points[20];

	for (size_t i = 0; i < 20; i++)
		points[i] = (struct cache_point){ .cache_bytes = 4096ull << i,
						  .miss_ratio = i < 12 ? 1 - i * 0.05 : 0.2 };
	ok_eq(cache_knee(points, 20), 12);
	for (size_t i = 0; i < 20; i++)
		points[i].miss_ratio = 1 - (double)i / 20;
	ok_eq(cache_knee(points, 20), 20);
	ok_eq(cache_knee(points, 2), 2);
}

static const struct tap_test tests[] = {
	{ "every law sums to one and has its shape", laws_are_distributions },
	{ "the table of regions is cumulative from the busiest", the_table_is_cumulative },
	{ "the knee is where the curve bends, and a line has none",
	  the_knee_is_where_the_curve_bends },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
