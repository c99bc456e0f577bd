// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/num/mmpp2.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/text/word_list.h"

#define NR_TIMES   400	/* values of k that are tried, equally spaced in the logarithm */
#define BEYOND	   30	/* ... up to this factor beyond the windows on either side */
#define NR_SHARES  2000 /* values of p / (1 - p) that are tried, equally spaced in the logarithm */
#define LEAST_ODDS 1e-6 /* the smallest of them relative to the largest */
#define BISECTIONS 60

/* Computes 1 - (1 - exp(-x)) / x without cancellation for small x. */
static double mmpp2_rise(double x)
{
	return x < 1e-5 ? x / 2 : 1 + expm1(-x) / x;
}

double mmpp2_rate_per_s(const struct mmpp2 *m)
{
	return (m->rate_per_s[0] * m->leave_per_s[1] + m->rate_per_s[1] * m->leave_per_s[0]) /
	       (m->leave_per_s[0] + m->leave_per_s[1]);
}

double mmpp2_idc(const struct mmpp2 *m, double window_s)
{
	double k = m->leave_per_s[0] + m->leave_per_s[1], p = m->leave_per_s[1] / k;
	double variance = pow(m->rate_per_s[0] - m->rate_per_s[1], 2) * p * (1 - p);

	return 1 + 2 * variance / (k * mmpp2_rate_per_s(m)) * mmpp2_rise(k * window_s);
}

/*
 * This struct holds the distribution of the state right after an arrival, and (-D0)^-1 of the two
 * states.
 */
struct mmpp2_embedded {
	double phi[2], inverse[2][2];
};

static struct mmpp2_embedded mmpp2_embed(const struct mmpp2 *m)
{
	const double *l = m->rate_per_s, *r = m->leave_per_s;
	double det = l[0] * l[1] + l[0] * r[1] + l[1] * r[0];
	double weight[2] = { l[0] * r[1], l[1] * r[0] };
	struct mmpp2_embedded e = { .inverse = { { (l[1] + r[1]) / det, r[0] / det },
						 { r[1] / det, (l[0] + r[0]) / det } } };

	for (int i = 0; i < 2; i++)
		e.phi[i] = weight[i] / (weight[0] + weight[1]);
	return e;
}

/* Computes x <- (-D0)^-1 x. */
static void mmpp2_apply(const struct mmpp2_embedded *e, double x[2])
{
	double a = x[0], b = x[1];

	x[0] = e->inverse[0][0] * a + e->inverse[0][1] * b;
	x[1] = e->inverse[1][0] * a + e->inverse[1][1] * b;
}

/*
 * E[X^2] is 2 phi (-D0)^-2 1 (Neuts, A Versatile Markovian Point Process, Journal of Applied
 * Probability 16, 1979).
 */
static double mmpp2_second(const struct mmpp2_embedded *e)
{
	double x[2] = { 1, 1 };

	mmpp2_apply(e, x);
	mmpp2_apply(e, x);
	return 2 * (e->phi[0] * x[0] + e->phi[1] * x[1]);
}

double mmpp2_scv(const struct mmpp2 *m)
{
	const struct mmpp2_embedded e = mmpp2_embed(m);
	double rate = mmpp2_rate_per_s(m);

	return mmpp2_second(&e) * rate * rate - 1;
}

/* E[X Y] is phi (-D0)^-2 D1 (-D0)^-1 1 for neighbours X and Y. */
double mmpp2_lag1(const struct mmpp2 *m)
{
	const struct mmpp2_embedded e = mmpp2_embed(m);
	double x[2] = { 1, 1 }, mean = 1 / mmpp2_rate_per_s(m);
	double variance = mmpp2_second(&e) - mean * mean;

	mmpp2_apply(&e, x);
	for (int i = 0; i < 2; i++)
		x[i] *= m->rate_per_s[i];
	mmpp2_apply(&e, x);
	mmpp2_apply(&e, x);
	return (e.phi[0] * x[0] + e.phi[1] * x[1] - mean * mean) / variance;
}

