// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/regression/tree/m5_linear.h"

#define OUTLIER	 5    /* in mean errors; rows with a larger error are outliers */
#define UNSTABLE 1000 /* a term of this many mean deviations of y indicates cancellation */
/* a column with a smaller share of its overall variance counts as constant */
#define LEAST_SPREAD 1e-10

int m5_linear_init(struct m5_linear *l, size_t nr_rows, size_t nr_columns)
{
	l->q = reallocarray(NULL, nr_columns * nr_rows + 1, sizeof(double));
	l->node_x = reallocarray(NULL, nr_columns * nr_rows + 1, sizeof(double));
	l->node_y = calloc(nr_rows + 1, sizeof(double));
	l->node_weight = calloc(nr_rows + 1, sizeof(double));
	l->r = calloc(nr_columns * nr_columns + 1, sizeof(double));
	l->w = calloc(nr_columns * nr_columns + 1, sizeof(double));
	l->z = calloc(nr_columns + 1, sizeof(double));
	l->beta = calloc(nr_columns + 1, sizeof(double));
	l->mean = calloc(nr_columns + 1, sizeof(double));
	l->deviation = calloc(nr_columns + 1, sizeof(double));
	l->best = calloc(nr_columns + 1, sizeof(double));
	l->centre = calloc(nr_columns + 1, sizeof(double));
	l->error = calloc(nr_rows + 1, sizeof(double));
	l->all = calloc(nr_columns + 1, sizeof(*l->all));
	l->kept = calloc(nr_columns + 1, sizeof(*l->kept));
	if (l->q && l->node_x && l->node_y && l->node_weight && l->r && l->w && l->z && l->beta &&
	    l->mean && l->deviation && l->best && l->centre && l->error && l->all && l->kept)
		return 0;
	m5_linear_release(l);
	return -ENOMEM;
}

void m5_linear_release(struct m5_linear *l)
{
	free(l->q);
	free(l->node_x);
	free(l->node_y);
	free(l->node_weight);
	free(l->r);
	free(l->w);
	free(l->z);
	free(l->beta);
	free(l->mean);
	free(l->deviation);
	free(l->best);
	free(l->centre);
	free(l->error);
	free(l->all);
	free(l->kept);
	memset(l, 0, sizeof(*l));
}

double m5_adjusted(double error, double nr_rows, double nr_params)
{
	double p = fmin(nr_params, nr_rows - 1);

	return error * (nr_rows + p) / (nr_rows - p);
}

/* Adds the terms of two columns. */
static void m5_linear_add_two(const double *restrict x, double c, const double *restrict z,
			      double e, const uint32_t *restrict rows, size_t nr,
			      double *restrict out)
{
	for (size_t i = 0; i < nr; i++) {
		size_t row = rows[i];

		out[i] = (out[i] + c * x[row]) + e * z[row];
	}
}

/* Terms are added in pairs of columns, so that the sums are read and written half as often. */
void m5_linear_at(const struct m5_linear *l, const double *model, const uint32_t *rows, size_t nr,
		  double *out)
{
	const double *first = NULL, *x = l->design->x;
	double coefficient = 0;

	for (size_t i = 0; i < nr; i++)
		out[i] = model[0];
	for (size_t v = 0; v < l->design->nr_columns; v++, x += l->data->nr_rows) {
		if (model[v + 1] == 0)
			continue;
		if (first) {
			m5_linear_add_two(first, coefficient, x, model[v + 1], rows, nr, out);
			first = NULL;
			continue;
		}
		first = x;
		coefficient = model[v + 1];
	}
	for (size_t i = 0; first && i < nr; i++)
		out[i] += coefficient * first[rows[i]];
}

static double m5_linear_limit(const struct m5_linear *l, double f)
{
	f = f > l->ceiling ? l->ceiling : f;
	return f < l->floor ? l->floor : f;
}

void m5_linear_cut(const struct m5_linear *l, const double *model, const uint32_t *rows, size_t nr,
		   double *out)
{
	m5_linear_at(l, model, rows, nr, out);
	for (size_t i = 0; i < nr; i++)
		out[i] = m5_linear_limit(l, out[i]);
}

