// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/num/lsq.h"
#include "analyzer/regression/m5_linear.h"

int m5_linear_init(struct m5_linear *l, const struct design *g, const double *y,
		   const double *weight)
{
	size_t m = g->nr_columns + 1;

	*l = (struct m5_linear){ .design = g, .y = y, .weight = weight, .cap = m };
	l->q = reallocarray(NULL, m * g->nr_rows + 1, sizeof(double));
	l->r = calloc(m * m + 1, sizeof(double));
	l->w = calloc(m * m + 1, sizeof(double));
	l->z = calloc(m + 1, sizeof(double));
	l->beta = calloc(m + 1, sizeof(double));
	l->scratch = calloc(2 * g->nr_rows + 1, sizeof(double));
	l->kept = calloc(m + 1, sizeof(*l->kept));
	if (l->q && l->r && l->w && l->z && l->beta && l->scratch && l->kept)
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
	free(l->scratch);
	free(l->kept);
	memset(l, 0, sizeof(*l));
}

double m5_adjusted(double absolute, double nr_rows, double nr_params)
{
	if (!(nr_rows > nr_params))
		return INFINITY;
	return absolute * (nr_rows + nr_params) / (nr_rows - nr_params);
}

static double dot(const double *a, const double *b, size_t nr)
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

static void subtract(double *a, double c, const double *b, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		a[i] -= c * b[i];
}

/* Column `id` (0: the constant) at the node's rows, times the root of the weights. */
static void load(const struct m5_linear *l, const uint32_t *rows, size_t nr, size_t id, double *out)
{
	const double *x = id ? l->design->x + (id - 1) * l->design->nr_rows : NULL;

	for (size_t i = 0; i < nr; i++) {
		out[i] = x ? x[rows[i]] : 1;
		if (l->weight)
			out[i] *= sqrt(l->weight[rows[i]]);
	}
}

/* Takes column `id` into the basis where it is new: rows of r are basis, columns kept ones. */
static void take(struct m5_linear *l, const uint32_t *rows, size_t nr, size_t id, size_t *nr_kept)
{
	size_t m = *nr_kept;
	double *q = l->q + m * nr, *r = l->r + m * l->cap, length, left;

	load(l, rows, nr, id, q);
	length = sqrt(dot(q, q, nr));
	memset(r, 0, l->cap * sizeof(*r));
	for (int pass = 0; pass < 2; pass++) {
		for (size_t k = 0; k < m; k++) {
			double c = dot(l->q + k * nr, q, nr);

			subtract(q, c, l->q + k * nr, nr);
			r[k] += c;
		}
	}
	left = sqrt(dot(q, q, nr));
	if (!(left > LSQ_TOLERANCE * length) || m >= nr)
		return;
	r[m] = left;
	for (size_t i = 0; i < nr; i++)
		q[i] /= left;
	l->kept[(*nr_kept)++] = id;
}

/* Rows of inv(r) into w: w_j solves r-transposed against unit vectors; m is small. */
static void invert(struct m5_linear *l, size_t m)
{
	for (size_t j = 0; j < m; j++) {
		double *row = l->w + j * l->cap;

		memset(row, 0, l->cap * sizeof(*row));
		row[j] = 1 / l->r[j * l->cap + j];
		for (size_t k = j + 1; k < m; k++) {
			double sum = 0;

			for (size_t i = j; i < k; i++)
				sum += row[i] * l->r[k * l->cap + i];
			row[k] = -sum / l->r[k * l->cap + k];
		}
	}
}

/* Mean of |y - f| over the rows, for the kept columns with their beta. */
static double absolute_error(struct m5_linear *l, const uint32_t *rows, size_t nr, size_t m)
{
	double *f = l->scratch, sum = 0, weights = 0;

	for (size_t i = 0; i < nr; i++)
		f[i] = 0;
	for (size_t k = 0; k < m; k++) {
		size_t id = l->kept[k];
		const double *x = id ? l->design->x + (id - 1) * l->design->nr_rows : NULL;

		for (size_t i = 0; i < nr; i++)
			f[i] += l->beta[k] * (x ? x[rows[i]] : 1);
	}
	for (size_t i = 0; i < nr; i++) {
		double w = l->weight ? l->weight[rows[i]] : 1;

		sum += w * fabs(l->y[rows[i]] - f[i]);
		weights += w;
	}
	return sum / weights;
}

static void solve(struct m5_linear *l, size_t all, size_t m)
{
	for (size_t k = 0; k < m; k++)
		l->beta[k] = dot(l->w + k * l->cap, l->z, all);
}

/* Drops the kept column, not the constant, whose loss raises the squares least. */
static void drop_least(struct m5_linear *l, size_t all, size_t *m)
{
	size_t least = 1, last = *m - 1;
	double harm = INFINITY, *out, *row, length;

	for (size_t k = 1; k < *m; k++) {
		double *w = l->w + k * l->cap;
		double h = l->beta[k] * l->beta[k] / dot(w, w, all);

		if (h < harm) {
			harm = h;
			least = k;
		}
	}
	out = l->w + least * l->cap;
	length = dot(out, out, all);
	for (size_t k = 0; k < *m; k++) {
		row = l->w + k * l->cap;
		if (k != least)
			subtract(row, dot(row, out, all) / length, out, all);
	}
	memmove(out, out + l->cap, (last - least) * l->cap * sizeof(*out));
	memmove(l->kept + least, l->kept + least + 1, (last - least) * sizeof(*l->kept));
	(*m)--;
}

static void keep_model(const struct m5_linear *l, size_t m, double *model)
{
	memset(model, 0, l->cap * sizeof(*model));
	for (size_t k = 0; k < m; k++)
		model[l->kept[k]] = l->beta[k];
}

struct m5_fit m5_linear_fit(struct m5_linear *l, const uint32_t *rows, size_t nr,
			    const bool *columns, double *model)
{
	struct m5_fit best = { 0 };
	size_t all = 0, m;

	take(l, rows, nr, 0, &all);
	for (size_t c = 0; c < l->design->nr_columns; c++)
		if (columns[c])
			take(l, rows, nr, c + 1, &all);
	for (size_t i = 0; i < nr; i++)
		l->scratch[i] = l->y[rows[i]] * (l->weight ? sqrt(l->weight[rows[i]]) : 1);
	for (size_t k = 0; k < all; k++)
		l->z[k] = dot(l->q + k * nr, l->scratch, nr);
	invert(l, all);
	best.adjusted = INFINITY;
	for (m = all;; drop_least(l, all, &m)) {
		double absolute, adjusted;

		solve(l, all, m);
		absolute = absolute_error(l, rows, nr, m);
		adjusted = m5_adjusted(absolute, (double)nr, (double)m);
		if (m == all || adjusted <= best.adjusted) {
			best = (struct m5_fit){ absolute, adjusted, m };
			keep_model(l, m, model);
		}
		if (m == 1)
			break;
	}
	return best;
}
