// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/dist.h"

/*
 * Sums of probabilities, and rows of rates, may differ from their exact value by this much, because
 * files have decimals.
 */
#define SUM_TOLERANCE 1e-6

const char *dist_name(enum dist_kind kind)
{
	static const char *const names[] = {
		"none",
		"deterministic",
		"exponential",
		"erlang",
		"gamma",
		"hyperexponential",
		"lognormal",
		"normal",
		"uniform",
		"weibull",
		"beta",
		"logarithmic",
		"cut_normal",
		"hyperbolic",
		"exponential_power",
		"student_t",
		"von_mises",
		"breit_wigner",
		"breit_wigner_mean_square",
		"values",
		"histogram",
		"map",
	};

	return names[kind];
}

void dist_release(struct dist *d)
{
	free(d->x);
	free(d->cumulative);
	*d = (struct dist){ 0 };
}

/* Moments that overflow are as impossible as negative ones. */
int dist_finish(struct dist *d, struct err *err)
{
	const char *name = dist_name(d->kind);

	if (isfinite(d->mean) && d->mean > 0 && isfinite(d->variance) && d->variance >= 0)
		return 0;
	dist_release(d);
	return err_set(err, EINVAL,
		       "%s: expected a mean above 0 and a variance at or above 0, both finite",
		       name);
}

int dist_expect_above_0(double value, const char *what, struct err *err)
{
	if (isfinite(value) && value > 0)
		return 0;
	return err_set(err, EINVAL, "%s: expected a number above 0, got %g", what, value);
}

int dist_deterministic(struct dist *d, double value, struct err *err)
{
	*d = (struct dist){ 0 };
	if (dist_expect_above_0(value, "deterministic: value", err))
		return -EINVAL;
	*d = (struct dist){ .kind = DIST_DETERMINISTIC, .mean = value };
	return dist_finish(d, err);
}

int dist_exponential(struct dist *d, double mean, struct err *err)
{
	*d = (struct dist){ 0 };
	if (dist_expect_above_0(mean, "exponential: mean", err))
		return -EINVAL;
	*d = (struct dist){ .kind = DIST_EXPONENTIAL, .mean = mean, .variance = mean * mean };
	return dist_finish(d, err);
}

/* The parameters are a: number of phases, b: mean of one phase. */
int dist_erlang(struct dist *d, double nr_phases, double mean, struct err *err)
{
	*d = (struct dist){ 0 };
	if (!(nr_phases >= 1 && nr_phases <= 1e9) || nr_phases != floor(nr_phases))
		return err_set(err, EINVAL, "erlang: k: expected 1, 2, 3, ..., got %g", nr_phases);
	if (dist_expect_above_0(mean, "erlang: mean", err))
		return -EINVAL;
	*d = (struct dist){ .kind = DIST_ERLANG,
			    .a = nr_phases,
			    .b = mean / nr_phases,
			    .mean = mean,
			    .variance = mean * mean / nr_phases };
	return dist_finish(d, err);
}

/* The parameters are a: shape, b: scale. */
int dist_gamma(struct dist *d, double shape, double scale, struct err *err)
{
	*d = (struct dist){ 0 };
	if (dist_expect_above_0(shape, "gamma: shape", err) ||
	    dist_expect_above_0(scale, "gamma: scale", err))
		return -EINVAL;
	*d = (struct dist){ .kind = DIST_GAMMA,
			    .a = shape,
			    .b = scale,
			    .mean = shape * scale,
			    .variance = shape * scale * scale };
	return dist_finish(d, err);
}

static int dist_allocate(struct dist *d, size_t nr_x, size_t nr_cumulative, struct err *err)
{
	d->x = calloc(nr_x, sizeof(*d->x));
	d->cumulative = calloc(nr_cumulative, sizeof(*d->cumulative));
	if (d->x && d->cumulative)
		return 0;
	dist_release(d);
	return err_set(err, ENOMEM, "out of memory");
}

/* Writes the weights to d->cumulative. Returns -EINVAL where one is negative or all are 0. */
static int dist_accumulate(struct dist *d, const double *weights, size_t nr, struct err *err)
{
	double sum = 0, at = 0;

	for (size_t i = 0; i < nr; i++) {
		double w = weights ? weights[i] : 1;

		if (!isfinite(w) || w < 0)
			return err_set(err, EINVAL,
				       "%s: weight %zu: expected a number at or above 0, got %g",
				       dist_name(d->kind), i + 1, w);
		sum += w;
	}
	if (!(sum > 0) || !isfinite(sum))
		return err_set(err, EINVAL, "%s: the weights sum to %g: expected more than 0",
			       dist_name(d->kind), sum);
	for (size_t i = 0; i < nr; i++) {
		at += (weights ? weights[i] : 1) / sum;
		d->cumulative[i] = at;
	}
	d->cumulative[nr - 1] = 1;
	return 0;
}

