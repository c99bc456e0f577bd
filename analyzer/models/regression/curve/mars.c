// SPDX-License-Identifier: Apache-2.0
/*
 * Multivariate adaptive regression splines (Friedman, Annals of Statistics 19, 1991; Noorshams,
 * Modeling and Prediction of I/O Performance in Virtualized Environments, 2015, section 3.2). The
 * sweep shares its work. One forward pass serves every nnodes and threshold, since each of them
 * gives a prefix of the pass. One backward pass per prefix serves every nprune. One set of
 * predictions per size serves every parameter set that leads to this size.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/curve/mars_forward.h"
#include "analyzer/models/regression/curve/mars_prune.h"
#include "analyzer/models/regression/technique.h"

enum { NNODES, THRESHOLD, NPRUNE };

/*
 * This struct holds the backward pass of one prefix, and the predictions of those of its sizes that
 * were asked for.
 */
struct branch {
	struct pruned pruned;
	double **predicted; /* [size], nr_rows each; NULL until needed */
};

struct mars {
	const struct sweep_input *in;
	struct forward forward;
	struct branch **branches; /* by number of terms; NULL until needed */
	size_t nr_branches;
	double *basis; /* terms x nr_rows: values of the terms at the rows to predict */
	size_t nr_basis;
};

static int mars_open(void **sweep, const struct technique *t, const struct sweep_input *in)
{
	struct mars *m = calloc(1, sizeof(*m));
	int ret;

	if (!m)
		return -ENOMEM;
	m->in = in;
	ret = forward_init(&m->forward, in->schema, in->train,
			   t == &technique_mars ? 1 : (unsigned int)in->schema->nr);
	if (ret)
		free(m);
	else
		*sweep = m;
	return ret;
}

static void branch_free(struct branch *b)
{
	for (size_t s = 0; b && b->predicted && s <= b->pruned.nr_terms; s++)
		free(b->predicted[s]);
	if (b) {
		free(b->predicted);
		pruned_release(&b->pruned);
	}
	free(b);
}

static void mars_close(void *sweep)
{
	struct mars *m = sweep;

	for (size_t i = 0; i < m->nr_branches; i++)
		branch_free(m->branches[i]);
	free(m->branches);
	free(m->basis);
	forward_release(&m->forward);
	free(m);
}

