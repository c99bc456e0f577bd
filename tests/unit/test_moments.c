/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/fileset.h"
#include "workload/moments.h"

#define NR 10000

static void far_from_zero(void)
{
	static double x[NR];
	struct slow_rng g = { 1 };
	struct moments m = { 0 };
	long double mean = 0, variance = 0;

	ok(isnan(moments_mean(&m)) && isnan(moments_variance(&m)));
	for (size_t i = 0; i < NR; i++) {
		x[i] = 1e9 + slow_normal(&g);
		moments_add(&m, x[i]);
		mean += (long double)x[i] / NR;
		if (!i)
			ok(isnan(moments_variance(&m)));
	}
	for (size_t i = 0; i < NR; i++)
		variance += (x[i] - mean) * (x[i] - mean) / (NR - 1);
	ok_near(moments_mean(&m), (double)mean, 1e-6);
	ok_ratio(moments_variance(&m), (double)variance, 1e-6);
}

static void merge_is_whole(void)
{
	struct slow_rng g = { 2 };
	struct moments whole = { 0 }, part[3] = { 0 }, empty = { 0 };

	for (size_t i = 0; i < NR; i++) {
		double x = slow_exponential(&g, 5);

		moments_add(&whole, x);
		moments_add(&part[slow_below(&g, 3)], x);
	}
	moments_merge(&part[2], &part[0]);
	moments_merge(&part[2], &empty);
	moments_merge(&empty, &part[1]);
	moments_merge(&empty, &part[2]);
	ok_eq(empty.nr, NR);
	ok_ratio(moments_mean(&empty), moments_mean(&whole), 1e-12);
	ok_ratio(moments_variance(&empty), moments_variance(&whole), 1e-12);
}

static void file_sets(void)
{
	struct fileset a = { 0 };

	ok(isnan(fileset_count_mean(&a)) && isnan(fileset_size_mean_bytes(&a)));
	fileset_add(&a, 10, 1000);
	fileset_add(&a, 0, 0);
	fileset_add(&a, 20, 6000);
	ok_near(fileset_count_mean(&a), 10, 1e-12);
	ok_near(fileset_total_mean_bytes(&a), 7000.0 / 3, 1e-9);
	/* eq. 5.17: the mean of the samples' means, of those that had files. */
	ok_near(fileset_size_mean_bytes(&a), 200, 1e-12);
	fileset_clear(&a);
	ok(isnan(fileset_total_mean_bytes(&a)));
}

static const struct tap_test tests[] = {
	{ "mean and variance far from zero keep their digits", far_from_zero },
	{ "moments merged in any order are the whole", merge_is_whole },
	{ "file set averages are those of the samples", file_sets },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