/* x holds the means of the branches. */
int dist_hyperexponential(struct dist *d, const double *probabilities, const double *means,
			  size_t nr, struct err *err)
{
	double sum = 0, second = 0;

	*d = (struct dist){ 0 };
	if (nr < 1 || nr > DIST_MAX_PHASES)
		return err_set(err, EINVAL, "hyperexponential: expected 1 to %d branches, got %zu",
			       DIST_MAX_PHASES, nr);
	for (size_t i = 0; i < nr; i++) {
		sum += probabilities[i];
		if (dist_expect_above_0(means[i], "hyperexponential: means", err))
			return -EINVAL;
	}
	if (!(fabs(sum - 1) <= SUM_TOLERANCE))
		return err_set(err, EINVAL,
			       "hyperexponential: the probabilities sum to %g: expected 1", sum);
	*d = (struct dist){ .kind = DIST_HYPEREXPONENTIAL, .nr = nr };
	if (dist_allocate(d, nr, nr, err))
		return -ENOMEM;
	memcpy(d->x, means, nr * sizeof(*means));
	if (dist_accumulate(d, probabilities, nr, err)) {
		dist_release(d);
		return -EINVAL;
	}
	for (size_t i = 0; i < nr; i++) {
		d->mean += probabilities[i] / sum * means[i];
		second += 2 * probabilities[i] / sum * means[i] * means[i];
	}
	d->variance = fmax(0, second - d->mean * d->mean);
	return dist_finish(d, err);
}

int dist_hyperexponential_fit(struct dist *d, double mean, double scv, struct err *err)
{
	double p, probabilities[2], means[2];

	*d = (struct dist){ 0 };
	if (!(scv >= 1) || !isfinite(scv))
		return err_set(err, EINVAL, "hyperexponential: scv: expected 1 or more, got %g",
			       scv);
	/* The means are balanced: p1 * m1 = p2 * m2 (Tijms, Stochastic Models, 1994). */
	p = 0.5 * (1 + sqrt((scv - 1) / (scv + 1)));
	probabilities[0] = p;
	probabilities[1] = 1 - p;
	means[0] = mean / (2 * p);
	means[1] = mean / (2 * (1 - p));
	return dist_hyperexponential(d, probabilities, means, 2, err);
}

/* The parameters are a: mu, b: sigma. */
int dist_lognormal(struct dist *d, double mu, double sigma, struct err *err)
{
	*d = (struct dist){ 0 };
	if (dist_expect_above_0(sigma, "lognormal: sigma", err))
		return -EINVAL;
	*d = (struct dist){ .kind = DIST_LOGNORMAL, .a = mu, .b = sigma };
	d->mean = exp(mu + sigma * sigma / 2);
	d->variance = expm1(sigma * sigma) * d->mean * d->mean;
	return dist_finish(d, err);
}

/* The parameters are a: mean, b: sd, both before the truncation. */
int dist_normal(struct dist *d, double mean, double sd, struct err *err)
{
	double alpha, lambda;

	*d = (struct dist){ 0 };
	if (dist_expect_above_0(sd, "normal: sd", err) ||
	    dist_expect_above_0(mean, "normal: mean", err))
		return -EINVAL;
	alpha = -mean / sd;
	lambda = exp(-alpha * alpha / 2) / sqrt(2 * M_PI) / (0.5 * erfc(alpha / M_SQRT2));
	*d = (struct dist){ .kind = DIST_NORMAL, .a = mean, .b = sd };
	d->mean = mean + sd * lambda;
	d->variance = sd * sd * (1 + alpha * lambda - lambda * lambda);
	return dist_finish(d, err);
}

/* The parameters are a: min, b: max. */
int dist_uniform(struct dist *d, double min, double max, struct err *err)
{
	*d = (struct dist){ 0 };
	if (!(min >= 0 && max > min && isfinite(max)))
		return err_set(err, EINVAL, "uniform: expected 0 <= min < max, got %g and %g", min,
			       max);
	*d = (struct dist){ .kind = DIST_UNIFORM,
			    .a = min,
			    .b = max,
			    .mean = (min + max) / 2,
			    .variance = (max - min) * (max - min) / 12 };
	return dist_finish(d, err);
}