static double m5_linear_dot(const double *a, const double *b, size_t nr)
{
	double sum[4] = { 0 };
	size_t i = 0;

	for (; i + 4 <= nr; i += 4)
		for (int k = 0; k < 4; k++)
			sum[k] += a[i + k] * b[i + k];
	for (; i < nr; i++)
		sum[0] += a[i] * b[i];
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void m5_linear_subtract(double *restrict a, double c, const double *restrict b, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		a[i] -= c * b[i];
}

static double *m5_linear_column(const struct m5_linear *l, size_t column)
{
	return l->node_x + column * l->data->nr_rows;
}

static double m5_linear_mean(const struct m5_linear *l, const double *x, size_t nr, double weights)
{
	double sum = 0;

	if (l->weight)
		for (size_t i = 0; i < nr; i++)
			sum += l->node_weight[i] * x[i];
	else
		for (size_t i = 0; i < nr; i++)
			sum += x[i];
	return sum / weights;
}

/*
 * Computes the weighted mean and the mean deviation of a column of the node. Returns its variance.
 */
static double m5_linear_describe(const struct m5_linear *l, const double *x, size_t nr,
				 double weights, double *mean, double *deviation)
{
	double sum = 0, squares = 0;

	*mean = m5_linear_mean(l, x, nr, weights);
	for (size_t i = 0; i < nr; i++) {
		double d = x[i] - *mean, w = l->weight ? l->node_weight[i] : 1;

		sum += w * fabs(d);
		squares += w * d * d;
	}
	*deviation = sum / weights;
	return squares / weights;
}

/*
 * Copies the node's rows of the columns in use, so that every later pass reads them one after the
 * other, and collects the columns that vary in l->all.
 */
static size_t m5_linear_candidates(struct m5_linear *l, const uint32_t *rows, size_t nr,
				   const bool *use, double *weights)
{
	size_t n = l->data->nr_rows, found = 0;

	*weights = 0;
	for (size_t i = 0; i < nr; i++) {
		l->node_weight[i] = l->weight ? l->weight[rows[i]] : 1;
		l->node_y[i] = l->y[rows[i]];
		*weights += l->node_weight[i];
	}
	m5_linear_describe(l, l->node_y, nr, *weights, &l->mean[0], &l->deviation[0]);
	for (size_t v = 0; v < l->design->nr_columns; v++) {
		const double *x = l->design->x + v * n;
		double *column = m5_linear_column(l, v);

		if (!use[l->design->columns[v].variable])
			continue;
		for (size_t i = 0; i < nr; i++)
			column[i] = x[rows[i]];
		if (m5_linear_describe(l, column, nr, *weights, &l->mean[v + 1],
				       &l->deviation[v + 1]) > LEAST_SPREAD * l->spread[v])
			l->all[found++] = (uint32_t)v;
	}
	return found;
}

/* Loads a column of the node minus its mean, times the square root of the weight. */
static void m5_linear_load(const struct m5_linear *l, const double *restrict x, double mean,
			   size_t nr, double *restrict out)
{
	if (l->weight)
		for (size_t i = 0; i < nr; i++)
			out[i] = (x[i] - mean) * sqrt(l->node_weight[i]);
	else
		for (size_t i = 0; i < nr; i++)
			out[i] = x[i] - mean;
}

/* Computes the rows of inv(r) in w; m is small. */
static void m5_linear_invert(struct m5_linear *l, size_t m, size_t cap)
{
	for (size_t j = 0; j < m; j++) {
		double *row = l->w + j * cap;

		memset(row, 0, m * sizeof(*row));
		row[j] = 1 / l->r[j * cap + j];
		for (size_t k = j + 1; k < m; k++) {
			double sum = 0;

			for (size_t i = j; i < k; i++)
				sum += row[i] * l->r[k * cap + i];
			row[k] = -sum / l->r[k * cap + k];
		}
	}
}

/*
 * Computes the QR decomposition of the centred candidates by Gram-Schmidt, repeated once. Columns
 * that depend on others are left out. Returns the number of columns kept.
 */
static size_t m5_linear_factor(struct m5_linear *l, size_t nr, size_t nr_all, double weights)
{
	size_t cap = l->design->nr_columns, m = 0;

	for (size_t a = 0; a < nr_all && m + 1 < nr; a++) {
		double *q = l->q + m * nr, *r = l->r + m * cap, length, left;
		const double *x = m5_linear_column(l, l->all[a]);

		l->centre[l->all[a] + 1] = m5_linear_mean(l, x, nr, weights);
		m5_linear_load(l, x, l->centre[l->all[a] + 1], nr, q);
		length = sqrt(m5_linear_dot(q, q, nr));
		memset(r, 0, cap * sizeof(*r));
		for (int pass = 0; pass < 2 && m; pass++) {
			for (size_t k = 0; k < m; k++) {
				double c = m5_linear_dot(l->q + k * nr, q, nr);

				m5_linear_subtract(q, c, l->q + k * nr, nr);
				r[k] += c;
			}
		}
		left = sqrt(m5_linear_dot(q, q, nr));
		if (!(left > LSQ_TOLERANCE * length))
			continue;
		r[m] = left;
		for (size_t i = 0; i < nr; i++)
			q[i] /= left;
		l->kept[m++] = l->all[a];
	}
	l->centre[0] = m5_linear_mean(l, l->node_y, nr, weights);
	m5_linear_load(l, l->node_y, l->centre[0], nr, l->error);
	for (size_t k = 0; k < m; k++)
		l->z[k] = m5_linear_dot(l->q + k * nr, l->error, nr);
	m5_linear_invert(l, m, cap);
	return m;
}

/* Writes the model of the m kept variables to `model`. */
static void m5_linear_solve(struct m5_linear *l, size_t all, size_t m, double *model)
{
	size_t cap = l->design->nr_columns;

	memset(model, 0, (cap + 1) * sizeof(*model));
	model[0] = l->centre[0];
	for (size_t k = 0; k < m; k++) {
		l->beta[k] = m5_linear_dot(l->w + k * cap, l->z, all);
		model[l->kept[k] + 1] = l->beta[k];
		model[0] -= l->beta[k] * l->centre[l->kept[k] + 1];
	}
}

static void take_out(struct m5_linear *l, size_t all, size_t m, size_t out)
{
	size_t cap = l->design->nr_columns;
	double *gone = l->w + out * cap, length = m5_linear_dot(gone, gone, all);

	for (size_t k = 0; k < m; k++)
		if (k != out)
			m5_linear_subtract(l->w + k * cap,
					   m5_linear_dot(l->w + k * cap, gone, all) / length, gone,
					   all);
	memmove(gone, gone + cap, (m - out - 1) * cap * sizeof(*gone));
	memmove(l->kept + out, l->kept + out + 1, (m - out - 1) * sizeof(*l->kept));
}

/* Computes the values of the model, whose variables are among these columns, at the node's rows. */
static void m5_linear_values(const struct m5_linear *l, size_t nr, const uint32_t *columns,
			     size_t nr_columns, const double *model, double *restrict out)
{
	for (size_t i = 0; i < nr; i++)
		out[i] = model[0];
	for (size_t k = 0; k < nr_columns; k++) {
		const double *restrict x = m5_linear_column(l, columns[k]);
		double coefficient = model[columns[k] + 1];

		for (size_t i = 0; i < nr; i++)
			out[i] += coefficient * x[i];
	}
}

/* Returns the weighted mean of |y - f| for the m kept variables. */
static double m5_linear_error(struct m5_linear *l, size_t nr, size_t m, const double *model,
			      double weights)
{
	double *f = l->error, sum = 0;

	m5_linear_values(l, nr, l->kept, m, model, f);
	for (size_t i = 0; i < nr; i++)
		sum += l->node_weight[i] * fabs(l->node_y[i] - m5_linear_limit(l, f[i]));
	return sum / weights;
}

/*
 * Finds the model of least adjusted error; of equal ones, the model that has the fewest variables.
 */
static void m5_linear_simplify(struct m5_linear *l, size_t nr, size_t nr_all, double weights,
			       double *model)
{
	size_t all = m5_linear_factor(l, nr, nr_all, weights);
	double least = INFINITY;

	for (size_t m = all;; m--) {
		bool stable = weights >= 2 * (double)m;
		size_t weakest = 0;
		double part = INFINITY, adjusted;

		m5_linear_solve(l, all, m, l->best);
		for (size_t k = 0; k < m; k++) {
			double size = fabs(l->beta[k]) * l->deviation[l->kept[k] + 1];

			stable = stable && !(size > UNSTABLE * l->deviation[0]);
			if (size < part) {
				part = size;
				weakest = k;
			}
		}
		if (stable || !m) {
			adjusted = m5_adjusted(m5_linear_error(l, nr, m, l->best, weights), weights,
					       (double)m);
			if (adjusted <= least) {
				least = adjusted;
				memcpy(model, l->best,
				       (l->design->nr_columns + 1) * sizeof(*model));
			}
		}
		if (!m)
			break;
		take_out(l, all, m, weakest);
	}
}

static bool only_constant(const struct m5_linear *l, const double *model)
{
	for (size_t v = 0; v < l->design->nr_columns; v++)
		if (model[v + 1] != 0)
			return false;
	return true;
}

/*
 * Removes the bias that the limits cause from the model, and the rows with the largest errors from
 * the node's rows. Returns how many are left, and their weight in *weights.
 */
static size_t m5_linear_filter(struct m5_linear *l, size_t nr, size_t nr_all, double *weights,
			       double *model)
{
	double sum = 0, bias = 0, left_weights = 0;
	size_t left = 0;

	m5_linear_values(l, nr, l->all, nr_all, model, l->error);
	for (size_t i = 0; i < nr; i++) {
		double w = l->node_weight[i];

		l->error[i] = l->node_y[i] - m5_linear_limit(l, l->error[i]);
		sum += w * fabs(l->error[i]);
		bias += w * l->error[i];
	}
	model[0] += bias / *weights;
	for (size_t i = 0; i < nr; i++) {
		if (fabs(l->error[i]) > OUTLIER * sum / *weights)
			continue;
		for (size_t a = 0; a < nr_all; a++) {
			double *x = m5_linear_column(l, l->all[a]);

			x[left] = x[i];
		}
		l->node_y[left] = l->node_y[i];
		l->node_weight[left] = l->node_weight[i];
		left_weights += l->node_weight[left++];
	}
	*weights = left_weights;
	return left;
}

void m5_linear_fit(struct m5_linear *l, const uint32_t *rows, size_t nr, const bool *use,
		   double *model)
{
	double weights;
	size_t nr_all = m5_linear_candidates(l, rows, nr, use, &weights), left;

	memset(model, 0, (l->design->nr_columns + 1) * sizeof(*model));
	model[0] = l->mean[0];
	if (!nr_all || weights < 2 * (double)nr_all)
		return;
	m5_linear_simplify(l, nr, nr_all, weights, model);
	if (only_constant(l, model))
		return;
	left = m5_linear_filter(l, nr, nr_all, &weights, model);
	if (left < nr)
		m5_linear_simplify(l, left, nr_all, weights, model);
}
