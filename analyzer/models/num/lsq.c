// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>
#include <lapacke.h>

#include "analyzer/models/num/lsq.h"

#define REFINEMENTS 3 /* Each refinement gains the digits that the condition number leaves. */

struct work {
	size_t n, p;
	double *a;     /* n x p: the kept columns, later their QR factors */
	double *z;     /* n entries: Q'y */
	double *tau;   /* p entries */
	double *norms; /* p entries: norms of the columns as given */
	double *scratch;
	size_t scratch_len;
	size_t *kept; /* indexes of the columns in a */
	size_t nr_kept;
};

void lsq_single_thread(void)
{
	openblas_set_num_threads(1);
}

static int work_init(struct work *w, const struct lsq_problem *p)
{
	size_t n = p->nr_rows, m = p->nr_columns;

	*w = (struct work){ .n = n, .p = m, .scratch_len = 64 * (m + 1) };
	w->a = calloc(n * m + 1, sizeof(double));
	w->z = calloc(n + 1, sizeof(double));
	w->tau = calloc(m + 1, sizeof(double));
	w->norms = calloc(m + 1, sizeof(double));
	w->scratch = calloc(w->scratch_len, sizeof(double));
	w->kept = calloc(m + 1, sizeof(*w->kept));
	return w->a && w->z && w->tau && w->norms && w->scratch && w->kept ? 0 : -ENOMEM;
}

static void work_release(struct work *w)
{
	free(w->a);
	free(w->z);
	free(w->tau);
	free(w->norms);
	free(w->scratch);
	free(w->kept);
}

static void lsq_fill(struct work *w, const struct lsq_problem *p)
{
	for (size_t k = 0; k < w->nr_kept; k++) {
		const double *from = p->x + w->kept[k] * w->n;
		double *to = w->a + k * w->n;

		for (size_t i = 0; i < w->n; i++)
			to[i] = p->weight ? from[i] * sqrt(p->weight[i]) : from[i];
	}
	for (size_t i = 0; i < w->n; i++)
		w->z[i] = p->weight ? p->y[i] * sqrt(p->weight[i]) : p->y[i];
}

static void lsq_drop(struct work *w, size_t k)
{
	memmove(w->kept + k, w->kept + k + 1, (w->nr_kept - k - 1) * sizeof(*w->kept));
	w->nr_kept--;
}

/*
 * Factors the kept columns. Where one depends on earlier ones, drops the first such column and
 * returns false.
 */
static bool lsq_factor(struct work *w, const struct lsq_problem *p)
{
	lapack_int n = (lapack_int)w->n, m = (lapack_int)w->nr_kept;

	lsq_fill(w, p);
	LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, n, m, w->a, n, w->tau, w->scratch,
			    (lapack_int)w->scratch_len);
	for (size_t k = 0; k < w->nr_kept; k++) {
		double norm = w->norms[w->kept[k]];

		if (!isfinite(norm))
			return true; /* lsq_solve_kept() then finds no finite residual */
		if (k >= w->n || !(fabs(w->a[k * w->n + k]) > LSQ_TOLERANCE * norm)) {
			lsq_drop(w, k);
			return false;
		}
	}
	return true;
}

static void column_norms(struct work *w, const struct lsq_problem *p)
{
	for (size_t j = 0; j < w->p; j++)
		w->kept[j] = j;
	w->nr_kept = w->p;
	lsq_fill(w, p);
	w->nr_kept = 0;
	for (size_t j = 0; j < w->p; j++) {
		w->norms[j] = cblas_dnrm2((int)w->n, w->a + j * w->n, 1);
		if (w->norms[j] > 0)
			w->kept[w->nr_kept++] = j;
	}
}

/* Computes the square root of the diagonal of inv(R'R), times the residual's standard deviation. */
static void standard_errors(struct work *w, struct lsq_result *r)
{
	size_t m = w->nr_kept;
	double sigma = w->n > m ? sqrt(r->rss / (double)(w->n - m)) : NAN;

	for (size_t j = 0; j < w->p; j++)
		r->standard_errors[j] = NAN;
	LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'U', 'N', (lapack_int)m, w->a, (lapack_int)w->n);
	for (size_t k = 0; k < m; k++)
		r->standard_errors[w->kept[k]] =
			sigma * cblas_dnrm2((int)(m - k), w->a + k * w->n + k, (int)w->n);
}

/* Computes Q'v or Qv in place. */
static void lsq_rotate(struct work *w, char how, double *v)
{
	if (w->nr_kept)
		LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', how, (lapack_int)w->n, 1,
				    (lapack_int)w->nr_kept, w->a, (lapack_int)w->n, w->tau, v,
				    (lapack_int)w->n, w->scratch, (lapack_int)w->scratch_len);
}

/* Solves with the triangle, or with its transpose, in place. */
static void lsq_substitute(struct work *w, enum CBLAS_TRANSPOSE how, double *v)
{
	if (w->nr_kept)
		cblas_dtrsv(CblasColMajor, CblasUpper, how, CblasNonUnit, (int)w->nr_kept, w->a,
			    (int)w->n, v, 1);
}

