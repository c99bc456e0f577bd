// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/sim/interval.h"

/*
 * The best truncation counts only if it lowers the squared standard error below this ratio of the
 * squared standard error without truncation.
 */
#define MSER_GAIN 0.75

static const struct interval unknown = { NAN, NAN, NAN };

static double t_quantile(size_t nr)
{
	return gsl_cdf_tdist_Pinv(0.5 + OUTPUT_CONFIDENCE / 2, (double)nr - 1);
}

/* There are two passes, because the residuals need the ratio. */
struct interval interval_ratio(const struct samples *x, sample_value top_of, sample_value bottom_of)
{
	double top = 0, bottom = 0, squares = 0, half, nr = (double)x->nr;
	struct interval v;

	for (size_t i = 0; i < x->nr; i++) {
		top += top_of(x->items, i, x->index);
		bottom += bottom_of(x->items, i, x->index);
	}
	if (!(bottom > 0))
		return unknown;
	v.mean = top / bottom;
	for (size_t i = 0; i < x->nr; i++) {
		double e =
			top_of(x->items, i, x->index) - v.mean * bottom_of(x->items, i, x->index);

		squares += e * e;
	}
	half = t_quantile(x->nr) * sqrt(squares / (nr - 1) * nr) / bottom;
	v.low = v.mean - half;
	v.high = v.mean + half;
	return v;
}

/* Regressions on the control variables; column 0 is the intercept. */
struct controlled {
	struct lsq_problem p;
	double *x, *y, *coefficients, *errors; /* x owns the memory of all four */
	double df;
};

static int controlled_init(struct controlled *c, const struct samples *x, sample_value control,
			   const uint32_t *controls, size_t nr_controls)
{
	size_t columns = nr_controls + 1;

	c->x = calloc(x->nr * (columns + 1) + 2 * columns, sizeof(double));
	if (!c->x)
		return -ENOMEM;
	c->y = c->x + x->nr * columns;
	c->coefficients = c->y + x->nr;
	c->errors = c->coefficients + columns;
	c->p = (struct lsq_problem){ .nr_rows = x->nr, .nr_columns = columns, .x = c->x };
	c->p.y = c->y;
	for (size_t i = 0; i < x->nr; i++) {
		c->x[i] = 1;
		for (size_t k = 0; k < nr_controls; k++)
			c->x[(k + 1) * x->nr + i] = control(x->items, i, controls[k]);
	}
	return 0;
}

/* Returns the intercept of top - ratio * bottom, and its standard error. */
static int interval_intercept(struct controlled *c, const struct samples *x, sample_value top,
			      sample_value bottom, double ratio, double *error_of)
{
	struct lsq_result r = { .coefficients = c->coefficients, .standard_errors = c->errors };
	int error;

	for (size_t i = 0; i < x->nr; i++)
		c->y[i] = top(x->items, i, x->index) -
			  (ratio != 0 ? ratio * bottom(x->items, i, x->index) : 0);
	error = lsq_solve(&c->p, &r);
	c->df = (double)(x->nr - r.rank);
	*error_of = c->errors[0];
	return error;
}

int interval_controlled(struct interval *out, const struct samples *x, sample_value top,
			sample_value bottom, sample_value control, const uint32_t *controls,
			size_t nr_controls)
{
	struct controlled c;
	double above, below, half;
	int ret;

	*out = interval_ratio(x, top, bottom);
	if (!nr_controls || isnan(out->mean) || x->nr < INTERVAL_PER_CONTROL * nr_controls)
		return 0;
	ret = controlled_init(&c, x, control, controls, nr_controls);
	if (ret)
		return ret;
	ret = interval_intercept(&c, x, top, bottom, 0, &half);
	above = c.coefficients[0];
	if (!ret)
		ret = interval_intercept(&c, x, bottom, bottom, 0, &half);
	below = c.coefficients[0];
	if (ret)
		goto out;
	ret = interval_intercept(&c, x, top, bottom, above / below, &half);
	if (ret)
		goto out;
	if (below > 0 && isfinite(half)) {
		half *= gsl_cdf_tdist_Pinv(0.5 + OUTPUT_CONFIDENCE / 2, c.df) / below;
		out->mean = above / below;
		out->low = out->mean - half;
		out->high = out->mean + half;
	}
out:
	free(c.x);
	return ret;
}

