// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "tests/support/tap.h"

#define DRAWS 400000

/* Mean and variance of what is drawn, each within five standard errors: one run in 10^6 fails. */
static void near_moments(const double *x, size_t nr, double mean, double variance)
{
	double m = 0, v = 0, q = 0;

	for (size_t i = 0; i < nr; i++)
		m += x[i] / (double)nr;
	for (size_t i = 0; i < nr; i++) {
		double d = (x[i] - m) * (x[i] - m);

		v += d / (double)nr;
		q += d * d / (double)nr;
	}
	ok_near(m, mean, 5 * sqrt(variance / (double)nr));
	ok_near(v, variance, 5 * sqrt((q - v * v) / (double)nr));
}

static double values[DRAWS];

static void matches_reference(void)
{
	/* The generator's published test: state 1, 2, 3, 4 gives these first numbers. */
	struct rng r = { { 1, 2, 3, 4 } };

	ok_eq(rng_u64(&r), 11520);
	ok_eq(rng_u64(&r), 0);
	ok_eq(rng_u64(&r), 1509978240);
	ok_eq(rng_u64(&r), 1215971899390074240ULL);
}

static void seeds_by_splitmix(void)
{
	struct rng r;

	rng_seed(&r, 0);
	ok_eq(r.s[0], 0xe220a8397b1dcdafULL);
	ok_eq(r.s[1], 0x6e789e6aa1b965f4ULL);
}

static void streams_differ(void)
{
	struct rng a, b, c;
	double dot = 0;

	rng_stream(&a, 1, 0);
	rng_stream(&b, 1, 1);
	rng_stream(&c, 1, 0);
	ok(!memcmp(&a, &c, sizeof(a)));
	for (size_t i = 0; i < DRAWS; i++)
		dot += (rng_uniform(&a) - 0.5) * (rng_uniform(&b) - 0.5);
	ok_near(dot / DRAWS * 12, 0, 5 / sqrt(DRAWS));
}

static void below_is_even(void)
{
	struct rng r;
	uint64_t counts[6] = { 0 };
	double chi2 = 0;

	rng_seed(&r, 3);
	for (size_t i = 0; i < DRAWS; i++)
		counts[rng_below(&r, 6)]++;
	for (int i = 0; i < 6; i++)
		chi2 += pow((double)counts[i] - DRAWS / 6.0, 2) / (DRAWS / 6.0);
	/* The 99.9999 % point of chi-square with five degrees of freedom. */
	ok(chi2 < 35.9);
	ok_eq(rng_below(&r, 1), 0);
}

static void shuffle_permutes(void)
{
	size_t items[10], seen = 0;
	struct rng r;

	rng_seed(&r, 4);
	for (size_t i = 0; i < 10; i++)
		items[i] = i;
	rng_shuffle(&r, items, 10);
	for (size_t i = 0; i < 10; i++)
		seen |= (size_t)1 << items[i];
	ok_eq(seen, 1023);
	rng_shuffle(&r, items, 0);
}

static void moments_hold(void)
{
	struct rng r;
	double shapes[] = { 0.3, 1, 2.5, 40 };

	rng_seed(&r, 5);
	for (size_t i = 0; i < DRAWS; i++)
		values[i] = rng_exponential(&r);
	near_moments(values, DRAWS, 1, 1);
	for (size_t i = 0; i < DRAWS; i++)
		values[i] = rng_normal(&r);
	near_moments(values, DRAWS, 0, 1);
	for (size_t k = 0; k < 4; k++) {
		for (size_t i = 0; i < DRAWS; i++)
			values[i] = rng_gamma(&r, shapes[k]);
		near_moments(values, DRAWS, shapes[k], shapes[k]);
	}
	for (uint64_t k = 4; k <= 40; k += 36) {
		for (size_t i = 0; i < DRAWS; i++)
			values[i] = rng_erlang(&r, k);
		near_moments(values, DRAWS, (double)k, (double)k);
	}
}

static const struct tap_test tests[] = {
	{ "the generator gives its published numbers", matches_reference },
	{ "seeds go through splitmix64", seeds_by_splitmix },
	{ "streams repeat and do not correlate", streams_differ },
	{ "numbers below n are evenly spread", below_is_even },
	{ "a shuffle permutes", shuffle_permutes },
	{ "variates have the mean and variance they should", moments_hold },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
