// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/predict/interactive.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAW_ROUNDS 200
#define LAW_ENOUGH 1e-12
#define BISECTIONS 60
/* tolerated rounding error of a sum of clients: 49 times 1 / 49 is less than one */
#define ROUNDING   1e-9
#define RARE	   1e-9 /* states that a quantile does without */
#define SHAPES	   120	/* shapes of gamma distributions, evenly spaced by logarithm */
#define SHAPE_LOW  0.05
#define SHAPE_HIGH 1e4

void interactive_release(struct interactive *a)
{
	free(a->finds);
	memset(a, 0, sizeof(*a));
}

/*
 * Returns the time with j busy clients; beyond the measured numbers it grows in proportion to the
 * clients.
 */
static double interactive_at(const double *time_s, size_t nr_busy, size_t j)
{
	return j <= nr_busy ? time_s[j - 1] : time_s[nr_busy - 1] * (double)j / (double)nr_busy;
}

static int make_room(struct interactive *a, size_t nr)
{
	double *grown;

	if (nr > a->room) {
		grown = realloc(a->finds, nr * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		a->finds = grown;
		a->room = nr;
	}
	a->nr = nr;
	return 0;
}

/* Computes f(j), the states that N - 1 clients leave behind, first as logarithms. */
static void interactive_find(struct interactive *a, const double *busy_s, size_t nr_busy,
			     double clients, double think_s)
{
	double top = 0, sum = 0;

	a->finds[0] = 0;
	for (size_t j = 1; j < a->nr; j++) {
		/* N - 1 - (j - 1) of the other clients think */
		double others = clients - (double)j;

		a->finds[j] = a->finds[j - 1] + log(others / think_s *
						    interactive_at(busy_s, nr_busy, j) / (double)j);
		top = fmax(top, a->finds[j]);
	}
	for (size_t j = 0; j < a->nr; j++)
		sum += a->finds[j] = exp(a->finds[j] - top);
	for (size_t j = 0; j < a->nr; j++)
		a->finds[j] /= sum;
}

/* Returns R(n) by interpolation between whole numbers. */
static double interactive_between(const double *busy_s, size_t nr_busy, double n)
{
	size_t j = (size_t)n;
	double low = interactive_at(busy_s, nr_busy, j);

	return low + (n - (double)j) * (interactive_at(busy_s, nr_busy, j + 1) - low);
}

/*
 * Solves n = N R(n) / (R(n) + Z), at least 1: the requests under way if their number never varies.
 */
static double interactive_steady(const double *busy_s, size_t nr_busy, double clients,
				 double think_s)
{
	double low = 1, high = clients;

	for (int k = 0; k < BISECTIONS; k++) {
		double n = (low + high) / 2, r = interactive_between(busy_s, nr_busy, n);

		if (clients * r > n * (r + think_s))
			low = n;
		else
			high = n;
	}
	return low;
}

/*
 * Shifts the weight `share` from the probabilities f to the constant number n of requests under
 * way.
 */
static void interactive_blend(struct interactive *a, double n, double share)
{
	size_t j = (size_t)n;

	for (size_t k = 0; k < a->nr; k++)
		a->finds[k] *= 1 - share;
	a->finds[j - 1] += share * (1 - (n - (double)j));
	if (j < a->nr)
		a->finds[j] += share * (n - (double)j);
}

int interactive_solve(struct interactive *a, const double *busy_s, size_t nr_busy, double scv,
		      double clients, double think_s)
{
	if (!(scv >= 0 && scv <= 1) || !nr_busy ||
	    !(clients >= 1 && clients <= INTERACTIVE_CLIENTS_MAX) || !(think_s >= 0) ||
	    isinf(think_s))
		return -EINVAL;
	for (size_t j = 0; j < nr_busy; j++)
		if (!(busy_s[j] > 0) || isinf(busy_s[j]))
			return -EINVAL;
	if (make_room(a, (size_t)ceil(clients)))
		return -ENOMEM;
	if (think_s > 0) {
		interactive_find(a, busy_s, nr_busy, clients, think_s);
		if (scv < 1)
			interactive_blend(a, interactive_steady(busy_s, nr_busy, clients, think_s),
					  (1 - scv) / 2);
	} else {
		memset(a->finds, 0, a->nr * sizeof(*a->finds));
		a->finds[a->nr - 1] = 1;
	}
	a->response_s = interactive_mean(a, busy_s, nr_busy);
	a->rate_per_s = clients / (a->response_s + think_s);
	a->in_flight = a->rate_per_s * a->response_s;
	a->beyond = 0;
	for (size_t j = nr_busy; j < a->nr; j++)
		a->beyond += a->finds[j];
	return 0;
}

/*
 * Returns the mean think time of the groups, weighted by their rates, if all wait for response_s.
 */
static double mean_think(const double *clients, const double *think_s, size_t nr, double response_s)
{
	double rate = 0, thinking = 0;

	for (size_t i = 0; i < nr; i++) {
		double x = clients[i] / (response_s + think_s[i]);

		rate += x;
		thinking += x * think_s[i];
	}
	return thinking / rate;
}

/* Accepts values that leave the range by rounding only. */
static double in_range(double clients)
{
	if (clients < 1 && clients >= 1 - ROUNDING)
		return 1;
	if (clients > INTERACTIVE_CLIENTS_MAX &&
	    clients <= INTERACTIVE_CLIENTS_MAX * (1 + ROUNDING))
		return INTERACTIVE_CLIENTS_MAX;
	return clients;
}

int interactive_solve_groups(struct interactive *a, const double *busy_s, size_t nr_busy,
			     double scv, const double *clients, const double *think_s, size_t nr)
{
	double all = 0, z, before;
	int ret;

	for (size_t i = 0; i < nr; i++) {
		if (!(clients[i] > 0) || !(think_s[i] >= 0))
			return -EINVAL;
		all += clients[i];
	}
	if (!nr || !nr_busy)
		return -EINVAL;
	all = in_range(all);
	z = mean_think(clients, think_s, nr, busy_s[0]);
	for (int round = 0;; round++) {
		ret = interactive_solve(a, busy_s, nr_busy, scv, all, z);
		before = z;
		z = mean_think(clients, think_s, nr, ret ? busy_s[0] : a->response_s);
		if (ret || round == LAW_ROUNDS || fabs(z - before) <= LAW_ENOUGH * z)
			return ret;
	}
}

double interactive_mean(const struct interactive *a, const double *time_s, size_t nr_busy)
{
	double sum = 0;

	for (size_t j = 0; j < a->nr; j++)
		sum += a->finds[j] * interactive_at(time_s, nr_busy, j + 1);
	return sum;
}

/* Returns the p quantile of a gamma distribution of that shape, over its mean. */
static double gamma_ratio(double shape, double p)
{
	double low = 0, high = 1;

	while (gsl_cdf_gamma_P(high, shape, 1 / shape) < p)
		high *= 2;
	for (int k = 0; k < BISECTIONS; k++) {
		double mid = (low + high) / 2;

		if (gsl_cdf_gamma_P(mid, shape, 1 / shape) < p)
			low = mid;
		else
			high = mid;
	}
	return high;
}

struct shapes {
	double shape[SHAPES], ratio[SHAPES]; /* sorted, the least variable first */
};

static void interactive_tabulate(struct shapes *s, double p)
{
	for (int k = 0; k < SHAPES; k++) {
		s->shape[k] = SHAPE_HIGH * pow(SHAPE_LOW / SHAPE_HIGH, (double)k / (SHAPES - 1));
		s->ratio[k] = gamma_ratio(s->shape[k], p);
	}
}

/*
 * Returns the least variable shape with that ratio, interpolated in the table; else the nearest
 * shape.
 */
static double shape_of(const struct shapes *s, double ratio)
{
	size_t nearest = 0;

	for (size_t k = 1; k < SHAPES; k++) {
		double a = s->ratio[k - 1], b = s->ratio[k];

		if ((a <= ratio && ratio <= b) || (b <= ratio && ratio <= a))
			return s->shape[k - 1] * pow(s->shape[k] / s->shape[k - 1],
						     a == b ? 0 : (ratio - a) / (b - a));
		if (fabs(b - ratio) < fabs(s->ratio[nearest] - ratio))
			nearest = k;
	}
	return s->shape[nearest];
}

void interactive_gammas(const double *mean_s, const double *quantile_s, size_t nr_busy, double p,
			struct interactive_gamma *out)
{
	struct shapes shapes;

	interactive_tabulate(&shapes, p);
	for (size_t j = 0; j < nr_busy; j++) {
		out[j].shape = shape_of(&shapes, quantile_s[j] / mean_s[j]);
		out[j].scale_s = quantile_s[j] / (gamma_ratio(out[j].shape, p) * out[j].shape);
	}
}

static double interactive_below(const struct interactive *a, const struct interactive_gamma *g,
				size_t nr_busy, double t)
{
	double sum = 0;

	for (size_t j = 1; j <= a->nr; j++) {
		const struct interactive_gamma *of = &g[(j <= nr_busy ? j : nr_busy) - 1];
		double longer = j <= nr_busy ? 1 : (double)j / (double)nr_busy;

		if (a->finds[j - 1] >= RARE)
			sum += a->finds[j - 1] *
			       gsl_cdf_gamma_P(t, of->shape, of->scale_s * longer);
	}
	return sum;
}

double interactive_quantile(const struct interactive *a, const struct interactive_gamma *g,
			    size_t nr_busy, double p)
{
	double low = 0, high = g[0].scale_s, least = p;

	for (size_t j = 0; j < a->nr; j++) /* Rare states are left out, in the sum as well. */
		least -= a->finds[j] < RARE ? p * a->finds[j] : 0;
	while (interactive_below(a, g, nr_busy, high) < least)
		high *= 2;
	for (int k = 0; k < BISECTIONS; k++) {
		double mid = (low + high) / 2;

		if (interactive_below(a, g, nr_busy, mid) < least)
			low = mid;
		else
			high = mid;
	}
	return high;
}