static int room_for_branch(struct mars *m, size_t nr_terms)
{
	struct branch **grown;

	if (nr_terms < m->nr_branches)
		return 0;
	grown = reallocarray(m->branches, nr_terms + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	m->branches = grown;
	while (m->nr_branches <= nr_terms)
		m->branches[m->nr_branches++] = NULL;
	return 0;
}

/* Returns the backward pass of the parameters' prefix, and the size that the parameters choose. */
static int branch_of(struct mars *m, const double *p, struct branch **out, size_t *size)
{
	size_t nr_terms;
	struct branch *b;
	int ret = forward_prefix(&m->forward, p[NNODES], p[THRESHOLD], &nr_terms);

	if (ret)
		return ret;
	ret = room_for_branch(m, nr_terms);
	if (ret)
		return ret;
	if (!m->branches[nr_terms]) {
		b = calloc(1, sizeof(*b));
		if (!b)
			return -ENOMEM;
		b->predicted = calloc(nr_terms + 1, sizeof(*b->predicted));
		ret = b->predicted ? prune(&b->pruned, &m->forward, nr_terms) : -ENOMEM;
		if (ret) {
			branch_free(b);
			return ret;
		}
		sweep_count(m->in);
		m->branches[nr_terms] = b;
	}
	*out = m->branches[nr_terms];
	*size = prune_size(&(*out)->pruned, &m->forward, p[NPRUNE]);
	return 0;
}

/* Computes the terms at the rows to predict, for all terms that exist so far. */
static int extend_basis(struct mars *m, size_t nr_terms)
{
	const struct terms *t = &m->forward.terms;
	size_t n = m->in->nr_rows, nr_vars = m->in->schema->nr;
	double *grown;

	if (nr_terms <= m->nr_basis)
		return 0;
	grown = reallocarray(m->basis, nr_terms * n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	m->basis = grown;
	for (; m->nr_basis < nr_terms; m->nr_basis++) {
		double *column = m->basis + m->nr_basis * n;

		for (size_t i = 0; i < n; i++) {
			column[i] = 1;
			for (size_t k = terms_begin(t, m->nr_basis); k < t->ends[m->nr_basis]; k++)
				column[i] *= factor_value(
					&t->factors[k],
					m->in->rows[i * nr_vars + t->factors[k].variable]);
		}
	}
	return 0;
}

static int predict_size(struct mars *m, struct branch *b, size_t size)
{
	size_t n = m->in->nr_rows, nr_terms = b->pruned.nr_terms;
	double *coefficients = calloc(nr_terms + 1, sizeof(*coefficients));
	double *out = calloc(n + 1, sizeof(*out));
	int ret = coefficients && out ? extend_basis(m, nr_terms) : -ENOMEM;

	if (ret)
		goto out;
	ret = prune_coefficients(&b->pruned, &m->forward, size, coefficients);
	if (ret)
		goto out;
	for (size_t j = 0; j < nr_terms; j++)
		for (size_t i = 0; i < n && coefficients[j] != 0; i++)
			out[i] += coefficients[j] * m->basis[j * n + i];
out:
	free(coefficients);
	if (ret)
		free(out);
	else
		b->predicted[size] = out;
	return ret;
}

static int mars_predict(void *sweep, const double *p, double *out)
{
	struct mars *m = sweep;
	struct branch *b;
	size_t size;
	int ret = branch_of(m, p, &b, &size);

	if (ret)
		return ret;
	if (!b->predicted[size])
		ret = predict_size(m, b, size);
	if (ret)
		return ret;
	memcpy(out, b->predicted[size], m->in->nr_rows * sizeof(*out));
	return 0;
}

static int mars_extract(void *sweep, const double *p, struct model *model)
{
	struct mars *m = sweep;
	const struct terms *t = &m->forward.terms;
	double *coefficients = NULL;
	struct branch *b;
	size_t size;
	int ret = branch_of(m, p, &b, &size);

	if (ret)
		goto out;
	coefficients = calloc(b->pruned.nr_terms + 1, sizeof(*coefficients));
	ret = coefficients ? prune_coefficients(&b->pruned, &m->forward, size, coefficients)
			   : -ENOMEM;
	if (ret)
		goto out;
	for (size_t j = 0; j < b->pruned.nr_terms; j++) {
		if (pruned_has(&b->pruned, size, j))
			ret = terms_add(&model->terms, coefficients[j],
					t->factors + terms_begin(t, j),
					t->ends[j] - terms_begin(t, j));
		if (ret)
			goto out;
	}
out:
	free(coefficients);
	return ret;
}

/* The limit is the default of R's earth: min(200, max(20, 2n)) + 1. */
static double standard_nnodes(size_t nr_columns, const double *p)
{
	(void)p;
	return fmin(200, fmax(20, 2 * (double)nr_columns)) + 1;
}

static double standard_nprune(size_t nr_columns, const double *p)
{
	(void)nr_columns;
	return p[NNODES];
}

static const struct parameter parameters[] = {
	{ "nnodes", 3, 800, true, 0, standard_nnodes },
	{ "threshold", 0, 0.999, false, 0.001, NULL },
	{ "nprune", 2, 800, true, 0, standard_nprune },
};

#define MARS_METHODS                                                                              \
	.nr_parameters = 3, .parameters = parameters, .open = mars_open, .predict = mars_predict, \
	.extract = mars_extract, .close = mars_close

const struct technique technique_mars = {
	.name = "mars",
	.summary = "sums of hinge functions",
	.speed = 3,
	.simplicity = 4,
	.search_ratio = 20,
	.bounded = true,
	MARS_METHODS,
};

const struct technique technique_mars_ia = {
	.name = "mars-ia",
	.summary = "sums of products of hinge functions",
	.speed = 2,
	.simplicity = 3,
	.search_ratio = 130,
	.bounded = true,
	MARS_METHODS,
};
