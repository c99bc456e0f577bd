// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>

#include "analyzer/models/regression/curve/mars_candidate.h"
#include "analyzer/models/regression/curve/mars_forward.h"
#include "analyzer/models/regression/table/row_order.h"
#include "base/memory/array.h"

/* A column counts as new if it keeps this share of its length after projection on the others. */
#define NEW_LENGTH 1e-6
/* A gain of R squared below this comes from rounding. */
#define LEAST_GAIN 1e-10
/*
 * If the GCV is this bad compared with the constant model, there are too few rows for further
 * terms.
 */
#define WORST_GRSQ -10
/* A step that gains ten times as much as the last one is a numerical accident, as in R's earth. */
#define GAIN_JUMP 10

static void scale_columns(struct forward *f)
{
	for (size_t c = 0; c < f->nr_columns; c++) {
		const double *x = f->design.x + c * f->n;
		const uint32_t *order = f->order + c * f->n;
		double low = x[order[0]], high = x[order[f->n - 1]];

		f->x_mid[c] = low / 2 + high / 2;
		f->x_range[c] = high > low ? high / 2 - low / 2 : 1;
		for (size_t i = 0; i < f->n; i++)
			f->x[c * f->n + i] = (x[i] - f->x_mid[c]) / f->x_range[c];
	}
}

static void scale_response(struct forward *f, const struct dataset *d)
{
	double weights = 0, sum = 0, squares = 0;

	for (size_t i = 0; i < f->n; i++) {
		double w = d->weight ? d->weight[i] : 1;

		weights += w;
		sum += w * d->y[i];
	}
	f->y_mean = sum / weights;
	for (size_t i = 0; i < f->n; i++) {
		double w = d->weight ? d->weight[i] : 1;

		squares += w * (d->y[i] - f->y_mean) * (d->y[i] - f->y_mean);
		if (d->weight)
			f->root_weight[i] = sqrt(w);
	}
	f->y_scale = squares > 0 ? sqrt(squares / weights) : 1;
	for (size_t i = 0; i < f->n; i++) {
		f->y[i] = (d->y[i] - f->y_mean) / f->y_scale;
		if (d->weight)
			f->y[i] *= f->root_weight[i];
		f->rss0 += f->y[i] * f->y[i];
	}
	f->rss = f->rss0;
	/* A response that varies only by rounding counts as constant. */
	if (f->y_scale <= 1e-12 * fabs(f->y_mean) || !(squares > 0))
		f->done = true;
}

static int more_terms(struct forward *f)
{
	size_t cap = f->cap_terms ? 2 * f->cap_terms : 32;
	double *b = reallocarray(f->b, cap * f->n, sizeof(*b)), *q, *r, *qy;

	if (!b)
		return -ENOMEM;
	f->b = b;
	q = reallocarray(f->q, cap * f->n, sizeof(*q));
	if (!q)
		return -ENOMEM;
	f->q = q;
	r = reallocarray(f->r, cap * (cap + 1) / 2, sizeof(*r));
	if (!r)
		return -ENOMEM;
	f->r = r;
	qy = reallocarray(f->qy, cap, sizeof(*qy));
	if (!qy)
		return -ENOMEM;
	f->qy = qy;
	f->cap_terms = cap;
	return 0;
}

/*
 * Adds the column at b[nr_terms] to the basis. Classical Gram-Schmidt, done twice, is as accurate
 * as Householder's method. Two passes suffice ("twice is enough"). Returns false if the column is
 * not new.
 */
static bool take_column(struct forward *f)
{
	size_t m = f->nr_terms, n = f->n;
	double *b = f->b + m * n, *q = f->q + m * n, *r = f->r + m * (m + 1) / 2;
	double *again = f->scratch, length = cblas_dnrm2((int)n, b, 1), left;

	memcpy(q, b, n * sizeof(*q));
	for (size_t k = 0; k < m; k++)
		r[k] = 0;
	for (int pass = 0; pass < 2 && m; pass++) {
		cblas_dgemv(CblasColMajor, CblasTrans, (int)n, (int)m, 1, f->q, (int)n, q, 1, 0,
			    again, 1);
		cblas_dgemv(CblasColMajor, CblasNoTrans, (int)n, (int)m, -1, f->q, (int)n, again, 1,
			    1, q, 1);
		for (size_t k = 0; k < m; k++)
			r[k] += again[k];
	}
	left = cblas_dnrm2((int)n, q, 1);
	if (!(left > NEW_LENGTH * length))
		return false;
	r[m] = left;
	cblas_dscal((int)n, 1 / left, q, 1);
	f->qy[m] = cblas_ddot((int)n, q, 1, f->y, 1);
	f->rss = fmax(0, f->rss - f->qy[m] * f->qy[m]);
	f->nr_terms++;
	return true;
}

