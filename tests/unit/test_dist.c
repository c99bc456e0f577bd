// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>

#include "analyzer/num/dist.h"
#include "tests/tap.h"

#define DRAWS 300000

/*
 * The stated mean and variance against the drawn ones, within six standard errors. bound: the
 * standard error of a correlated sequence is larger by this factor.
 */
static void holds(struct dist *d, double mean, double variance, double factor)
{
	double m = 0, v = 0, q = 0;
	static double x[DRAWS];
	uint32_t phase = 0;
	struct rng r;

	rng_seed(&r, 11);
	ok_ratio(d->mean, mean, 1e-9);
	if (variance > 0)
		ok_ratio(d->variance, variance, 1e-9);
	for (size_t i = 0; i < DRAWS; i++) {
		x[i] = dist_sample(d, &r, &phase);
		m += x[i] / DRAWS;
	}
	for (size_t i = 0; i < DRAWS; i++) {
		double e = (x[i] - m) * (x[i] - m);

		v += e / DRAWS;
		q += e * e / DRAWS;
	}
	ok_near(m, d->mean, 6 * factor * sqrt(v / DRAWS) + 1e-9);
	ok_near(v, d->variance, 6 * factor * sqrt(fmax(0, q - v * v) / DRAWS) + 1e-12);
	dist_release(d);
}

static void simple_kinds(void)
{
	struct dist d;

	ok_int(dist_deterministic(&d, 2, NULL), 0);
	holds(&d, 2, 0, 1);
	ok_int(dist_exponential(&d, 2, NULL), 0);
	holds(&d, 2, 4, 1);
	ok_int(dist_erlang(&d, 4, 2, NULL), 0);
	holds(&d, 2, 1, 1);
	ok_int(dist_gamma(&d, 0.5, 4, NULL), 0);
	holds(&d, 2, 8, 1);
	ok_int(dist_hyperexponential_fit(&d, 1, 4, NULL), 0);
	holds(&d, 1, 4, 1);
	ok_int(dist_lognormal(&d, 0, 0.5, NULL), 0);
	holds(&d, exp(0.125), expm1(0.25) * exp(0.25), 1);
	ok_int(dist_uniform(&d, 1, 3, NULL), 0);
	holds(&d, 2, 1.0 / 3, 1);
	ok_int(dist_weibull(&d, 2, 1, NULL), 0);
	holds(&d, sqrt(M_PI) / 2, 1 - M_PI / 4, 1);
}

static void truncated_normal(void)
{
	struct dist d;

	/* Mean 1, sd 1 cut at 0: the inverse Mills ratio at -1 is 0.28759997093917833. */
	ok_int(dist_normal(&d, 1, 1, NULL), 0);
	holds(&d, 1.28759997093917833, 1 - 0.28759997093917833 - 0.08271374328445, 1);
}

static void empirical_kinds(void)
{
	const double values[] = { 1, 2, 5 }, weights[] = { 1, 2, 1 };
	const double edges[] = { 0, 1, 3 }, counts[] = { 30, 10 };
	struct dist d;

	ok_int(dist_values(&d, values, weights, 3, NULL), 0);
	holds(&d, 2.5, 2.25, 1);
	ok_int(dist_values(&d, values, NULL, 2, NULL), 0);
	holds(&d, 1.5, 0.25, 1);
	ok_int(dist_histogram(&d, edges, counts, 2, NULL), 0);
	holds(&d, 0.875, 0.25 + 0.25 * 13 / 3 - 0.875 * 0.875, 1);
}

static void map_kinds(void)
{
	/* A Poisson process in two phases that do not differ, and an Erlang-2 renewal process. */
	const double p0[] = { -3, 1, 2, -4 }, p1[] = { 1, 1, 1, 1 };
	const double e0[] = { -2, 2, 0, -2 }, e1[] = { 0, 0, 2, 0 };
	/* MMPP: rates 10 and 1, switching 0.5 and 0.25: mean rate (10 / 3 + 2 / 3) = 4. */
	const double m0[] = { -10.5, 0.5, 0.25, -1.25 }, m1[] = { 10, 0, 0, 1 };
	struct dist d;

	ok_int(dist_map(&d, p0, p1, 2, NULL), 0);
	holds(&d, 0.5, 0.25, 1);
	ok_int(dist_map(&d, e0, e1, 2, NULL), 0);
	holds(&d, 1, 0.5, 1);
	/* Times between its events are correlated over some ten events: sqrt(10) on the errors. */
	ok_int(dist_map(&d, m0, m1, 2, NULL), 0);
	holds(&d, 0.25, 0, 3.2);
}

static void impossible_moments(void)
{
	const double p[] = { 0.5, 0.4 }, m[] = { 1, 2 }, falling[] = { 0, 2, 1 };
	const double d0[] = { -1, 0, 0, -1 }, d1[] = { 0.5, 0, 0, 1 };
	const double apart[] = { 1, 0, 0, 1 };
	struct dist d;

	ok_int(dist_deterministic(&d, 0, NULL), -EINVAL);
	ok_int(dist_exponential(&d, -1, NULL), -EINVAL);
	ok_int(dist_exponential(&d, NAN, NULL), -EINVAL);
	ok_int(dist_erlang(&d, 1.5, 1, NULL), -EINVAL);
	ok_int(dist_gamma(&d, 0, 1, NULL), -EINVAL);
	ok_int(dist_hyperexponential(&d, p, m, 2, NULL), -EINVAL);
	ok_int(dist_hyperexponential_fit(&d, 1, 0.5, NULL), -EINVAL);
	ok_int(dist_lognormal(&d, 1000, 1, NULL), -EINVAL);
	ok_int(dist_normal(&d, -1, 1, NULL), -EINVAL);
	ok_int(dist_uniform(&d, 2, 1, NULL), -EINVAL);
	ok_int(dist_weibull(&d, 1e-3, 1, NULL), -EINVAL);
	ok_int(dist_values(&d, m, NULL, 0, NULL), -EINVAL);
	ok_int(dist_histogram(&d, falling, m, 2, NULL), -EINVAL);
	ok_int(dist_map(&d, d0, d1, 2, NULL), -EINVAL);
	ok_int(dist_map(&d, d0, apart, 2, NULL), -EINVAL);
}

static const struct tap_test tests[] = {
	{ "what is drawn has the mean and variance stated", simple_kinds },
	{ "a normal is cut at zero, moments included", truncated_normal },
	{ "empirical distributions follow values and histograms", empirical_kinds },
	{ "markovian arrival processes have their stationary moments", map_kinds },
	{ "impossible moments are refused", impossible_moments },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
