// SPDX-License-Identifier: Apache-2.0
/*
 * Arrivals in bursts: closed forms against literal sums and samples, fits of known processes,
 * refusals, and the queue that they make, by the matrix-geometric solution of MMPP(2)/M/1 and by
 * the simulation.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/dist.h"
#include "analyzer/models/num/mmpp2.h"
#include "tests/support/tap.h"

#define NR_ROUNDS 100000 /* of the iteration for R */

static const struct mmpp2 known[] = {
	{ { 5000, 0 }, { 250, 62.5 } }, /* silent between the bursts */
	{ { 40, 5 }, { 2, 0.5 } },
	{ { 2, 0.1 }, { 0.05, 0.02 } },
};
#define NR_KNOWN (sizeof(known) / sizeof(*known))

/* Makes a distribution of the times between arrivals. */
static int mmpp2_dist(struct dist *d, const struct mmpp2 *m)
{
	const double *l = m->rate_per_s, *r = m->leave_per_s;
	const double d0[4] = { -l[0] - r[0], r[0], r[1], -l[1] - r[1] };
	const double d1[4] = { l[0], 0, 0, l[1] };

	return dist_map(d, d0, d1, 2, NULL);
}

/* The moments of a MAP are computed elsewhere from its matrices; two programs, one answer. */
static void moments_are_those_of_the_map(void)
{
	for (size_t i = 0; i < NR_KNOWN; i++) {
		struct dist d;

		ok_int(mmpp2_dist(&d, &known[i]), 0);
		ok_ratio(mmpp2_rate_per_s(&known[i]), 1 / d.mean, 1e-9);
		ok_ratio(mmpp2_scv(&known[i]), d.variance / d.mean / d.mean, 1e-9);
		dist_release(&d);
	}
}

/* Counts of sampled arrivals in windows, and the correlation of neighbours. */
static void dispersion_is_that_of_samples(void)
{
	const struct mmpp2 *m = &known[1];
	double window_s = 0.5, at = 0, sum = 0, squares = 0, count = 0, end = window_s, nr = 0;
	double before = NAN, xy = 0, x = 0, xx = 0, pairs = 0;
	uint32_t phase = 0;
	struct rng rng;
	struct dist d;

	rng_seed(&rng, 5);
	mmpp2_dist(&d, m);
	for (size_t i = 0; i < 2000000; i++) {
		double gap = dist_sample(&d, &rng, &phase);

		at += gap;
		while (at > end) {
			sum += count;
			squares += count * count;
			nr++;
			count = 0;
			end += window_s;
		}
		count++;
		if (!isnan(before)) {
			xy += before * gap;
			x += gap;
			xx += gap * gap;
			pairs++;
		}
		before = gap;
	}
	ok_ratio((squares / nr - sum * sum / nr / nr) / (sum / nr), mmpp2_idc(m, window_s), 0.02);
	x /= pairs;
	ok_near((xy / pairs - x * x) / (xx / pairs - x * x), mmpp2_lag1(m), 0.01);
	dist_release(&d);
}

static struct mmpp2_aims aims_of(const struct mmpp2 *m, const double *window_s, double *idc,
				 size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		idc[i] = mmpp2_idc(m, window_s[i]);
	return (struct mmpp2_aims){ .rate_per_s = mmpp2_rate_per_s(m),
				    .scv = mmpp2_scv(m),
				    .lag1 = mmpp2_lag1(m),
				    .window_s = window_s,
				    .idc = idc,
				    .nr = nr };
}

static void fits_give_the_process_back(void)
{
	static const double window_s[4] = { 0.01, 0.1, 1, 10 };

	for (size_t i = 0; i < NR_KNOWN; i++) {
		double idc[4];
		struct mmpp2_aims aims = aims_of(&known[i], window_s, idc, 4);
		struct mmpp2_fit fit;
		struct err err = { 0 };

		if (!ok_int(mmpp2_fit(&fit, &aims, &err), 0))
			tap_note("%s", err.line);
		ok_eq(fit.met, MMPP2_RATE | MMPP2_IDC | MMPP2_SCV | MMPP2_LAG1);
		for (int s = 0; s < 2; s++) {
			ok_near(fit.process.rate_per_s[s] / known[i].rate_per_s[0],
				known[i].rate_per_s[s] / known[i].rate_per_s[0], 1e-3);
			ok_ratio(fit.process.leave_per_s[s], known[i].leave_per_s[s], 1e-3);
		}
	}
}

static void what_cannot_be_met_is_named(void)
{
	static const double window_s[2] = { 0.1, 1 };
	double idc[2];
	struct mmpp2_aims aims = aims_of(&known[1], window_s, idc, 2);
	struct mmpp2_fit fit;
	struct err err = { 0 };

	aims.scv = 1000;
	ok_int(mmpp2_fit(&fit, &aims, &err), -ERANGE);
	ok_eq(fit.met & (MMPP2_RATE | MMPP2_IDC | MMPP2_SCV), MMPP2_RATE | MMPP2_IDC);
	ok(strstr(err.line, "meets the rate, the dispersion of counts") != NULL);
	ok(strstr(err.line, "and not the variation of times between arrivals") != NULL);
	aims.scv = NAN;
	aims.lag1 = -0.5; /* modulated Poisson arrivals are never correlated negatively */
	ok_int(mmpp2_fit(&fit, &aims, &err), -ERANGE);
	ok(strstr(err.line, "and not their correlation") != NULL);
	aims.lag1 = NAN;
	ok_int(mmpp2_fit(&fit, &aims, &err), 0);
	ok_ratio(fit.process.rate_per_s[1] + 1, 1, 1e-9); /* the interrupted process */
	idc[0] = 0.8;
	idc[1] = 1;
	ok_int(mmpp2_fit(&fit, &aims, &err), -EINVAL);
	ok_str(err.line, "arrivals: no index of dispersion is above 1: there are no bursts");
	aims.rate_per_s = 0;
	ok_int(mmpp2_fit(&fit, &aims, &err), -EINVAL);
}