/* Adds the term parent x (the column by kind and knot). Nothing is added if the term is not new. */
static int add_term(struct forward *f, size_t parent, size_t column, uint32_t kind, double knot)
{
	const struct design_column *c = &f->design.columns[column];
	const double *x = f->design.x + column * f->n;
	struct term_factor factors[64], *many = factors, last = { kind, c->variable, knot };
	size_t begin = terms_begin(&f->terms, parent), nr = f->terms.ends[parent] - begin;
	int ret = 0;

	if (f->nr_terms == f->cap_terms && more_terms(f))
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++)
		f->b[f->nr_terms * f->n + i] = f->b[parent * f->n + i] * factor_value(&last, x[i]);
	if (!take_column(f))
		return 0;
	if (c->level >= 0)
		last = (struct term_factor){ FACTOR_LEVEL, c->variable, c->level };
	if (nr + 1 > 64)
		many = calloc(nr + 1, sizeof(*many));
	if (!many)
		return -ENOMEM;
	memcpy(many, f->terms.factors + begin, nr * sizeof(*many));
	many[nr] = last;
	ret = terms_add(&f->terms, 0, many, nr + 1);
	if (many != factors)
		free(many);
	return ret;
}

/* Adds the candidates that multiply this term with each variable that it may take. */
static int add_candidates(struct forward *f, size_t term)
{
	size_t begin = terms_begin(&f->terms, term), degree = f->terms.ends[term] - begin;
	size_t from = f->nr_candidates;
	int ret = 0;

	if (degree >= f->max_degree)
		return 0;
	for (size_t c = 0; c < f->nr_columns; c++) {
		bool taken = false;

		for (size_t k = 0; k < degree; k++)
			taken |= f->terms.factors[begin + k].variable ==
				 f->design.columns[c].variable;
		if (!taken)
			ret = forward_candidate_add(f, term, c, degree);
		if (ret)
			return ret;
	}
	forward_candidates_settle(f, from);
	return 0;
}

static int add_constant(struct forward *f)
{
	if (more_terms(f) || terms_add(&f->terms, 0, NULL, 0))
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++)
		f->b[i] = f->root_weight ? f->root_weight[i] : 1;
	take_column(f);
	f->rss0 = f->rss; /* the mean is already removed: this is what is left to explain */
	return add_candidates(f, 0);
}

int forward_init(struct forward *f, const struct schema *s, const struct dataset *d,
		 unsigned int max_degree)
{
	int ret;

	memset(f, 0, sizeof(*f));
	f->schema = s;
	f->n = d->nr_rows;
	f->max_degree = max_degree;
	f->penalty = max_degree > 1 ? 3 : 2;
	f->last_gain = INFINITY;
	ret = design_init(&f->design, s, d);
	if (ret)
		return ret;
	f->nr_columns = f->design.nr_columns;
	f->y = calloc(f->n + 1, sizeof(*f->y));
	f->x = calloc(f->n * f->nr_columns + 1, sizeof(*f->x));
	f->x_mid = calloc(f->nr_columns + 1, sizeof(*f->x_mid));
	f->x_range = calloc(f->nr_columns + 1, sizeof(*f->x_range));
	f->order = calloc(f->n * f->nr_columns + 1, sizeof(*f->order));
	f->scratch = calloc(3 * f->n + 2048, sizeof(*f->scratch));
	if (d->weight)
		f->root_weight = calloc(f->n + 1, sizeof(*f->root_weight));
	if (!f->y || !f->x || !f->x_mid || !f->x_range || !f->order || !f->scratch ||
	    (d->weight && !f->root_weight))
		ret = -ENOMEM;
	if (ret)
		goto out;
	ret = row_order(f->design.x, f->nr_columns, f->n, f->order);
	if (ret)
		goto out;
	scale_columns(f);
	scale_response(f, d);
	ret = add_constant(f);
out:
	if (ret)
		forward_release(f);
	return ret;
}