static bool mmpp2_usable(const struct mmpp2_aims *a, size_t i)
{
	return a->window_s[i] > 0 && isfinite(a->idc[i]) && a->idc[i] > 1;
}

/*
 * Finds the best A for a given k by least squares of the relative error of I(t) - 1, and that
 * error.
 */
static double mmpp2_amplitude(const struct mmpp2_aims *a, double k, double *error)
{
	double up = 0, down = 0, amplitude;

	for (size_t i = 0; i < a->nr; i++) {
		double share;

		if (!mmpp2_usable(a, i))
			continue;
		share = mmpp2_rise(k * a->window_s[i]) / (a->idc[i] - 1);
		up += share;
		down += share * share;
	}
	amplitude = up / down;
	*error = 0;
	for (size_t i = 0; i < a->nr; i++)
		if (mmpp2_usable(a, i))
			*error += pow(amplitude * mmpp2_rise(k * a->window_s[i]) / (a->idc[i] - 1) -
					      1,
				      2);
	return amplitude;
}

/*
 * Searches k by golden section between its neighbours on the grid, where the error has one minimum.
 */
static void mmpp2_refine(const struct mmpp2_aims *a, double step, double *k, double *amplitude)
{
	const double golden = (sqrt(5) - 1) / 2;
	double low = log(*k / step), high = log(*k * step), before, after;

	mmpp2_amplitude(a, *k, &before);
	for (int i = 0; i < BISECTIONS; i++) {
		double left = high - golden * (high - low), right = low + golden * (high - low);
		double at_left, at_right;

		mmpp2_amplitude(a, exp(left), &at_left);
		mmpp2_amplitude(a, exp(right), &at_right);
		if (at_left < at_right)
			high = right;
		else
			low = left;
	}
	mmpp2_amplitude(a, exp((low + high) / 2), &after);
	if (after < before * (1 - 1e-9))
		*k = exp((low + high) / 2);
	*amplitude = mmpp2_amplitude(a, *k, &after);
}

/* Fits k and A to the dispersion. Returns -EINVAL where no dispersion is above 1. */
static int mmpp2_fit_dispersion(const struct mmpp2_aims *a, double *k, double *amplitude)
{
	double least_s = INFINITY, most_s = 0, best = INFINITY, span;

	for (size_t i = 0; i < a->nr; i++)
		if (mmpp2_usable(a, i)) {
			least_s = fmin(least_s, a->window_s[i]);
			most_s = fmax(most_s, a->window_s[i]);
		}
	if (!(most_s > 0))
		return -EINVAL;
	span = BEYOND * BEYOND * most_s / least_s;
	for (int i = 0; i <= NR_TIMES; i++) {
		double try = pow(span, (double)i / NR_TIMES) / (BEYOND * most_s);
		double error, amount = mmpp2_amplitude(a, try, &error);

		/*
		 * Of equally good values the shortest bursts are taken, because nothing shows that
		 * they last longer.
		 */
		if (error <= best * (1 + 1e-9)) {
			best = error;
			*k = try;
			*amplitude = amount;
		}
	}
	mmpp2_refine(a, pow(span, 1.0 / NR_TIMES), k, amplitude);
	return 0;
}

/*
 * Makes the process with this rate, k and variance of the rate that is in state 0 for p = odds / (1
 * + odds) of the time.
 */
static struct mmpp2 mmpp2_of_odds(double rate, double k, double variance, double odds)
{
	double p = odds / (1 + odds), deviation = sqrt(variance);

	return (struct mmpp2){ .rate_per_s = { rate + deviation / sqrt(odds),
					       fmax(0, rate - deviation * sqrt(odds)) },
			       .leave_per_s = { k * (1 - p), k * p } };
}

/*
 * Finds the odds whose process has the wanted variation, or comes nearest to it: the first crossing
 * between tried odds, starting from the interrupted process, refined by bisection.
 */
