/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/cache_knee.h"
#include "analyzer/report/curve/miss_ratio.h"
#include "analyzer/report/curve/regions.h"
#include "tests/support/tap.h"

#define ITEMS	 65536
#define ACCESSES 100000

/* Items of a Zipf law, scattered over the range by a multiplication that shuffles them. */
static void the_law_drawn_is_the_law_fitted(void)
{
	static struct hotspot h;
	static struct request requests[ACCESSES];
	static double harmonic[ITEMS + 1];
	struct access_distribution d;
	struct hotspot_law law = { 0 };
	uint64_t item = 1;
	double sum = 0, top = 0, literal = 0, all = 0;

	ok_int(hotspot_law(&h, &law), -ENODATA);
	for (int i = 1; i <= ITEMS; i++)
		harmonic[i] = harmonic[i - 1] + pow(i, -1.1);
	for (int i = 0; i < ACCESSES; i++) {
		double at = harmonic[ITEMS] * (i + 0.5) / ACCESSES;

		while (harmonic[item] < at)
			item++;
		requests[i] = (struct request){ .sector = item * 40503 % ITEMS * 8, .bytes = 4096 };
	}
	/* Neighbours of the table are of one item: a shuffle parts them. */
	for (size_t i = 0; i < ACCESSES; i++) {
		size_t other = i * 7919 % ACCESSES;
		struct request r = requests[i];

		requests[i] = requests[other];
		requests[other] = r;
	}
	ok_int(hotspot_add_many(&h, requests, ACCESSES), 0);
	ok_int(hotspot_fit(&h, &d), 0);
	ok_int(d.kind, DISTRIBUTION_ZIPF);
	ok_int(hotspot_law(&h, &law), 0);
	ok_eq(law.nr, d.nr_regions);
	ok_eq(SECTOR_BYTES << law.shift, d.region_bytes);
	for (size_t i = 0; i < law.nr; i++) {
		sum += law.mass[i];
		top += i < law.nr / 10 ? law.mass[i] : 0;
		all += pow((double)i + 1, -d.exponent);
		literal += i < law.nr / 10 ? pow((double)i + 1, -d.exponent) : 0;
	}
	ok_near(sum, 1, 1e-9);
	ok_near(top, d.top_10_ratio, 0.05);
	/* The law of the items is not that of regions with many items each. */
	tap_note("busiest tenth: measured %.3f, law %.3f, theta over regions %.3f", d.top_10_ratio,
		 top, literal / all);
	free(law.mass);
	hotspot_release(&h);
}

static void the_table_is_cumulative(void)
{
	uint64_t counts[4] = { 10, 60, 0, 30 };
	double even[2] = { 0.5, 0.5 };
	struct hotspot_law d = { .mass = even, .nr = 2 };
	struct buf csv;

	buf_init(&csv);
	ok_int(regions_csv(counts, 4, &d, &csv), 0);
	buf_put_u8(&csv, 0);
	ok(strstr((char *)csv.data, "\n0.25,0.600000,0.500000\n") != NULL);
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
	{ "the law drawn is the law that was fitted", the_law_drawn_is_the_law_fitted },
	{ "the table of regions is cumulative from the busiest", the_table_is_cumulative },
	{ "the knee is where the curve bends, and a line has none",
	  the_knee_is_where_the_curve_bends },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