void forward_release(struct forward *f)
{
	for (size_t i = 0; i < f->nr_candidates; i++)
		forward_candidate_release(&f->candidates[i]);
	free(f->candidates);
	design_release(&f->design);
	free(f->root_weight);
	free(f->y);
	free(f->x);
	free(f->x_mid);
	free(f->x_range);
	free(f->order);
	free(f->b);
	free(f->q);
	free(f->r);
	free(f->qy);
	free(f->steps);
	free(f->scratch);
	terms_release(&f->terms);
	memset(f, 0, sizeof(*f));
}

static double mars_forward_grsq(const struct forward *f, double rss, double nr_terms)
{
	double n = (double)f->n, c = nr_terms + f->penalty * (nr_terms - 1) / 2;
	double null = f->rss0 / (n * (1 - 1 / n) * (1 - 1 / n));

	return c >= n ? -INFINITY : 1 - rss / (n * (1 - c / n) * (1 - c / n)) / null;
}

static int add_pair(struct forward *f, const struct forward_choice *best)
{
	const struct forward_candidate *c = best->candidate;
	size_t parent = c->parent, column = c->column;
	int ret;

	if (best->linear)
		return add_term(f, parent, column, FACTOR_LINEAR, 0);
	ret = add_term(f, parent, column, FACTOR_ABOVE, best->knot);
	if (ret)
		return ret;
	if (best->pair)
		ret = add_term(f, parent, column, FACTOR_BELOW, best->knot);
	return ret;
}

static int mars_forward_record(struct forward *f, double gain)
{
	if (array_grow(&f->steps, &f->cap_steps, f->nr_steps + 1, sizeof(*f->steps)))
		return -ENOMEM;
	f->steps[f->nr_steps++] = (struct forward_step){ f->nr_terms, gain, 1 - f->rss / f->rss0 };
	return 0;
}

/*
 * R's earth gives each step two slots, but its queue of parents has only one entry for a step of
 * one term. The newest slots therefore wait for as many steps as there were steps of one term.
 * Returns false if `parent` would wait.
 */
static bool in_queue(const struct forward *f, size_t parent)
{
	size_t slot = 0;

	for (size_t s = 0, first = 1; s < f->nr_steps && parent >= first; s++) {
		slot = 2 * s + 1 + (parent - first);
		first = f->steps[s].nr_terms;
	}
	return slot < f->nr_terms;
}

/* Makes one step, or sets done. */
static int mars_forward_step(struct forward *f)
{
	size_t before = f->nr_terms;
	double rss = f->rss;
	struct forward_choice best = {
		.limit = fmin(1.01 * f->rss, GAIN_JUMP * f->last_gain),
		.nr_slots = 1 + 2 * f->nr_steps,
	};
	int ret = 0;

	for (size_t i = 0; i < f->nr_candidates; i++)
		if (!f->queue || in_queue(f, f->candidates[i].parent))
			forward_candidate_best(f, &f->candidates[i], &best);
	if (!best.candidate || best.gain < LEAST_GAIN * f->rss0 ||
	    mars_forward_grsq(f, f->rss - best.gain, (double)f->nr_terms + 2) < WORST_GRSQ) {
		f->done = true;
		return 0;
	}
	f->last_gain = best.gain;
	ret = add_pair(f, &best);
	if (ret)
		return ret;
	if (f->nr_terms == before) { /* rounding: even the best candidate was not new */
		f->done = true;
		return 0;
	}
	for (size_t j = before; j < f->nr_terms; j++)
		forward_candidates_update(f, j);
	for (size_t j = before; j < f->nr_terms; j++) {
		ret = add_candidates(f, j);
		if (ret)
			return ret;
	}
	return mars_forward_record(f, (rss - f->rss) / f->rss0);
}

int forward_prefix(struct forward *f, double nnodes, double threshold, size_t *nr_terms)
{
	double slots = 1;
	size_t terms = 1;

	for (size_t s = 0; slots + 2 <= nnodes; s++, slots += 2) {
		if (s == f->nr_steps && !f->done) {
			int ret = mars_forward_step(f);

			if (ret)
				return ret;
		}
		if (s == f->nr_steps || f->steps[s].gain < threshold)
			break;
		terms = f->steps[s].nr_terms;
		if (threshold > 0 && f->steps[s].r2 >= 1 - threshold)
			break;
	}
	*nr_terms = terms;
	return 0;
}