/* The parameters are a: 1 / shape, b: scale. */
int dist_weibull(struct dist *d, double shape, double scale, struct err *err)
{
	*d = (struct dist){ 0 };
	if (dist_expect_above_0(shape, "weibull: shape", err) ||
	    dist_expect_above_0(scale, "weibull: scale", err))
		return -EINVAL;
	*d = (struct dist){ .kind = DIST_WEIBULL, .a = 1 / shape, .b = scale };
	d->mean = scale * tgamma(1 + 1 / shape);
	d->variance = scale * scale * tgamma(1 + 2 / shape) - d->mean * d->mean;
	return dist_finish(d, err);
}

/* The parameters are a: alpha, b: beta, c: scale. */
int dist_beta(struct dist *d, double alpha, double beta, double scale, struct err *err)
{
	double sum = alpha + beta;

	*d = (struct dist){ 0 };
	if (dist_expect_above_0(alpha, "beta: alpha", err) ||
	    dist_expect_above_0(beta, "beta: beta", err) ||
	    dist_expect_above_0(scale, "beta: scale", err))
		return -EINVAL;
	*d = (struct dist){ .kind = DIST_BETA, .a = alpha, .b = beta, .c = scale };
	d->mean = scale * (alpha / sum);
	d->variance = scale * scale * (alpha / sum) * (beta / sum) / (sum + 1);
	return dist_finish(d, err);
}

int dist_chi_square(struct dist *d, double freedom, struct err *err)
{
	*d = (struct dist){ 0 };
	if (dist_expect_above_0(freedom, "chi_square: freedom", err))
		return -EINVAL;
	return dist_gamma(d, freedom / 2, 2, err);
}

/* The parameter is a: ln(1 - p). */
int dist_logarithmic(struct dist *d, double p, struct err *err)
{
	*d = (struct dist){ 0 };
	if (!(p > 0 && p < 1))
		return err_set(err, EINVAL, "logarithmic: p: expected 0 < p < 1, got %g", p);
	*d = (struct dist){ .kind = DIST_LOGARITHMIC, .a = log1p(-p) };
	d->mean = -p / ((1 - p) * d->a);
	d->variance = fmax(0, d->mean * (1 / (1 - p) - d->mean));
	return dist_finish(d, err);
}

static int expect_points(size_t nr, const char *what, struct err *err)
{
	if (nr >= 1 && nr <= DIST_MAX_POINTS)
		return 0;
	return err_set(err, EINVAL, "%s: expected 1 to %d points, got %zu", what, DIST_MAX_POINTS,
		       nr);
}

/* x holds the values. */
int dist_values(struct dist *d, const double *values, const double *weights, size_t nr,
		struct err *err)
{
	double second = 0, before = 0;

	*d = (struct dist){ 0 };
	if (expect_points(nr, "values", err))
		return -EINVAL;
	for (size_t i = 0; i < nr; i++)
		if (!isfinite(values[i]) || values[i] < 0)
			return err_set(err, EINVAL,
				       "values: value %zu: expected 0 or above, got %g", i + 1,
				       values[i]);
	*d = (struct dist){ .kind = DIST_VALUES, .nr = nr };
	if (dist_allocate(d, nr, nr, err))
		return -ENOMEM;
	memcpy(d->x, values, nr * sizeof(*values));
	if (dist_accumulate(d, weights, nr, err)) {
		dist_release(d);
		return -EINVAL;
	}
	for (size_t i = 0; i < nr; before = d->cumulative[i], i++)
		d->mean += (d->cumulative[i] - before) * values[i];
	before = 0;
	for (size_t i = 0; i < nr; before = d->cumulative[i], i++)
		second += (d->cumulative[i] - before) * pow(values[i] - d->mean, 2);
	d->variance = second;
	return dist_finish(d, err);
}

/* x holds the nr + 1 edges. */
int dist_histogram(struct dist *d, const double *edges, const double *counts, size_t nr,
		   struct err *err)
{
	double second = 0, before = 0;

