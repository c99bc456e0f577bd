// SPDX-License-Identifier: Apache-2.0
/*
 * Chooses the hyperparameters of a Gaussian process by the largest marginal likelihood (Rasmussen
 * and Williams, Gaussian Processes for Machine Learning, 2006, section 5.4.1). For every choice of
 * the other parameters, the variance of the function takes its most likely value. The search uses
 * quasi-Newton steps (GSL's BFGS) in the logarithms of lengths and noise. Its starting points are
 * the same in every run: all numbers unchanged; the logarithms of the numbers whose range is more
 * than a factor of four; and random lengths.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_multimin.h>
#include <lapacke.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/models/regression/form/gp_kernel.h"
#include "analyzer/models/regression/technique.h"

#define LEARN_ROWS    256 /* more rows would cost more time than they improve the choice */
#define STARTS	      3
#define STEPS_MAX     40
#define STREAM_ROWS   11 /* random stream for the rows that the search uses */
#define STREAM_STARTS 12 /* random stream for the starting points */
/* a number may enter by its logarithm if its largest value is this many times the least */
#define LOG_RATIO      4
#define LENGTH_LOW     0.02 /* lower bound of a length, in ranges of its variable */
#define LENGTH_HIGH    100.0
#define NOISE_LOW      1e-8
#define NOISE_HIGH     1.0
#define STIFFNESS      10.0   /* strength of the penalty outside these bounds */
#define LEAST_VARIANCE 1e-300 /* variance of a response that does not vary */

struct gp_search {
	const struct schema *schema;
	struct dataset data; /* the rows that the search uses */
	struct gp gp;
	double *range; /* per variable: the range of its values as they enter; 0 means constant */
	double *matrix, *inverse;
	double *gradient;
};

/* Takes a reproducible random sample of at most LEARN_ROWS rows. */
static int gp_sample(struct dataset *out, const struct dataset *d)
{
	size_t nr = d->nr_rows < LEARN_ROWS ? d->nr_rows : LEARN_ROWS;
	size_t *order = calloc(d->nr_rows + 1, sizeof(*order));
	int ret = order ? dataset_alloc(out, nr, d->nr_vars, d->weight != NULL) : -ENOMEM;
	struct rng rng;

	if (ret)
		goto out;
	for (size_t i = 0; i < d->nr_rows; i++)
		order[i] = i;
	rng_stream(&rng, 1, STREAM_ROWS);
	if (nr < d->nr_rows)
		rng_shuffle(&rng, order, d->nr_rows);
	for (size_t i = 0; i < nr; i++) {
		for (size_t v = 0; v < d->nr_vars; v++)
			out->x[v * nr + i] = d->x[v * d->nr_rows + order[i]];
		out->y[i] = d->y[order[i]];
		if (d->weight)
			out->weight[i] = d->weight[order[i]];
	}
out:
	free(order);
	return ret;
}

static void gp_search_release(struct gp_search *w)
{
	dataset_release(&w->data);
	gp_release(&w->gp);
	free(w->range);
	free(w->matrix);
	free(w->inverse);
	free(w->gradient);
}

static int gp_search_init(struct gp_search *w, const struct schema *s, const struct dataset *d)
{
	int ret = gp_sample(&w->data, d);
	size_t n = w->data.nr_rows;

	if (ret)
		return ret;
	w->schema = s;
	ret = gp_alloc(&w->gp, n, d->nr_vars);
	if (ret)
		return ret;
	w->range = calloc(d->nr_vars + 1, sizeof(*w->range));
	w->gradient = calloc(d->nr_vars + 2, sizeof(*w->gradient));
	w->matrix = reallocarray(NULL, n * n + 1, sizeof(*w->matrix));
	w->inverse = reallocarray(NULL, n * n + 1, sizeof(*w->inverse));
	return w->range && w->gradient && w->matrix && w->inverse ? 0 : -ENOMEM;
}

/* Decides which numbers enter by their logarithms, and computes their ranges. */
static void gp_search_scale(struct gp_search *w, bool logarithms)
{
	const struct dataset *d = &w->data;

	for (size_t v = 0; v < d->nr_vars; v++) {
		const struct variable *var = &w->schema->variables[v];
		const double *x = d->x + v * d->nr_rows;
		double low = INFINITY, high = -INFINITY;

		for (size_t i = 0; i < d->nr_rows; i++) {
			low = fmin(low, x[i]);
			high = fmax(high, x[i]);
		}
		w->gp.logarithm[v] = logarithms && !var->factor && var->low > 0 && low > 0 &&
				     high >= LOG_RATIO * low;
		w->range[v] = var->factor	   ? 1
			      : w->gp.logarithm[v] ? log(high) - log(low)
						   : high - low;
		if (!(w->range[v] > 0))
			w->range[v] = 1;
	}
}

/* Returns the penalty of a value beyond its bounds, and its slope. */
static double gp_search_hold(double value, double low, double high, double *slope)
{
	double beyond = value < low ? value - low : value > high ? value - high : 0;

	*slope = 2 * STIFFNESS * beyond;
	return STIFFNESS * beyond * beyond;
}

