// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>
#include <lapacke.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/regression/curve/mars_prune.h"

struct backward {
	size_t m, nr; /* number of terms at first and now */
	double *w;    /* rows of inv(r), each of length m */
	double *beta; /* coefficients */
	double *dots; /* products with the row that is removed */
	size_t *id;   /* term of each row */
	/*
	 * These are the triangle (by rows, m apart) and q'y of the remaining terms, in the order of
	 * the forward pass.
	 */
	size_t *order;
	double *r, *z;
	double rss;
};

static int backward_init(struct backward *b, const struct forward *f, size_t m)
{
	*b = (struct backward){ .m = m, .nr = m };
	b->w = calloc(m * m + 1, sizeof(*b->w));
	b->beta = calloc(m + 1, sizeof(*b->beta));
	b->dots = calloc(m + 1, sizeof(*b->dots));
	b->id = calloc(m + 1, sizeof(*b->id));
	b->order = calloc(m + 1, sizeof(*b->order));
	b->r = calloc(m * m + 1, sizeof(*b->r));
	b->z = calloc(m + 1, sizeof(*b->z));
	if (!b->w || !b->beta || !b->dots || !b->id || !b->order || !b->r || !b->z)
		return -ENOMEM;
	/*
	 * The inverse of the transpose of r, lower triangular by columns, contains the required
	 * rows.
	 */
	for (size_t j = 0; j < m; j++)
		for (size_t k = 0; k <= j; k++)
			b->w[k * m + j] = b->r[k * m + j] = f->r[j * (j + 1) / 2 + k];
	LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', (lapack_int)m, b->w, (lapack_int)m);
	memcpy(b->z, f->qy, m * sizeof(*b->z));
	b->rss = f->rss0;
	for (size_t j = 0; j < m; j++) {
		b->id[j] = b->order[j] = j;
		if (j)
			b->rss -= b->z[j] * b->z[j];
	}
	b->rss = fmax(0, b->rss);
	return 0;
}

static void backward_release(struct backward *b)
{
	free(b->w);
	free(b->beta);
	free(b->dots);
	free(b->id);
	free(b->order);
	free(b->r);
	free(b->z);
}

static double *mars_prune_row(const struct backward *b, size_t i)
{
	return b->w + i * b->m;
}

/*
 * Returns the row whose removal raises the RSS least, and this increase. The constant is never
 * removed.
 */
static size_t least_harm(struct backward *b, const double *z, double *harm)
{
	int m = (int)b->m;
	size_t least = b->nr;

	cblas_dgemv(CblasColMajor, CblasTrans, m, (int)b->nr, 1, b->w, m, z, 1, 0, b->beta, 1);
	for (size_t i = 0; i < b->nr; i++) {
		double h = b->beta[i] * b->beta[i] /
			   cblas_ddot(m, mars_prune_row(b, i), 1, mars_prune_row(b, i), 1);

		if (b->id[i] == 0)
			continue;
		if (least == b->nr || h < *harm || (h == *harm && b->id[i] > b->id[least])) {
			least = i;
			*harm = h;
		}
	}
	return least;
}

static void take_out(struct backward *b, size_t out)
{
	int m = (int)b->m;
	size_t last = b->nr - 1;

	cblas_dswap(m, mars_prune_row(b, out), 1, mars_prune_row(b, last), 1);
	b->id[out] = b->id[last];
	b->nr--;
	cblas_dgemv(CblasColMajor, CblasTrans, m, (int)b->nr, 1, b->w, m, mars_prune_row(b, last),
		    1, 0, b->dots, 1);
	cblas_dger(CblasColMajor, m, (int)b->nr,
		   -1 / cblas_ddot(m, mars_prune_row(b, last), 1, mars_prune_row(b, last), 1),
		   mars_prune_row(b, last), 1, b->dots, 1, b->w, m);
}

/* Rotates rows k and k + 1 of the triangle so that the second loses its entry in column k. */
static void mars_prune_turn(struct backward *b, size_t k)
{
	double *upper = b->r + k * b->m, *lower = upper + b->m, z = b->z[k];
	double length = hypot(upper[k], lower[k]);
	double c = length > 0 ? upper[k] / length : 1, s = length > 0 ? lower[k] / length : 0;

	for (size_t j = k; j < b->nr; j++) {
		double u = upper[j], l = lower[j];

		upper[j] = c * u + s * l;
		lower[j] = c * l - s * u;
	}
	b->z[k] = c * z + s * b->z[k + 1];
	b->z[k + 1] = c * b->z[k + 1] - s * z;
}

