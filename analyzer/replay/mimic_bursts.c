// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/mimic_bursts.h"

#include <math.h>

#define NR_TIMES 400 /* values of k tried, evenly in the logarithm */
#define BEYOND	 30  /* ... to so many times beyond the windows on either side */

/* (1 - (1 - exp(-x)) / x), without cancellation for small x. */
static double mimic_bursts_rise(double x)
{
	return x < 1e-5 ? x / 2 : 1 + expm1(-x) / x;
}

static bool is_usable(const struct idc_point *p)
{
	return p->window_s > 0 && isfinite(p->idc) && p->idc > 1;
}

/* The best A for a k, and the squared relative error that it leaves. */
static double mimic_bursts_amplitude(const struct idc_point *idc, size_t nr, double k,
				     double *error)
{
	double up = 0, down = 0, a;

	for (size_t i = 0; i < nr; i++) {
		double share;

		if (!is_usable(&idc[i]))
			continue;
		share = mimic_bursts_rise(k * idc[i].window_s) / (idc[i].idc - 1);
		up += share;
		down += share * share;
	}
	a = up / down;
	*error = 0;
	for (size_t i = 0; i < nr; i++)
		if (is_usable(&idc[i]))
			*error += pow(
				a * mimic_bursts_rise(k * idc[i].window_s) / (idc[i].idc - 1) - 1,
				2);
	return a;
}

bool mimic_bursts_fit(struct mimic_bursts *b, const struct idc_point *idc, size_t nr,
		      double rate_per_s)
{
	double least_s = INFINITY, most_s = 0, best = INFINITY, k = 0, a = 0, on;

	for (size_t i = 0; i < nr; i++)
		if (is_usable(&idc[i])) {
			least_s = fmin(least_s, idc[i].window_s);
			most_s = fmax(most_s, idc[i].window_s);
		}
	if (!(most_s > 0) || !(rate_per_s > 0))
		return false;
	for (int i = 0; i <= NR_TIMES; i++) {
		double try = pow(BEYOND * BEYOND * most_s / least_s, (double)i / NR_TIMES) /
			     (BEYOND * most_s);
		double error, amount = mimic_bursts_amplitude(idc, nr, try, &error);

		/* of equal ones the shortest bursts: nothing says that they last longer */
		if (error <= best * (1 + 1e-9)) {
			best = error;
			k = try;
			a = amount;
		}
	}
	on = 1 / (1 + a * k / (2 * rate_per_s)); /* share of the time */
	b->on_rate_per_s = rate_per_s / on;
	b->on_s = 1 / (k * (1 - on));
	b->off_s = 1 / (k * on);
	return true;
}

double mimic_bursts_rate(const struct mimic_bursts *b)
{
	return b->on_rate_per_s * b->on_s / (b->on_s + b->off_s);
}

double mimic_bursts_idc(const struct mimic_bursts *b, double window_s)
{
	double k = 1 / b->on_s + 1 / b->off_s, cycle = b->on_s + b->off_s;

	return 1 + 2 * mimic_bursts_rate(b) * b->off_s * b->off_s / cycle *
			   mimic_bursts_rise(k * window_s);
}

static double mimic_bursts_exponential(struct rng *rng, double mean)
{
	return -mean * log(rng_open(rng));
}

void mimic_arrivals_begin(struct mimic_arrivals *a, const struct mimic_bursts *b, struct rng rng)
{
	a->bursts = *b;
	a->rng = rng;
	a->at_s = 0;
	if (rng_uniform(&a->rng) * (b->on_s + b->off_s) >= b->on_s)
		a->at_s = mimic_bursts_exponential(&a->rng, b->off_s);
	a->on_until_s = a->at_s + mimic_bursts_exponential(&a->rng, b->on_s);
}

double mimic_arrivals_next(struct mimic_arrivals *a)
{
	const struct mimic_bursts *b = &a->bursts;

	/* Without memory: what was left of the time to the next arrival is drawn anew. */
	for (;;) {
		double next = a->at_s + mimic_bursts_exponential(&a->rng, 1 / b->on_rate_per_s);

		if (next <= a->on_until_s) {
			a->at_s = next;
			return next;
		}
		a->at_s = a->on_until_s + mimic_bursts_exponential(&a->rng, b->off_s);
		a->on_until_s = a->at_s + mimic_bursts_exponential(&a->rng, b->on_s);
	}
}