static struct interval interval_quantile(const struct samples *x, sample_hist hist,
					 const struct qhist *all, double p)
{
	struct interval v = { .mean = qhist_quantile(all, p) };
	double squares = 0, share, half, nr = (double)x->nr;

	if (!all->nr)
		return unknown;
	share = qhist_share(all, v.mean);
	for (size_t i = 0; i < x->nr; i++) {
		const struct qhist *h = hist(x->items, i, x->index);
		double e = h->nr ? (double)h->nr * (qhist_share(h, v.mean) - share) : 0;

		squares += e * e;
	}
	half = t_quantile(x->nr) * sqrt(squares / (nr - 1) * nr) / (double)all->nr;
	v.low = p - half > 0 ? qhist_quantile(all, p - half) : 0;
	v.high = p + half < 1 ? qhist_quantile(all, p + half) : INFINITY;
	return v;
}

int interval_quantiles(struct time_estimate *t, const struct samples *x, sample_hist hist)
{
	struct qhist all = { 0 };

	for (size_t i = 0; i < x->nr; i++) {
		if (qhist_merge(&all, hist(x->items, i, x->index))) {
			qhist_release(&all);
			return -ENOMEM;
		}
	}
	t->p50 = interval_quantile(x, hist, &all, 0.5);
	t->p95 = interval_quantile(x, hist, &all, 0.95);
	t->p99 = interval_quantile(x, hist, &all, 0.99);
	qhist_release(&all);
	return 0;
}

double interval_width(struct interval v)
{
	double width;

	if (v.high == v.low)
		return 0;
	if (!(v.mean != 0) || isnan(v.high))
		return INFINITY;
	width = (v.high - v.low) / 2 / fabs(v.mean);
	return width < INTERVAL_ROUNDING ? 0 : width;
}

/*
 * Returns the widest interval of the three quantiles. A quantile of 0 belongs to a time that passes
 * at once.
 */
static double quantile_width(const struct time_estimate *t)
{
	const struct interval *v[] = { &t->p50, &t->p95, &t->p99 };
	double worst = 0;

	for (int i = 0; i < 3; i++) {
		double far = fmax(v[i]->high - v[i]->mean, v[i]->mean - v[i]->low);

		if (far > 0 || isnan(v[i]->mean))
			worst = fmax(worst, v[i]->mean > 0 ? far / v[i]->mean : INFINITY);
	}
	return worst;
}

double interval_time_width(const struct time_estimate *t, bool quantiles)
{
	return fmax(interval_width(t->mean), quantiles ? quantile_width(t) : 0);
}

/*
 * Chooses the truncation that gives the least squared standard error of the rest. One with little
 * gain is not taken, because its variance may be small by chance.
 */
size_t interval_truncation(const struct samples *x, sample_value level)
{
	double sum = 0, squares = 0, best = INFINITY, all = 0, last;
	size_t at = 0;

	if (!x->nr)
		return 0;
	/* Values are centred on the last one, so that the squares do not cancel. */
	last = level(x->items, x->nr - 1, x->index);
	for (size_t i = x->nr; i-- > 0;) {
		double v = level(x->items, i, x->index) - last, n = (double)(x->nr - i), e;

		sum += v;
		squares += v * v;
		e = (squares - sum * sum / n) / (n * n);
		if (i <= x->nr / 2 && e <= best) {
			best = e;
			at = i;
		}
		all = e;
	}
	return best < MSER_GAIN * all ? at : 0;
}

double interval_correlation(const struct samples *x, sample_value level)
{
	double mean = 0, var = 0, cov = 0;

	if (x->nr < 4)
		return 0;
	for (size_t i = 0; i < x->nr; i++)
		mean += level(x->items, i, x->index) / (double)x->nr;
	for (size_t i = 0; i < x->nr; i++) {
		double d = level(x->items, i, x->index) - mean;

		var += d * d;
		cov += i ? d * (level(x->items, i - 1, x->index) - mean) : 0;
	}
	/* A quantity that does not vary has only rounding errors as its variance. */
	return var > 1e-20 * mean * mean ? cov / var : 0;
}
