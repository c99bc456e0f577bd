// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>
#include <lapacke.h>

#include "analyzer/models/regression/form/gp_kernel.h"

/*
 * A value that has no logarithm is placed this far below the smallest training value, which is far
 * from all training rows.
 */
#define GP_BELOW 10

int gp_alloc(struct gp *g, size_t nr_rows, size_t nr_vars)
{
	memset(g, 0, sizeof(*g));
	g->nr_rows = nr_rows;
	g->nr_vars = nr_vars;
	g->logarithm = calloc(nr_vars + 1, sizeof(*g->logarithm));
	g->length = calloc(nr_vars + 1, sizeof(*g->length));
	g->coefficients = calloc(nr_rows + 1, sizeof(*g->coefficients));
	g->points = calloc(nr_rows * nr_vars + 1, sizeof(*g->points));
	if (g->logarithm && g->length && g->coefficients && g->points)
		return 0;
	gp_release(g);
	return -ENOMEM;
}

void gp_release(struct gp *g)
{
	free(g->logarithm);
	free(g->length);
	free(g->coefficients);
	free(g->points);
	memset(g, 0, sizeof(*g));
}

double gp_enter(const struct variable *v, bool logarithm, double x)
{
	if (!logarithm)
		return x;
	return x > 0 ? log(x) : log(v->low) - GP_BELOW;
}

void gp_point(const struct gp *g, const struct schema *s, const double *row, double *point)
{
	for (size_t v = 0; v < g->nr_vars; v++) {
		const struct variable *var = &s->variables[v];

		point[v] = var->factor ? row[v]
				       : gp_enter(var, g->logarithm[v], row[v]) / g->length[v];
	}
}

double gp_squared(const struct gp *g, const struct schema *s, const double *a, const double *b)
{
	double sum = 0;

	for (size_t v = 0; v < g->nr_vars; v++) {
		double d = a[v] - b[v];

		if (s->variables[v].factor)
			d = d != 0 ? 1 / g->length[v] : 0;
		sum += d * d;
	}
	return sum;
}

int gp_factor(const struct gp *g, const struct schema *s, const struct dataset *d, double *matrix)
{
	size_t n = g->nr_rows;

	for (size_t j = 0; j < n; j++) {
		const double *b = g->points + j * g->nr_vars;

		matrix[j * n + j] = 1 + g->noise_ratio / (d->weight ? d->weight[j] : 1);
		for (size_t i = j + 1; i < n; i++)
			matrix[j * n + i] =
				gp_correlation(gp_squared(g, s, g->points + i * g->nr_vars, b));
	}
	return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, matrix, (lapack_int)n)
		       ? -ERANGE
		       : 0;
}

double gp_mean(const struct dataset *d)
{
	double sum = 0, weights = 0;

	for (size_t i = 0; i < d->nr_rows; i++) {
		double w = d->weight ? d->weight[i] : 1;

		sum += w * d->y[i];
		weights += w;
	}
	return sum / weights;
}

static void gp_place(struct gp *g, const struct schema *s, const struct dataset *d)
{
	for (size_t i = 0; i < g->nr_rows; i++) {
		double *point = g->points + i * g->nr_vars;

		for (size_t v = 0; v < g->nr_vars; v++)
			point[v] = d->x[v * d->nr_rows + i];
		gp_point(g, s, point, point);
	}
}

int gp_condition(struct gp *g, const struct schema *s, const struct dataset *d, double *likelihood)
{
	size_t n = g->nr_rows;
	double *matrix = reallocarray(NULL, n * n + 1, sizeof(*matrix)), determinant = 0;
	double explained = 0;
	int ret = matrix ? 0 : -ENOMEM;

	if (ret)
		goto out;
	gp_place(g, s, d);
	g->mean = gp_mean(d);
	for (size_t i = 0; i < n; i++)
		g->coefficients[i] = d->y[i] - g->mean;
	ret = gp_factor(g, s, d, matrix);
	if (ret)
		goto out;
	LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, 1, matrix, (lapack_int)n,
			    g->coefficients, (lapack_int)n);
	for (size_t i = 0; i < n; i++) {
		explained += g->coefficients[i] * (d->y[i] - g->mean);
		determinant += 2 * log(matrix[i * n + i]);
		if (!isfinite(g->coefficients[i]))
			ret = -ERANGE;
	}
	g->variance = explained / (double)n;
	if (ret)
		goto out;
	if (likelihood)
		*likelihood = -0.5 * ((double)n * (log(2 * M_PI * g->variance) + 1) + determinant);
out:
	free(matrix);
	return ret;
}

void gp_predict(const struct gp *g, const struct schema *s, const double *rows, size_t nr,
		double *out)
{
	for (size_t k = 0; k < nr; k++) {
		const double *row = rows + k * g->nr_vars;
		double sum = g->mean;

		for (size_t i = 0; i < g->nr_rows; i++) {
			const double *point = g->points + i * g->nr_vars;
			double squared = 0;

			for (size_t v = 0; v < g->nr_vars; v++) {
				const struct variable *var = &s->variables[v];
				double e;

				if (var->factor)
					e = row[v] != point[v] ? 1 / g->length[v] : 0;
				else
					e = gp_enter(var, g->logarithm[v], row[v]) / g->length[v] -
					    point[v];
				squared += e * e;
			}
			sum += g->coefficients[i] * gp_correlation(squared);
		}
		out[k] = sum;
	}
}

void gp_print(const struct gp *g, const struct schema *s, struct buf *out)
{
	buf_printf(out,
		   "a Gaussian process around %.6g: standard deviation %.6g, noise %.6g, and for "
		   "each variable\nthe distance over which the response changes:\n",
		   g->mean, sqrt(g->variance), sqrt(g->variance * g->noise_ratio));
	for (size_t v = 0; v < g->nr_vars; v++)
		buf_printf(out, "  %-24s %.6g%s\n", s->variables[v].name, g->length[v],
			   s->variables[v].factor ? " (two different levels are 1 apart)"
			   : g->logarithm[v]	  ? " of its logarithm"
						  : "");
}