/* Restores the triangle of the b->nr remaining terms after the one at `at` was removed. */
static void close_up(struct backward *b, size_t at)
{
	memmove(b->order + at, b->order + at + 1, (b->nr - at) * sizeof(*b->order));
	for (size_t k = 0; k <= b->nr; k++)
		if (b->nr > at)
			memmove(b->r + k * b->m + at, b->r + k * b->m + at + 1,
				(b->nr - at) * sizeof(*b->r));
	for (size_t k = at; k < b->nr; k++)
		mars_prune_turn(b, k);
	b->rss += b->z[b->nr] * b->z[b->nr];
}

static void mars_prune_keep(struct pruned *p, const struct backward *b, size_t size, double rss)
{
	uint64_t *set = p->terms + (size - 1) * pruned_words(p);

	p->rss[size - 1] = rss;
	memset(set, 0, pruned_words(p) * sizeof(*set));
	for (size_t i = 0; i < size; i++)
		set[b->order[i] / 64] |= 1ull << b->order[i] % 64;
}

/*
 * Compares the first s of the remaining terms with the best model of size s, for every s from
 * `from` on.
 */
static void mars_prune_report(struct pruned *p, const struct backward *b, size_t from)
{
	double rss = b->rss;

	for (size_t size = b->nr; size >= from && size > 1; size--) {
		if (rss < p->rss[size - 1])
			mars_prune_keep(p, b, size, rss);
		rss += b->z[size - 1] * b->z[size - 1];
	}
}

static size_t place_of(const struct backward *b, size_t term)
{
	size_t at = 0;

	while (b->order[at] != term)
		at++;
	return at;
}

int prune(struct pruned *p, const struct forward *f, size_t nr_terms)
{
	struct backward b;
	int ret = backward_init(&b, f, nr_terms);

	*p = (struct pruned){ .nr_terms = nr_terms };
	p->rss = calloc(nr_terms + 1, sizeof(*p->rss));
	p->terms = calloc(nr_terms * pruned_words(p) + 1, sizeof(*p->terms));
	if (!p->rss || !p->terms)
		ret = -ENOMEM;
	if (ret)
		goto out;
	for (size_t size = 2; size <= nr_terms; size++)
		p->rss[size - 1] = INFINITY;
	mars_prune_report(p, &b, 2);
	while (b.nr > 1) {
		double harm = 0;
		size_t out = least_harm(&b, f->qy, &harm), at = place_of(&b, b.id[out]);

		take_out(&b, out);
		close_up(&b, at);
		mars_prune_report(p, &b, at > 1 ? at : 2);
	}
	b.order[0] = 0;
	mars_prune_keep(p, &b, 1, f->rss0);
out:
	backward_release(&b);
	if (ret)
		pruned_release(p);
	return ret;
}

void pruned_release(struct pruned *p)
{
	free(p->rss);
	free(p->terms);
	memset(p, 0, sizeof(*p));
}

double prune_gcv(const struct pruned *p, const struct forward *f, size_t size)
{
	double n = (double)f->n;
	double c = (double)size + f->penalty * (double)(size - 1) / 2;

	return c >= n ? INFINITY : p->rss[size - 1] / (n * (1 - c / n) * (1 - c / n));
}

size_t prune_size(const struct pruned *p, const struct forward *f, double most)
{
	size_t best = 1;

	for (size_t s = 2; s <= p->nr_terms && (double)s <= most; s++)
		if (prune_gcv(p, f, s) < prune_gcv(p, f, best))
			best = s;
	return best;
}

int prune_coefficients(const struct pruned *p, const struct forward *f, size_t size,
		       double *coefficients)
{
	size_t m = p->nr_terms, nr = 0;
	double *x = calloc(m * size + 1, sizeof(*x)), *solved = calloc(size + 1, sizeof(*solved));
	struct lsq_problem problem = { .nr_rows = m, .nr_columns = size, .x = x, .y = f->qy };
	struct lsq_result r = { .coefficients = solved };
	int ret = x && solved ? 0 : -ENOMEM;

	if (ret)
		goto out;
	for (size_t j = 0; j < m; j++)
		if (pruned_has(p, size, j))
			memcpy(x + nr++ * m, f->r + j * (j + 1) / 2, (j + 1) * sizeof(*x));
	ret = lsq_solve(&problem, &r);
	nr = 0;
	if (ret)
		goto out;
	for (size_t j = 0; j < m; j++)
		coefficients[j] = pruned_has(p, size, j) ? solved[nr++] * f->y_scale : 0;
	coefficients[0] += f->y_mean;
out:
	free(x);
	free(solved);
	return ret;
}