/* This struct holds the solution and the residual, with more precision than double. */
struct refined {
	long double *x, *rest; /* nr_kept and n entries */
	double *f, *g;	       /* n and nr_kept entries */
};

/* Computes the defects of solution and residual: f = y - rest - a x, g = -a'rest. */
static void lsq_defects(const struct work *w, const struct lsq_problem *p, const struct refined *s)
{
	memset(s->g, 0, w->nr_kept * sizeof(*s->g));
	for (size_t k = 0; k < w->nr_kept; k++) {
		const double *column = p->x + w->kept[k] * w->n;
		long double sum = 0;

		for (size_t i = 0; i < w->n; i++)
			sum -= (p->weight ? sqrtl(p->weight[i]) : 1) * column[i] * s->rest[i];
		s->g[k] = (double)sum;
	}
	for (size_t i = 0; i < w->n; i++) {
		long double root = p->weight ? sqrtl(p->weight[i]) : 1, sum = p->y[i];

		for (size_t k = 0; k < w->nr_kept; k++)
			sum -= p->x[w->kept[k] * w->n + i] * s->x[k];
		s->f[i] = (double)(root * sum - s->rest[i]);
	}
}

/* Corrects x and rest by the solution of the factored system for the defects. */
static void lsq_improve(struct work *w, const struct refined *s)
{
	size_t m = w->nr_kept;

	lsq_substitute(w, CblasTrans, s->g);
	lsq_rotate(w, 'T', s->f);
	for (size_t k = 0; k < m; k++) {
		double h = s->g[k];

		s->g[k] = s->f[k] - h;
		s->f[k] = h;
	}
	lsq_substitute(w, CblasNoTrans, s->g);
	lsq_rotate(w, 'N', s->f);
	for (size_t k = 0; k < m; k++)
		s->x[k] += s->g[k];
	for (size_t i = 0; i < w->n; i++)
		s->rest[i] += s->f[i];
}

/* Refines the solution in z, and with it the residual sum of squares. */
static int lsq_refine(struct work *w, const struct lsq_problem *p, double *rss)
{
	struct refined s = { .x = calloc(w->nr_kept + 1, sizeof(*s.x)),
			     .rest = calloc(w->n + 1, sizeof(*s.rest)),
			     .f = calloc(w->n + 1, sizeof(*s.f)),
			     .g = calloc(w->nr_kept + 1, sizeof(*s.g)) };
	int ret = s.x && s.rest && s.f && s.g ? 0 : -ENOMEM;
	long double sum = 0;

	if (ret)
		goto out;
	for (size_t k = 0; k < w->nr_kept; k++)
		s.x[k] = w->z[k];
	lsq_defects(w, p, &s); /* f is the residual of the present x */
	for (size_t i = 0; i < w->n; i++)
		s.rest[i] = s.f[i];
	for (int i = 0; i < REFINEMENTS; i++) {
		lsq_defects(w, p, &s);
		lsq_improve(w, &s);
	}
	for (size_t i = 0; i < w->n; i++)
		sum += s.rest[i] * s.rest[i];
	for (size_t k = 0; k < w->nr_kept; k++) {
		if (!isfinite((double)s.x[k]))
			ret = -ERANGE;
		if (ret)
			goto out;
	}
	for (size_t k = 0; k < w->nr_kept; k++)
		w->z[k] = (double)s.x[k];
	*rss = (double)sum;
out:
	free(s.x);
	free(s.rest);
	free(s.f);
	free(s.g);
	return ret;
}

static int lsq_solve_kept(struct work *w, const struct lsq_problem *p, struct lsq_result *r)
{
	size_t m = w->nr_kept;
	double tail;
	int ret = 0;

	lsq_rotate(w, 'T', w->z);
	tail = cblas_dnrm2((int)(w->n - m), w->z + m, 1);
	r->rss = tail * tail;
	r->rank = m;
	lsq_substitute(w, CblasNoTrans, w->z);
	if (p->refine && isfinite(r->rss))
		ret = lsq_refine(w, p, &r->rss);
	for (size_t j = 0; j < w->p; j++) {
		r->coefficients[j] = 0;
		if (r->used)
			r->used[j] = false;
	}
	for (size_t k = 0; k < m; k++) {
		r->coefficients[w->kept[k]] = w->z[k];
		if (r->used)
			r->used[w->kept[k]] = true;
	}
	if (r->standard_errors)
		standard_errors(w, r);
	return ret;
}

int lsq_solve(const struct lsq_problem *p, struct lsq_result *r)
{
	struct work w;
	int ret = work_init(&w, p);

	if (ret)
		goto out;
	column_norms(&w, p);
	while (!lsq_factor(&w, p))
		;
	ret = lsq_solve_kept(&w, p, r);
	if (!ret && !isfinite(r->rss))
		ret = -ERANGE;
out:
	work_release(&w);
	return ret;
}
