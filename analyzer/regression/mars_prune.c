// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>
#include <lapacke.h>

#include "analyzer/num/lsq.h"
#include "analyzer/regression/mars_prune.h"

struct backward {
	size_t m, nr; /* terms at first; now */
	double *w;    /* rows of inv(r), m long each */
	double *beta; /* coefficients */
	double *dots; /* with the row taken out */
	size_t *id;   /* term of a row */
};

static int backward_init(struct backward *b, const struct forward *f, size_t m)
{
	*b = (struct backward){ .m = m, .nr = m };
	b->w = calloc(m * m + 1, sizeof(*b->w));
	b->beta = calloc(m + 1, sizeof(*b->beta));
	b->dots = calloc(m + 1, sizeof(*b->dots));
	b->id = calloc(m + 1, sizeof(*b->id));
	if (!b->w || !b->beta || !b->dots || !b->id)
		return -ENOMEM;
	/* The transpose of r, lower triangular by columns; its inverse has the rows we want. */
	for (size_t j = 0; j < m; j++)
		for (size_t k = 0; k <= j; k++)
			b->w[k * m + j] = f->r[j * (j + 1) / 2 + k];
	LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', (lapack_int)m, b->w, (lapack_int)m);
	for (size_t j = 0; j < m; j++)
		b->id[j] = j;
	return 0;
}

static void backward_release(struct backward *b)
{
	free(b->w);
	free(b->beta);
	free(b->dots);
	free(b->id);
}

static double *row(const struct backward *b, size_t i)
{
	return b->w + i * b->m;
}

/* The row whose loss raises RSS least, and by how much; never the constant. */
static size_t least_harm(struct backward *b, const double *z, double *harm)
{
	int m = (int)b->m;
	size_t least = b->nr;

	cblas_dgemv(CblasColMajor, CblasTrans, m, (int)b->nr, 1, b->w, m, z, 1, 0, b->beta, 1);
	for (size_t i = 0; i < b->nr; i++) {
		double h = b->beta[i] * b->beta[i] / cblas_ddot(m, row(b, i), 1, row(b, i), 1);

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

	cblas_dswap(m, row(b, out), 1, row(b, last), 1);
	b->id[out] = b->id[last];
	b->nr--;
	cblas_dgemv(CblasColMajor, CblasTrans, m, (int)b->nr, 1, b->w, m, row(b, last), 1, 0,
		    b->dots, 1);
	cblas_dger(CblasColMajor, m, (int)b->nr,
		   -1 / cblas_ddot(m, row(b, last), 1, row(b, last), 1), row(b, last), 1, b->dots,
		   1, b->w, m);
}

int prune(struct pruned *p, const struct forward *f, size_t nr_terms)
{
	struct backward b;
	double rss = f->rss0;
	int err = backward_init(&b, f, nr_terms);

	*p = (struct pruned){ .nr_terms = nr_terms };
	p->rss = calloc(nr_terms + 1, sizeof(*p->rss));
	p->needs = calloc(nr_terms + 1, sizeof(*p->needs));
	if (!p->rss || !p->needs)
		err = -ENOMEM;
	for (size_t j = 1; j < nr_terms && !err; j++)
		rss -= f->qy[j] * f->qy[j];
	for (size_t size = nr_terms; size > 1 && !err; size--) {
		double harm = 0;
		size_t out = least_harm(&b, f->qy, &harm);

		p->rss[size - 1] = fmax(0, rss);
		p->needs[b.id[out]] = size;
		take_out(&b, out);
		rss += harm;
	}
	if (!err) {
		p->rss[0] = f->rss0;
		p->needs[0] = 1;
	}
	backward_release(&b);
	if (err)
		pruned_release(p);
	return err;
}

void pruned_release(struct pruned *p)
{
	free(p->rss);
	free(p->needs);
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
	int err = x && solved ? 0 : -ENOMEM;

	for (size_t j = 0; j < m && !err; j++)
		if (p->needs[j] <= size)
			memcpy(x + nr++ * m, f->r + j * (j + 1) / 2, (j + 1) * sizeof(*x));
	if (!err)
		err = lsq_solve(&problem, &r);
	nr = 0;
	for (size_t j = 0; j < m && !err; j++)
		coefficients[j] = p->needs[j] <= size ? solved[nr++] * f->y_scale : 0;
	if (!err)
		coefficients[0] += f->y_mean;
	free(x);
	free(solved);
	return err;
}
