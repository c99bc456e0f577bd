// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/models/sim/qhist.h"
#include "tests/support/tap.h"

#define NR 100000

static double values[NR];

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void near_sorted_values(void)
{
	static const double p[] = { 0.01, 0.5, 0.95, 0.99, 0.999 };
	struct qhist h = { 0 };
	struct rng r;

	rng_seed(&r, 2);
	for (int i = 0; i < NR; i++) {
		values[i] = exp(3 * rng_normal(&r));
		qhist_add(&h, values[i]);
	}
	qsort(values, NR, sizeof(*values), compare);
	ok_eq(h.nr, NR);
	/* One bucket is 1/64 of its octave's beginning: 1.6 % at most. */
	for (int i = 0; i < 5; i++) {
		double q = qhist_quantile(&h, p[i]);

		ok_ratio(q, values[(int)(p[i] * NR)], 1.0 / 64);
		ok_near(qhist_share(&h, q), p[i], 1e-9);
	}
	qhist_release(&h);
}

static void merges_to_the_whole(void)
{
	struct qhist whole = { 0 }, part[2] = { { .nr = 0 }, { .nr = 0 } };
	struct rng r;

	rng_seed(&r, 3);
	for (int i = 0; i < NR; i++) {
		double v = rng_exponential(&r) * (i % 2 ? 1e6 : 1e-6);

		qhist_add(&whole, v);
		qhist_add(&part[i % 2], v);
	}
	ok_int(qhist_merge(&part[0], &part[1]), 0);
	ok_eq(part[0].nr, whole.nr);
	for (double p = 0.05; p < 1; p += 0.1)
		ok_near(qhist_quantile(&part[0], p), qhist_quantile(&whole, p), 0);
	qhist_release(&whole);
	qhist_release(&part[0]);
	qhist_release(&part[1]);
}

static void extremes_are_counted(void)
{
	struct qhist h = { 0 };

	ok(isnan(qhist_quantile(&h, 0.5)) && isnan(qhist_share(&h, 1)));
	qhist_add(&h, 0);
	qhist_add(&h, 0);
	qhist_add(&h, 1e300);
	ok_eq(h.nr, 3);
	ok_near(qhist_quantile(&h, 0.5), 0, 0);
	ok_near(qhist_share(&h, 0), 2.0 / 3, 1e-15);
	ok(qhist_quantile(&h, 0.99) > 1e26);
	qhist_release(&h);
}

/* A bucket that holds 50 ends at 50.5: interpolation alone would answer with a time nobody had. */
static void quantiles_stay_within_what_was_seen(void)
{
	struct qhist same = { 0 }, two = { 0 };

	for (int i = 0; i < 1000; i++) {
		qhist_add(&same, 50);
		qhist_add(&two, i % 2 ? 50 : 49.9);
	}
	for (double p = 0.01; p < 1; p += 0.01) {
		ok_near(qhist_quantile(&same, p), 50, 0);
		ok(qhist_quantile(&two, p) >= 49.9 && qhist_quantile(&two, p) <= 50);
	}
	ok_near(qhist_share(&same, 49.99), 0, 0);
	ok_near(qhist_share(&same, 50), 1, 0);
	ok_int(qhist_merge(&same, &two), 0);
	ok_near(same.min, 49.9, 0);
	ok_near(same.max, 50, 0);
	qhist_release(&same);
	qhist_release(&two);
}

/* Runs of 10^9 events and more, merged by doubling: 2^40 values, nearly all of them 0. */
static void counts_do_not_overflow(void)
{
	struct qhist all = { 0 }, part = { 0 };

	for (int i = 0; i < 1024; i++)
		qhist_add(&all, i < 1014 ? 0 : 7);
	for (int i = 0; i < 30; i++) {
		ok_int(qhist_merge(&part, &all), 0);
		ok_int(qhist_merge(&all, &part), 0);
		qhist_release(&part);
	}
	ok(all.nr == 1024ull << 30);
	ok_near(qhist_quantile(&all, 0.5), 0, 0);
	ok_near(qhist_quantile(&all, 0.99), 0, 0);
	ok_near(qhist_quantile(&all, 0.995), 7, 0.1);
	ok_near(qhist_share(&all, 1), 1014 / 1024.0, 1e-12);
	qhist_release(&all);
}

static const struct tap_test tests[] = {
	{ "quantiles are those of the sorted values to a bucket", near_sorted_values },
	{ "merged parts are the whole", merges_to_the_whole },
	{ "no quantile lies outside the least and the largest value",
	  quantiles_stay_within_what_was_seen },
	{ "zero and values beyond the range are counted at the ends", extremes_are_counted },
	{ "counts of long runs do not overflow", counts_do_not_overflow },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