/*
 * MMPP(2)/M/1 by matrix geometry (Neuts, Matrix-Geometric Solutions in Stochastic Models, 1981, ch.
 * 3): R is the least solution of A0 + R A1 + R^2 A2 = 0 with A0 = Lambda, A1 = Q - Lambda - mu I,
 * A2 = mu I; pi_n = pi_0 R^n, and pi_0 (I - R)^-1 is the law of the modulating chain. The mean is
 * pi_0 R (I - R)^-2 1.
 */
static double queue_mean(const struct mmpp2 *m, double mu)
{
	const double *l = m->rate_per_s, *q = m->leave_per_s;
	double a1[2][2] = { { -q[0] - l[0] - mu, q[0] }, { q[1], -q[1] - l[1] - mu } };
	double det = a1[0][0] * a1[1][1] - a1[0][1] * a1[1][0];
	double inverse[2][2] = { { -a1[1][1] / det, a1[0][1] / det },
				 { a1[1][0] / det, -a1[0][0] / det } }; /* (-A1)^-1 */
	double r[2][2] = { { 0 } }, x[2], law[2] = { q[1] / (q[0] + q[1]), q[0] / (q[0] + q[1]) };
	double i_r[2][2], sum[2], d;

	for (int round = 0; round < NR_ROUNDS; round++) { /* R <- (A0 + R^2 A2) (-A1)^-1 */
		double s[2][2];

		for (int i = 0; i < 2; i++)
			for (int k = 0; k < 2; k++)
				s[i][k] = (i == k ? l[i] : 0) +
					  mu * (r[i][0] * r[0][k] + r[i][1] * r[1][k]);
		for (int i = 0; i < 2; i++)
			for (int k = 0; k < 2; k++)
				r[i][k] = s[i][0] * inverse[0][k] + s[i][1] * inverse[1][k];
	}
	/* pi_0 (I - R)^-1 = law, so that the mean is law R (I - R)^-1 1. */
	i_r[0][0] = 1 - r[0][0];
	i_r[0][1] = -r[0][1];
	i_r[1][0] = -r[1][0];
	i_r[1][1] = 1 - r[1][1];
	d = i_r[0][0] * i_r[1][1] - i_r[0][1] * i_r[1][0];
	sum[0] = (i_r[1][1] - i_r[0][1]) / d;
	sum[1] = (i_r[0][0] - i_r[1][0]) / d;
	for (int k = 0; k < 2; k++)
		x[k] = law[0] * r[0][k] + law[1] * r[1][k];
	return x[0] * sum[0] + x[1] * sum[1];
}

/* A process that never changes its rate is Poisson: M/M/1. */
static void matrix_geometry_knows_mm1(void)
{
	const struct mmpp2 poisson = { { 0.8, 0.8 }, { 1, 1 } };

	ok_ratio(queue_mean(&poisson, 1), 4, 1e-9);
}

/*
 * Lindley's recursion over sampled arrivals and exponential services; in system = rate x sojourn
 * (Little).
 */
static void the_queue_of_samples_is_that_of_matrix_geometry(void)
{
	const struct mmpp2 *m = &known[2];
	double mu = mmpp2_rate_per_s(m) / 0.7, wait = 0, sojourns = 0, exact = queue_mean(m, mu);
	size_t nr = 8000000;
	uint32_t phase = 0;
	struct rng rng;
	struct dist d;

	rng_seed(&rng, 9);
	mmpp2_dist(&d, m);
	for (size_t i = 0; i < nr; i++) {
		double service = rng_exponential(&rng) / mu;

		sojourns += wait + service;
		wait = fmax(0, wait + service - dist_sample(&d, &rng, &phase));
	}
	tap_note("in the system: %.4f of samples, %.4f exactly",
		 mmpp2_rate_per_s(m) * sojourns / (double)nr, exact);
	ok_ratio(mmpp2_rate_per_s(m) * sojourns / (double)nr, exact, 0.03);
	ok(exact > 1.5 * 0.7 / 0.3); /* bursts make it much longer than Poisson arrivals do */
	dist_release(&d);
}

static const struct tap_test tests[] = {
	{ "moments are those of the process as a MAP", moments_are_those_of_the_map },
	{ "dispersion and correlation are those of samples", dispersion_is_that_of_samples },
	{ "fits give known processes back", fits_give_the_process_back },
	{ "moments that cannot be met are named", what_cannot_be_met_is_named },
	{ "matrix geometry knows M/M/1", matrix_geometry_knows_mm1 },
	{ "the queue of samples is that of matrix geometry",
	  the_queue_of_samples_is_that_of_matrix_geometry },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
