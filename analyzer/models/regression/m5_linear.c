// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/regression/m5_linear.h"

#define OUTLIER	 5    /* in mean errors; rows with a larger error are outliers */
#define UNSTABLE 1000 /* a term of this many mean deviations of y indicates cancellation */
/* a column with a smaller share of its overall variance counts as constant */
#define LEAST_SPREAD 1e-10

int m5_linear_init(struct m5_linear *l, size_t nr_rows, size_t nr_columns)
{
	l->q = reallocarray(NULL, nr_columns * nr_rows + 1, sizeof(double));
	l->r = calloc(nr_columns * nr_columns + 1, sizeof(double));
	l->w = calloc(nr_columns * nr_columns + 1, sizeof(double));
	l->z = calloc(nr_columns + 1, sizeof(double));
	l->beta = calloc(nr_columns + 1, sizeof(double));
	l->mean = calloc(nr_columns + 1, sizeof(double));
	l->deviation = calloc(nr_columns + 1, sizeof(double));
	l->best = calloc(nr_columns + 1, sizeof(double));
	l->centre = calloc(nr_columns + 1, sizeof(double));
	l->error = calloc(nr_rows + 1, sizeof(double));
	l->rows = calloc(nr_rows + 1, sizeof(*l->rows));
	l->all = calloc(nr_columns + 1, sizeof(*l->all));
	l->kept = calloc(nr_columns + 1, sizeof(*l->kept));
	if (l->q && l->r && l->w && l->z && l->beta && l->mean && l->deviation && l->best &&
	    l->centre && l->error && l->rows && l->all && l->kept)
		return 0;
	m5_linear_release(l);
	return -ENOMEM;
}

void m5_linear_release(struct m5_linear *l)
{
	free(l->q);
	free(l->r);
	free(l->w);
	free(l->z);
	free(l->beta);
	free(l->mean);
	free(l->deviation);
	free(l->best);
	free(l->centre);
	free(l->error);
	free(l->rows);
	free(l->all);
	free(l->kept);
	memset(l, 0, sizeof(*l));
}

double m5_adjusted(double error, double nr_rows, double nr_params)
{
	double p = fmin(nr_params, nr_rows - 1);

	return error * (nr_rows + p) / (nr_rows - p);
}

double m5_linear_at(const struct m5_linear *l, const double *model, uint32_t row)
{
	double sum = model[0];

	for (size_t v = 0; v < l->design->nr_columns; v++)
		if (model[v + 1] != 0)
			sum += model[v + 1] * l->design->x[v * l->data->nr_rows + row];
	return sum;
}

double m5_linear_cut(const struct m5_linear *l, const double *model, uint32_t row)
{
	double f = m5_linear_at(l, model, row);

	f = f > l->ceiling ? l->ceiling : f;
	return f < l->floor ? l->floor : f;
}

static double weight_of(const struct m5_linear *l, uint32_t row)
{
	return l->weight ? l->weight[row] : 1;
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

static void m5_linear_subtract(double *a, double c, const double *b, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		a[i] -= c * b[i];
}

/*
 * Computes the weighted mean and the mean deviation of the column at the rows. Returns its
 * variance.
 */
static double m5_linear_describe(const struct m5_linear *l, const double *x, const uint32_t *rows,
				 size_t nr, double weights, double *mean, double *deviation)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < nr; i++)
		sum += weight_of(l, rows[i]) * x[rows[i]];
	*mean = sum / weights;
	sum = 0;
	for (size_t i = 0; i < nr; i++) {
		double d = x[rows[i]] - *mean;

		sum += weight_of(l, rows[i]) * fabs(d);
		squares += weight_of(l, rows[i]) * d * d;
	}
	*deviation = sum / weights;
	return squares / weights;
}

/* Collects the variables that vary at the rows in l->all. */
static size_t m5_linear_candidates(struct m5_linear *l, const uint32_t *rows, size_t nr,
				   const bool *use, double weights)
{
	size_t n = l->data->nr_rows, found = 0;

	m5_linear_describe(l, l->y, rows, nr, weights, &l->mean[0], &l->deviation[0]);
	for (size_t v = 0; v < l->design->nr_columns; v++) {
		if (!use[l->design->columns[v].variable])
			continue;
		if (m5_linear_describe(l, l->design->x + v * n, rows, nr, weights, &l->mean[v + 1],
				       &l->deviation[v + 1]) > LEAST_SPREAD * l->spread[v])
			l->all[found++] = (uint32_t)v;
	}
	return found;
}