static double mmpp2_find_odds(double rate, double k, double variance, double scv)
{
	double most = rate * rate / variance, best = most, nearest = INFINITY, before = NAN,
	       above = most;

	for (int i = 0; i <= NR_SHARES && !isnan(scv); i++) {
		double odds = most * pow(LEAST_ODDS, (double)i / NR_SHARES);
		struct mmpp2 m = mmpp2_of_odds(rate, k, variance, odds);
		double off = mmpp2_scv(&m) - scv;

		if (fabs(off) < nearest) {
			nearest = fabs(off);
			best = odds;
		}
		if (before * off < 0) {
			double low = odds, high = above;

			for (int b = 0; b < BISECTIONS; b++) {
				best = sqrt(low * high);
				m = mmpp2_of_odds(rate, k, variance, best);
				if ((mmpp2_scv(&m) - scv) * off > 0)
					low = best;
				else
					high = best;
			}
			return best;
		}
		before = off;
		above = odds;
	}
	return best;
}

/* Writes the names of the moments: "rate, dispersion". */
static void mmpp2_names(unsigned int moments, char *out, size_t bytes)
{
	static const char *const names[] = { "the rate", "the dispersion of counts",
					     "the variation of times between arrivals",
					     "their correlation" };

	word_list_flags(moments, names, sizeof(names) / sizeof(*names), out, bytes);
}

static void mmpp2_judge(struct mmpp2_fit *f, const struct mmpp2_aims *a)
{
	f->scv = mmpp2_scv(&f->process);
	f->lag1 = mmpp2_lag1(&f->process);
	f->idc_error = 0;
	for (size_t i = 0; i < a->nr; i++)
		if (mmpp2_usable(a, i))
			f->idc_error =
				fmax(f->idc_error,
				     fabs(mmpp2_idc(&f->process, a->window_s[i]) / a->idc[i] - 1));
	f->given = MMPP2_RATE | MMPP2_IDC;
	f->given |= isnan(a->scv) ? 0 : MMPP2_SCV;
	f->given |= isnan(a->lag1) ? 0 : MMPP2_LAG1;
	f->met = MMPP2_RATE;
	f->met |= f->idc_error <= MMPP2_IDC_ERROR ? MMPP2_IDC : 0;
	f->met |= fabs(f->scv - a->scv) <= MMPP2_SCV_ERROR * a->scv ? MMPP2_SCV : 0;
	f->met |= fabs(f->lag1 - a->lag1) <= MMPP2_LAG1_ERROR ? MMPP2_LAG1 : 0;
}

int mmpp2_fit(struct mmpp2_fit *out, const struct mmpp2_aims *aims, struct err *err)
{
	double k = 0, amplitude = 0, variance;
	char met[128], missed[128];

	memset(out, 0, sizeof(*out));
	if (!(aims->rate_per_s > 0) || !isfinite(aims->rate_per_s))
		return err_set(err, EINVAL, "arrivals: expected a rate above 0, got %g",
			       aims->rate_per_s);
	if (mmpp2_fit_dispersion(aims, &k, &amplitude))
		return err_set(err, EINVAL,
			       "arrivals: no index of dispersion is above 1: there are no bursts");
	variance = amplitude * k * aims->rate_per_s / 2;
	out->process = mmpp2_of_odds(aims->rate_per_s, k, variance,
				     mmpp2_find_odds(aims->rate_per_s, k, variance, aims->scv));
	mmpp2_judge(out, aims);
	if (out->met == out->given)
		return 0;
	mmpp2_names(out->met, met, sizeof(met));
	mmpp2_names(out->given & ~out->met, missed, sizeof(missed));
	return err_set(
		err, ERANGE,
		"arrivals: a process of two states meets %s, and not %s (squared coefficient of "
		"variation %.3g, correlation %.3g, dispersion off by up to %.0f %%)",
		met, missed, out->scv, out->lag1, 100 * out->idc_error);
}