static void gp_search_set(struct gp_search *w, const gsl_vector *at)
{
	size_t p = w->data.nr_vars;

	for (size_t v = 0; v < p; v++)
		w->gp.length[v] = w->range[v] * exp(fmax(-20, fmin(20, gsl_vector_get(at, v))));
	w->gp.noise_ratio = exp(fmax(-30, fmin(10, gsl_vector_get(at, p))));
	for (size_t i = 0; i < w->gp.nr_rows; i++) {
		double *point = w->gp.points + i * p;

		for (size_t v = 0; v < p; v++)
			point[v] = w->data.x[v * w->data.nr_rows + i];
		gp_point(&w->gp, w->schema, point, point);
	}
}

/*
 * Replaces y - mean in coefficients by its product with the inverse. Returns the logarithm of the
 * determinant.
 */
static double gp_search_solve(struct gp_search *w, double mean)
{
	size_t n = w->gp.nr_rows;
	double determinant = 0;

	for (size_t i = 0; i < n; i++) {
		w->gp.coefficients[i] = w->data.y[i] - mean;
		determinant += 2 * log(w->matrix[i * n + i]);
	}
	LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, 1, w->matrix, (lapack_int)n,
			    w->gp.coefficients, (lapack_int)n);
	return determinant;
}

/*
 * Computes the gradient of the negative log-likelihood: for every parameter, half of the sum over
 * all pairs of (inverse - a a' / variance) times the derivative of the correlation.
 */
static void gp_search_slopes(struct gp_search *w)
{
	size_t n = w->gp.nr_rows, p = w->data.nr_vars;
	const double *a = w->gp.coefficients;

	memcpy(w->inverse, w->matrix, n * n * sizeof(*w->inverse));
	LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, w->inverse, (lapack_int)n);
	memset(w->gradient, 0, (p + 1) * sizeof(*w->gradient));
	for (size_t j = 0; j < n; j++) {
		const double *b = w->gp.points + j * p;
		double own = w->inverse[j * n + j] - a[j] * a[j] / w->gp.variance;

		w->gradient[p] +=
			0.5 * own * w->gp.noise_ratio / (w->data.weight ? w->data.weight[j] : 1);
		for (size_t i = j + 1; i < n; i++) {
			const double *c = w->gp.points + i * p;
			double weight = w->inverse[j * n + i] - a[i] * a[j] / w->gp.variance;
			double r = sqrt(5 * gp_squared(&w->gp, w->schema, b, c));
			double common = weight * 5.0 / 3 * (1 + r) * exp(-r);

			for (size_t v = 0; v < p; v++) {
				double e = b[v] - c[v];

				if (w->schema->variables[v].factor)
					e = e != 0 ? 1 / w->gp.length[v] : 0;
				w->gradient[v] += common * e * e;
			}
		}
	}
}

/*
 * Returns the negative log-likelihood without its constants, and its gradient if slopes is not
 * NULL.
 */
static double gp_search_cost(const gsl_vector *at, void *ctx, gsl_vector *slopes)
{
	struct gp_search *w = ctx;
	size_t n = w->gp.nr_rows, p = w->data.nr_vars;
	double cost, determinant, explained = 0, mean = gp_mean(&w->data), slope;

	gp_search_set(w, at);
	if (gp_factor(&w->gp, w->schema, &w->data, w->matrix))
		return GSL_NAN;
	determinant = gp_search_solve(w, mean);
	for (size_t i = 0; i < n; i++)
		explained += w->gp.coefficients[i] * (w->data.y[i] - mean);
	w->gp.variance = fmax(explained / (double)n, LEAST_VARIANCE);
	cost = 0.5 * ((double)n * log(w->gp.variance) + determinant);
	if (slopes)
		gp_search_slopes(w);
	for (size_t k = 0; k <= p; k++) {
		bool noise = k == p;

		cost += gp_search_hold(gsl_vector_get(at, k), log(noise ? NOISE_LOW : LENGTH_LOW),
				       log(noise ? NOISE_HIGH : LENGTH_HIGH), &slope);
		if (slopes)
			gsl_vector_set(slopes, k, w->gradient[k] + slope);
	}
	return cost;
}

static double gp_search_f(const gsl_vector *at, void *ctx)
{
	return gp_search_cost(at, ctx, NULL);
}

static void gp_search_df(const gsl_vector *at, void *ctx, gsl_vector *slopes)
{
	gp_search_cost(at, ctx, slopes);
}

static void gp_search_fdf(const gsl_vector *at, void *ctx, double *cost, gsl_vector *slopes)
{
	*cost = gp_search_cost(at, ctx, slopes);
}

