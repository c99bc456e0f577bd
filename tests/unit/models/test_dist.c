// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_bessel.h>

#include "analyzer/models/num/dist.h"
#include "tests/support/tap.h"

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

static void whole_numbers(void)
{
	struct dist d;

	/* p = .5: mean 1 / ln 2, second moment 2 / ln 2. */
	ok_int(dist_logarithmic(&d, .5, NULL), 0);
	holds(&d, 1 / M_LN2, 2 / M_LN2 - 1 / (M_LN2 * M_LN2), 1);
	ok_int(dist_logarithmic(&d, .99, NULL), 0);
	holds(&d, 99 / log(100), 9900 / log(100) - pow(99 / log(100), 2), 1);
}

/* The share of draws at or below x beside the distribution function of the uncut variate. */
static void shares(struct dist *d, double (*cdf)(double x, double a, double b), double a, double b)
{
	double points[] = { 0, d->mean / 3, d->mean, 2 * d->mean, 4 * d->mean };
	double below[TAP_NR(points)] = { 0 };
	uint32_t phase = 0;
	struct rng r;

	rng_seed(&r, 12);
	for (size_t i = 0; i < DRAWS; i++) {
		double x = dist_sample(d, &r, &phase);

		for (size_t k = 0; k < TAP_NR(points); k++)
			below[k] += x <= points[k];
	}
	for (size_t k = 0; k < TAP_NR(points); k++) {
		double p = cdf(points[k], a, b);

		ok_near(below[k] / DRAWS, p, 5 * sqrt(p * (1 - p) / DRAWS) + 1e-6);
	}
}

static double normal_cdf(double x, double mean, double sd)
{
	return gsl_cdf_gaussian_P(x - mean, sd);
}

static double exppow_cdf(double x, double tau, double unused)
{
	(void)unused;
	return gsl_cdf_exppow_P(x, 1, tau);
}

static double tdist_cdf(double x, double freedom, double unused)
{
	(void)unused;
	return gsl_cdf_tdist_P(x, freedom);
}

/* Mean 3, width 2, cut 4: between the angles of -4 and 4. */
static double breit_wigner_cdf(double x, double unused, double unused2)
{
	(void)unused;
	(void)unused2;
	return x >= 7 ? 1 : (atan(x - 3) + atan(4)) / (2 * atan(4));
}

/* x^2 about 9 of width 6, x between 1 and 5. */
static double mean_square_cdf(double x, double unused, double unused2)
{
	double low = atan(-8.0 / 6), high = atan(16.0 / 6);

	(void)unused;
	(void)unused2;
	return x < 1 ? 0 : x >= 5 ? 1 : (atan((x * x - 9) / 6) - low) / (high - low);
}

/* Simpson's rule, far finer than anything here needs. */
static double simpson(double (*f)(double x, double a, double b), double from, double to, double a,
		      double b)
{
	int nr = 20000;
	double h = (to - from) / nr, sum = f(from, a, b) + f(to, a, b);

	for (int i = 1; i < nr; i++)
		sum += (i & 1 ? 4 : 2) * f(from + i * h, a, b);
	return sum * h / 3;
}

/* Densities with the constants of the literature, by Bessel functions. */
static double hyperbolic_pdf(double x, double a, double b)
{
	double g = sqrt(a * a - b * b);

	return g / (2 * a * gsl_sf_bessel_K1(g)) * exp(-a * sqrt(1 + x * x) + b * x);
}

static double hyperbolic_cdf(double x, double a, double b)
{
	return simpson(hyperbolic_pdf, -60, x, a, b);
}

static double von_mises_pdf(double x, double k, double unused)
{
	(void)unused;
	return exp(k * cos(x)) / (2 * M_PI * gsl_sf_bessel_I0(k));
}

static double von_mises_cdf(double x, double k, double unused)
{
	return x >= M_PI ? 1 : simpson(von_mises_pdf, -M_PI, x, k, unused);
}

static double moment_1(double x, double a, double b)
{
	return x * hyperbolic_pdf(x, a, b);
}

static double moment_2(double x, double a, double b)
{
	return x * x * hyperbolic_pdf(x, a, b);
}

static double mises_1(double x, double k, double unused)
{
	return x * von_mises_pdf(x, k, unused);
}

static double mises_2(double x, double k, double unused)
{
	return x * x * von_mises_pdf(x, k, unused);
}

static void laws(void)
{
	double p = gsl_cdf_ugaussian_P(1), f = exp(-.5) / sqrt(2 * M_PI);
	struct dist d;

	ok_int(dist_beta(&d, .5, 2, 3, NULL), 0);
	holds(&d, .6, 9 * .2 * .8 / 3.5, 1);
	ok_int(dist_beta(&d, 3, 2, 1, NULL), 0);
	shares(&d, gsl_cdf_beta_P, 3, 2);
	dist_release(&d);
	ok_int(dist_chi_square(&d, 3, NULL), 0);
	holds(&d, 3, 6, 1);
	ok_int(dist_cut_normal(&d, 1, 1, NULL), 0);
	shares(&d, normal_cdf, 1, 1);
	/* E max(0, m + Z) = m Phi(m) + phi(m), of its square (m^2 + 1) Phi(m) + m phi(m). */
	holds(&d, p + f, 2 * p + f - (p + f) * (p + f), 1);
	ok_int(dist_cut_normal(&d, -2, 2, NULL), 0);
	holds(&d, 2 * (f - (1 - p)), 4 * (2 * (1 - p) - f - pow(f - (1 - p), 2)), 1);
}