/* Loads column v minus its mean, times the square root of the weight. */
static void m5_linear_load(const struct m5_linear *l, const double *x, double mean,
			   const uint32_t *rows, size_t nr, double *out)
{
	for (size_t i = 0; i < nr; i++) {
		out[i] = x[rows[i]] - mean;
		if (l->weight)
			out[i] *= sqrt(l->weight[rows[i]]);
	}
}

static double mean_at(const struct m5_linear *l, const double *x, const uint32_t *rows, size_t nr)
{
	double sum = 0, weights = 0;

	for (size_t i = 0; i < nr; i++) {
		sum += weight_of(l, rows[i]) * x[rows[i]];
		weights += weight_of(l, rows[i]);
	}
	return sum / weights;
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
static size_t m5_linear_factor(struct m5_linear *l, const uint32_t *rows, size_t nr, size_t nr_all)
{
	size_t n = l->data->nr_rows, cap = l->design->nr_columns, m = 0;

	for (size_t a = 0; a < nr_all && m + 1 < nr; a++) {
		double *q = l->q + m * nr, *r = l->r + m * cap, length, left;
		const double *x = l->design->x + l->all[a] * n;

		l->centre[l->all[a] + 1] = mean_at(l, x, rows, nr);
		m5_linear_load(l, x, l->centre[l->all[a] + 1], rows, nr, q);
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
	l->centre[0] = mean_at(l, l->y, rows, nr);
	m5_linear_load(l, l->y, l->centre[0], rows, nr, l->error);
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

/* Returns the weighted mean of |y - f| for the m kept variables. */
static double error_of(struct m5_linear *l, const uint32_t *rows, size_t nr, size_t m,
		       const double *model, double weights)
{
	double *f = l->error, sum = 0;

	for (size_t i = 0; i < nr; i++)
		f[i] = model[0];
	for (size_t k = 0; k < m; k++) {
		const double *x = l->design->x + l->kept[k] * l->data->nr_rows;

		for (size_t i = 0; i < nr; i++)
			f[i] += l->beta[k] * x[rows[i]];
	}
	for (size_t i = 0; i < nr; i++) {
		double cut = f[i] > l->ceiling ? l->ceiling : f[i];

		cut = cut < l->floor ? l->floor : cut;
		sum += weight_of(l, rows[i]) * fabs(l->y[rows[i]] - cut);
	}
	return sum / weights;
}

static double weights_of(const struct m5_linear *l, const uint32_t *rows, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += weight_of(l, rows[i]);
	return sum;
}

/*
 * Finds the model of least adjusted error; of equal ones, the model that has the fewest variables.
 */
static void m5_linear_simplify(struct m5_linear *l, const uint32_t *rows, size_t nr, size_t nr_all,
			       double *model)
{
	double weights = weights_of(l, rows, nr), least = INFINITY;
	size_t all = m5_linear_factor(l, rows, nr, nr_all);

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
			adjusted = m5_adjusted(error_of(l, rows, nr, m, l->best, weights), weights,
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
 * the rows.
 */
static size_t m5_linear_filter(struct m5_linear *l, const uint32_t *rows, size_t nr, double weights,
			       double *model)
{
	double sum = 0, bias = 0;
	size_t left = 0;

	for (size_t i = 0; i < nr; i++) {
		double w = weight_of(l, rows[i]);

		l->error[i] = l->y[rows[i]] - m5_linear_cut(l, model, rows[i]);
		sum += w * fabs(l->error[i]);
		bias += w * l->error[i];
	}
	model[0] += bias / weights;
	for (size_t i = 0; i < nr; i++)
		if (!(fabs(l->error[i]) > OUTLIER * sum / weights))
			l->rows[left++] = rows[i];
	return left;
}

void m5_linear_fit(struct m5_linear *l, const uint32_t *rows, size_t nr, const bool *use,
		   double *model)
{
	double weights = weights_of(l, rows, nr);
	size_t nr_all = m5_linear_candidates(l, rows, nr, use, weights), left;

	memset(model, 0, (l->design->nr_columns + 1) * sizeof(*model));
	model[0] = l->mean[0];
	if (!nr_all || weights < 2 * (double)nr_all)
		return;
	m5_linear_simplify(l, rows, nr, nr_all, model);
	if (only_constant(l, model))
		return;
	left = m5_linear_filter(l, rows, nr, weights, model);
	if (left < nr)
		m5_linear_simplify(l, l->rows, left, nr_all, model);
}
