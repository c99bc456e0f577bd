// SPDX-License-Identifier: Apache-2.0
/*
 * Linear regression by least squares: f(x) = b0 + sum bi xi, and the variant with all products of
 * distinct variables (2^n terms; Noorshams, Modeling and Prediction of I/O Performance in
 * Virtualized Environments, 2015, section 3.2). A factor is represented by its dummy columns, and
 * two columns of the same factor are never multiplied. Columns that depend linearly on earlier
 * ones get the coefficient 0, as in R's lm, and are left out of the formula.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/regression/table/design.h"
#include "analyzer/models/regression/technique.h"

#define COLUMNS_MAX 4096 /* 2^12 terms; a QR decomposition of more would take too long */

struct lrm {
	const struct sweep_input *in;
	struct terms terms;
	bool fitted, interactions;
};

/* Adds every product of the columns chosen so far with columns from `from` on. */
static int add_products(struct terms *t, const struct design *g, size_t from,
			struct term_factor *chosen, size_t nr, size_t degree)
{
	int ret = terms_add(t, 0, chosen, nr);

	if (ret || nr == degree)
		return ret;
	for (size_t c = from; c < g->nr_columns; c++) {
		const struct design_column *col = &g->columns[c];

		if (nr && chosen[nr - 1].variable == col->variable)
			continue;
		if (t->nr >= COLUMNS_MAX)
			return -E2BIG;
		chosen[nr] = (struct term_factor){
			.kind = col->level < 0 ? FACTOR_LINEAR : FACTOR_LEVEL,
			.variable = col->variable,
			.at = col->level < 0 ? 0 : col->level,
		};
		ret = add_products(t, g, c + 1, chosen, nr + 1, degree);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Orders terms by degree first, as formulas are usually written, and within a degree by the order
 * of the columns.
 */
static int order_terms(struct terms *out, const struct terms *in, size_t nr_vars)
{
	for (size_t degree = 0; degree <= nr_vars; degree++) {
		for (size_t j = 0; j < in->nr; j++) {
			const struct term_factor *factors = in->factors + terms_begin(in, j);
			int ret = 0;

			if (in->ends[j] - terms_begin(in, j) == degree)
				ret = terms_add(out, 0, factors, degree);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static int make_terms(struct terms *out, const struct design *g, size_t nr_vars, bool interactions)
{
	struct term_factor *chosen = calloc(nr_vars + 1, sizeof(*chosen));
	struct terms all = { 0 };
	int ret = chosen ? 0 : -ENOMEM;

	if (ret)
		goto out;
	ret = add_products(&all, g, 0, chosen, 0, interactions ? nr_vars : 1);
	if (ret)
		goto out;
	ret = order_terms(out, &all, nr_vars);
out:
	free(chosen);
	terms_release(&all);
	return ret;
}

static void fill_columns(double *x, const struct terms *t, const struct dataset *d)
{
	for (size_t j = 0; j < t->nr; j++) {
		double *column = x + j * d->nr_rows;

		for (size_t i = 0; i < d->nr_rows; i++)
			column[i] = 1;
		for (size_t k = terms_begin(t, j); k < t->ends[j]; k++) {
			const double *v = d->x + t->factors[k].variable * d->nr_rows;

			for (size_t i = 0; i < d->nr_rows; i++)
				column[i] *= factor_value(&t->factors[k], v[i]);
		}
	}
}

static int keep_used(struct terms *t, const struct lsq_result *r)
{
	struct terms kept = { 0 };
	double *errors = calloc(t->nr + 1, sizeof(*errors));
	int ret;

	if (!errors)
		return -ENOMEM;
	kept.standard_errors = errors;
	for (size_t j = 0; j < t->nr; j++) {
		if (j && !r->used[j])
			continue;
		errors[kept.nr] = r->standard_errors[j];
		ret = terms_add(&kept, r->coefficients[j], t->factors + terms_begin(t, j),
				t->ends[j] - terms_begin(t, j));
		if (ret)
			goto out;
	}
	terms_release(t);
	*t = kept;
	return 0;
out:
	terms_release(&kept);
	return ret;
}

static int lrm_fit(struct lrm *l)
{
	const struct dataset *d = l->in->train;
	struct design g = { 0 };
	struct lsq_problem problem = { .nr_rows = d->nr_rows, .y = d->y, .weight = d->weight };
	struct lsq_result r = { 0 };
	double *x = NULL;
	int ret = design_init(&g, l->in->schema, d);

	if (ret)
		goto out;
	ret = make_terms(&l->terms, &g, d->nr_vars, l->interactions);
	if (ret)
		goto out;
	x = reallocarray(NULL, l->terms.nr * d->nr_rows + 1, sizeof(*x));
	r.coefficients = calloc(l->terms.nr + 1, sizeof(*r.coefficients));
	r.standard_errors = calloc(l->terms.nr + 1, sizeof(*r.standard_errors));
	r.used = calloc(l->terms.nr + 1, sizeof(*r.used));
	ret = x && r.coefficients && r.standard_errors && r.used ? 0 : -ENOMEM;
	if (ret)
		goto out;
	fill_columns(x, &l->terms, d);
	problem.nr_columns = l->terms.nr;
	problem.x = x;
	problem.refine = true;
	ret = lsq_solve(&problem, &r);
	if (ret)
		goto out;
	ret = keep_used(&l->terms, &r);
out:
	design_release(&g);
	free(x);
	free(r.coefficients);
	free(r.standard_errors);
	free(r.used);
	l->fitted = !ret;
	if (!ret)
		sweep_count(l->in);
	return ret;
}

static int lrm_open(void **sweep, const struct technique *t, const struct sweep_input *in)
{
	struct lrm *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->in = in;
	l->interactions = t == &technique_lrm_ia;
	*sweep = l;
	return 0;
}

static int lrm_predict(void *sweep, const double *p, double *out)
{
	struct lrm *l = sweep;
	int ret = l->fitted ? 0 : lrm_fit(l);

	(void)p;
	if (ret)
		return ret;
	terms_predict(&l->terms, l->in->rows, l->in->nr_rows, l->in->schema->nr, out);
	return 0;
}

static int lrm_extract(void *sweep, const double *p, struct model *m)
{
	struct lrm *l = sweep;
	int ret = l->fitted ? 0 : lrm_fit(l);

	(void)p;
	if (ret)
		return ret;
	m->terms = l->terms;
	l->terms = (struct terms){ 0 };
	l->fitted = false;
	return 0;
}

static void lrm_close(void *sweep)
{
	struct lrm *l = sweep;

	terms_release(&l->terms);
	free(l);
}

#define LRM_METHODS \
	.open = lrm_open, .predict = lrm_predict, .extract = lrm_extract, .close = lrm_close

const struct technique technique_lrm = {
	.name = "lrm",
	.summary = "least squares, degree 1",
	.speed = 5,
	.simplicity = 5,
	.search_ratio = 1,
	.bounded = true,
	LRM_METHODS,
};

const struct technique technique_lrm_ia = {
	.name = "lrm-ia",
	.summary = "least squares with all products of distinct variables",
	.speed = 5,
	.simplicity = 4,
	.search_ratio = 1,
	.bounded = true,
	LRM_METHODS,
};