static void lines(void)
{
	struct dist d;

	/* Laplace and Gauss are cases of it. */
	ok_int(dist_exponential_power(&d, 1, NULL), 0);
	holds(&d, .5, 1 - .25, 1);
	ok_int(dist_exponential_power(&d, 2, NULL), 0);
	holds(&d, .5 / sqrt(M_PI), .25 - .25 / M_PI, 1);
	ok_int(dist_exponential_power(&d, 5, NULL), 0);
	shares(&d, exppow_cdf, 5, 0);
	dist_release(&d);
	/*
	 * E |T| = 2 sqrt(3) / pi for 3 degrees of freedom, E T^2 = 3; draws have no fourth moment.
	 */
	ok_int(dist_student_t(&d, 3, NULL), 0);
	ok_ratio(d.mean, sqrt(3) / M_PI, 1e-12);
	ok_ratio(d.variance, 1.5 - 3 / (M_PI * M_PI), 1e-12);
	shares(&d, tdist_cdf, 3, 0);
	dist_release(&d);
	ok_int(dist_breit_wigner(&d, 3, 2, 4, NULL), 0);
	shares(&d, breit_wigner_cdf, 0, 0);
	/* No part of it below 0: mean 3 by symmetry, variance (4 - atan 4) / atan 4. */
	dist_release(&d);
	ok_int(dist_breit_wigner(&d, 5, 2, 4, NULL), 0);
	holds(&d, 5, (4 - atan(4)) / atan(4), 1);
	ok_int(dist_breit_wigner_mean_square(&d, 3, 2, 2, NULL), 0);
	shares(&d, mean_square_cdf, 0, 0);
	holds(&d, d.mean, d.variance, 1);
}

static void bessel_laws(void)
{
	static const double shapes[][2] = { { 1, 0 }, { 2, 1.5 }, { 1.5, -1 }, { 5, 4.5 } };
	struct dist d;

	for (size_t i = 0; i < TAP_NR(shapes); i++) {
		double a = shapes[i][0], b = shapes[i][1];
		double m = simpson(moment_1, 0, 80, a, b), q = simpson(moment_2, 0, 80, a, b);

		ok_int(dist_hyperbolic(&d, a, b, NULL), 0);
		shares(&d, hyperbolic_cdf, a, b);
		holds(&d, m, q - m * m, 1);
	}
	for (double k = .1; k < 50; k *= 7) {
		double m = simpson(mises_1, 0, M_PI, k, 0), q = simpson(mises_2, 0, M_PI, k, 0);

		ok_int(dist_von_mises(&d, k, NULL), 0);
		shares(&d, von_mises_cdf, k, 0);
		holds(&d, m, q - m * m, 1);
	}
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
	ok_int(dist_beta(&d, 0, 1, 1, NULL), -EINVAL);
	ok_int(dist_chi_square(&d, -1, NULL), -EINVAL);
	ok_int(dist_logarithmic(&d, 1, NULL), -EINVAL);
	ok_int(dist_cut_normal(&d, 1, 0, NULL), -EINVAL);
	ok_int(dist_cut_normal(&d, -1e9, 1, NULL), -EINVAL);
	ok_int(dist_hyperbolic(&d, 1, 1, NULL), -EINVAL);
	ok_int(dist_exponential_power(&d, .5, NULL), -EINVAL);
	ok_int(dist_student_t(&d, 2, NULL), -EINVAL);
	ok_int(dist_von_mises(&d, 0, NULL), -EINVAL);
	ok_int(dist_breit_wigner(&d, 1, 1, INFINITY, NULL), -EINVAL);
	ok_int(dist_breit_wigner(&d, 1, 0, 1, NULL), -EINVAL);
	ok_int(dist_breit_wigner(&d, -5, 1, 4, NULL), -EINVAL);
	ok_int(dist_breit_wigner_mean_square(&d, 0, 1, 1, NULL), -EINVAL);
}

static const struct tap_test tests[] = {
	{ "what is drawn has the mean and variance stated", simple_kinds },
	{ "a normal is cut at zero, moments included", truncated_normal },
	{ "empirical distributions follow values and histograms", empirical_kinds },
	{ "logarithmic variates are whole numbers of their law", whole_numbers },
	{ "beta, chi-square and cut normal follow their laws", laws },
	{ "what reaches below 0 counts as 0 there, moments included", lines },
	{ "hyperbolic and von mises follow densities by Bessel functions", bessel_laws },
	{ "markovian arrival processes have their stationary moments", map_kinds },
	{ "impossible moments are refused", impossible_moments },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