	*d = (struct dist){ 0 };
	if (expect_points(nr, "histogram", err))
		return -EINVAL;
	for (size_t i = 0; i <= nr; i++)
		if (!isfinite(edges[i]) || edges[i] < 0 || (i && edges[i] <= edges[i - 1]))
			return err_set(
				err, EINVAL,
				"histogram: edge %zu: expected 0 or above and rising, got %g", i,
				edges[i]);
	*d = (struct dist){ .kind = DIST_HISTOGRAM, .nr = nr };
	if (dist_allocate(d, nr + 1, nr, err))
		return -ENOMEM;
	memcpy(d->x, edges, (nr + 1) * sizeof(*edges));
	if (dist_accumulate(d, counts, nr, err)) {
		dist_release(d);
		return -EINVAL;
	}
	for (size_t i = 0; i < nr; before = d->cumulative[i], i++) {
		double p = d->cumulative[i] - before, a = edges[i], b = edges[i + 1];

		d->mean += p * (a + b) / 2;
		second += p * (a * a + a * b + b * b) / 3;
	}
	d->variance = fmax(0, second - d->mean * d->mean);
	return dist_finish(d, err);
}

/* Returns the first index whose cumulative weight is above u. */
static size_t dist_find(const struct dist *d, double u)
{
	size_t low = 0, high = d->nr - 1;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (d->cumulative[mid] > u)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static double sample_histogram(const struct dist *d, struct rng *r)
{
	size_t i = dist_find(d, rng_uniform(r));

	return d->x[i] + (d->x[i + 1] - d->x[i]) * rng_uniform(r);
}

static double sample_normal(const struct dist *d, struct rng *r)
{
	double value;

	do
		value = d->a + d->b * rng_normal(r);
	while (value < 0);
	return value;
}

/*
 * x holds the total rate of each phase; cumulative has 2 nr entries per phase, first the moves
 * without an event, then those with one.
 */
static double sample_map(const struct dist *d, struct rng *r, uint32_t *phase)
{
	double time = 0;

	for (;;) {
		const double *row = d->cumulative + *phase * 2 * d->nr;
		double u = rng_uniform(r);
		size_t to = 0;

		time += rng_exponential(r) / d->x[*phase];
		while (to < 2 * d->nr - 1 && row[to] <= u)
			to++;
		*phase = (uint32_t)(to % d->nr);
		if (to >= d->nr)
			return time;
	}
}

/* Uses two gamma variates. Where both underflow, the limit is taken: one end or the other. */
static double sample_beta(const struct dist *d, struct rng *r)
{
	double x = rng_gamma(r, d->a), y = rng_gamma(r, d->b);

	if (!(x + y > 0))
		return rng_uniform(r) * (d->a + d->b) < d->a ? d->c : 0;
	return d->c * (x / (x + y));
}

/*
 * Draws the mean first and then a geometric variate (Kemp, Efficient generation of logarithmically
 * distributed pseudo-random variables, Applied Statistics 30, 1981).
 */
static double sample_logarithmic(const struct dist *d, struct rng *r)
{
	double log_q = log1p(-exp(rng_open(r) * d->a));

	return 1 + floor(log(rng_open(r)) / log_q);
}

double dist_sample_other(const struct dist *d, struct rng *r, uint32_t *phase)
{
	switch (d->kind) {
	case DIST_ERLANG:
		return d->b * rng_erlang(r, (uint64_t)d->a);
	case DIST_GAMMA:
		return d->b * rng_gamma(r, d->a);
	case DIST_HYPEREXPONENTIAL:
		return d->x[dist_find(d, rng_uniform(r))] * rng_exponential(r);
	case DIST_LOGNORMAL:
		return exp(d->a + d->b * rng_normal(r));
	case DIST_NORMAL:
		return sample_normal(d, r);
	case DIST_UNIFORM:
		return d->a + (d->b - d->a) * rng_uniform(r);
	case DIST_WEIBULL:
		return d->b * pow(rng_exponential(r), d->a);
	case DIST_BETA:
		return sample_beta(d, r);
	case DIST_LOGARITHMIC:
		return sample_logarithmic(d, r);
	case DIST_CUT_NORMAL:
	case DIST_HYPERBOLIC:
	case DIST_EXPONENTIAL_POWER:
	case DIST_STUDENT_T:
	case DIST_VON_MISES:
	case DIST_BREIT_WIGNER:
	case DIST_BREIT_WIGNER_MEAN_SQUARE:
		return dist_sample_line(d, r);
	case DIST_VALUES:
		return d->x[dist_find(d, rng_uniform(r))];
	case DIST_HISTOGRAM:
		return sample_histogram(d, r);
	case DIST_MAP:
		return sample_map(d, r, phase);
	default:
		return d->mean;
	}
}