/* Descends once from `at`, which becomes the end of the descent. Returns the cost there, or NaN. */
static double gp_search_descend(struct gp_search *w, gsl_multimin_fdfminimizer *m, gsl_vector *at)
{
	gsl_multimin_function_fdf f = { .f = gp_search_f,
					.df = gp_search_df,
					.fdf = gp_search_fdf,
					.n = w->data.nr_vars + 1,
					.params = w };

	if (gsl_multimin_fdfminimizer_set(m, &f, at, 0.3, 0.1))
		return NAN;
	for (int i = 0; i < STEPS_MAX; i++) {
		double before = m->f;

		if (gsl_multimin_fdfminimizer_iterate(m))
			break;
		if (before - m->f < 1e-3 * fabs(0.01 * before) + 1e-4)
			break;
	}
	gsl_vector_memcpy(at, gsl_multimin_fdfminimizer_x(m));
	return m->f;
}

/*
 * Sets a starting point: 0 has all numbers unchanged, 1 has logarithms if these change anything,
 * and later ones have random lengths.
 */
static bool gp_search_start(struct gp_search *w, int start, struct rng *rng, gsl_vector *at)
{
	size_t p = w->data.nr_vars;
	bool any = false;

	gp_search_scale(w, start > 0);
	for (size_t v = 0; v < p; v++) {
		double spread = start > 1 ? 2 * rng_uniform(rng) - 1 : 0;

		any = any || w->gp.logarithm[v];
		gsl_vector_set(at, v, log(0.7) + spread);
	}
	gsl_vector_set(at, p, log(start > 1 ? 1e-4 : 1e-2));
	return start != 1 || any;
}

static int gp_search_best(struct gp_search *w, gsl_multimin_fdfminimizer *m, gsl_vector *at,
			  struct gp *out)
{
	double least = INFINITY;
	struct rng rng;

	rng_stream(&rng, 1, STREAM_STARTS);
	for (int start = 0; start < STARTS; start++) {
		double cost;

		if (!gp_search_start(w, start, &rng, at))
			continue;
		cost = gp_search_descend(w, m, at);
		if (!(cost < least))
			continue;
		least = cost;
		gp_search_set(w, at);
		memcpy(out->length, w->gp.length, out->nr_vars * sizeof(*out->length));
		memcpy(out->logarithm, w->gp.logarithm, out->nr_vars * sizeof(*out->logarithm));
		out->noise_ratio = w->gp.noise_ratio;
	}
	return isfinite(least) ? 0 : -ERANGE;
}

int gp_fit(struct gp *g, const struct schema *s, const struct dataset *d)
{
	struct gp_search w = { 0 };
	gsl_multimin_fdfminimizer *m = NULL;
	gsl_vector *at = NULL;
	int ret;

	if (d->nr_rows > GP_ROWS_MAX)
		return -EFBIG;
	ret = gp_alloc(g, d->nr_rows, d->nr_vars);
	if (ret)
		return ret;
	ret = gp_search_init(&w, s, d);
	if (ret)
		goto out;
	at = gsl_vector_calloc(d->nr_vars + 1);
	m = gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, d->nr_vars + 1);
	ret = at && m ? gp_search_best(&w, m, at, g) : -ENOMEM;
	if (ret)
		goto out;
	ret = gp_condition(g, s, d, NULL);
out:
	if (at)
		gsl_vector_free(at);
	if (m)
		gsl_multimin_fdfminimizer_free(m);
	gp_search_release(&w);
	if (ret)
		gp_release(g);
	return ret;
}

struct gp_sweep {
	const struct sweep_input *in;
	struct gp gp; /* empty until needed */
	bool fitted;
};

static int gp_sweep_open(void **sweep, const struct technique *t, const struct sweep_input *in)
{
	struct gp_sweep *w = calloc(1, sizeof(*w));

	(void)t;
	if (!w)
		return -ENOMEM;
	w->in = in;
	*sweep = w;
	return 0;
}

static int gp_sweep_fit(struct gp_sweep *w)
{
	int ret;

	if (w->fitted)
		return 0;
	ret = gp_fit(&w->gp, w->in->schema, w->in->train);
	w->fitted = !ret;
	if (!ret)
		sweep_count(w->in);
	return ret;
}

static int gp_sweep_predict(void *sweep, const double *p, double *out)
{
	struct gp_sweep *w = sweep;
	int ret = gp_sweep_fit(w);

	(void)p;
	if (ret)
		return ret;
	gp_predict(&w->gp, w->in->schema, w->in->rows, w->in->nr_rows, out);
	return 0;
}

static int gp_sweep_extract(void *sweep, const double *p, struct model *m)
{
	struct gp_sweep *w = sweep;
	int ret = gp_sweep_fit(w);

	(void)p;
	if (ret)
		return ret;
	m->form = MODEL_GP;
	m->gp = w->gp;
	w->gp = (struct gp){ 0 };
	w->fitted = false;
	return 0;
}

static void gp_sweep_close(void *sweep)
{
	struct gp_sweep *w = sweep;

	gp_release(&w->gp);
	free(w);
}

const struct technique technique_gp = {
	.name = "gp",
	.summary = "a Gaussian process, with a length for each variable",
	.speed = 1,
	.simplicity = 1,
	.search_ratio = 1,
	.most_rows = GP_ROWS_MAX,
	.open = gp_sweep_open,
	.predict = gp_sweep_predict,
	.extract = gp_sweep_extract,
	.close = gp_sweep_close,
};
