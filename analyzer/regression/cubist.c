// SPDX-License-Identifier: Apache-2.0
/*
 * M5 and Cubist (Quinlan 1992, 1993; seed 004, section 3.2). Cubist is a committee of model trees, member
 * t+1 fitted to 2y - f_t(x), averaged, and corrected by the nearest training rows; M5 is its single
 * tree without neighbours. One committee serves every smaller one; a committee whose trees are all
 * smaller than nsplits serves every such nsplits; neighbours cost no refit.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/regression/m5_tree.h"
#include "analyzer/regression/technique.h"

enum { NSPLITS, NTREES, NINSTANCES };

struct member {
	struct m5_tree *tree;
	double *at_train, *at_rows; /* its predictions, cut to floor and ceiling */
	double *corrected; /* of the committee up to here: [k] x nr_rows, k neighbours; NULL yet */
};

struct committee {
	size_t nsplits;
	struct member *members;
	size_t nr;
	double *target; /* of the next member */
};

struct cubist {
	const struct sweep_input *in;
	bool single; /* m5 */
	struct design design;
	uint32_t *order;
	double *train_rows;
	double floor, ceiling;
	struct committee **committees; /* the first has no limit of splits */
	size_t nr_committees;
	uint64_t nr_fits;
};

/* One range beyond the training responses on either side, but not across 0. */
static void limits(struct cubist *c)
{
	const struct dataset *d = c->in->train;
	double low = d->y[0], high = d->y[0];

	for (size_t i = 0; i < d->nr_rows; i++) {
		low = fmin(low, d->y[i]);
		high = fmax(high, d->y[i]);
	}
	c->floor = low - (high - low);
	c->ceiling = high + (high - low);
	if (low >= 0 && c->floor < 0)
		c->floor = 0;
	if (high <= 0 && c->ceiling > 0)
		c->ceiling = 0;
}

static void committee_free(struct committee *k)
{
	for (size_t i = 0; k && i < k->nr; i++) {
		m5_tree_free(k->members[i].tree);
		free(k->members[i].at_train);
		free(k->members[i].at_rows);
		free(k->members[i].corrected);
	}
	if (k) {
		free(k->members);
		free(k->target);
	}
	free(k);
}

static void cubist_close(void *sweep)
{
	struct cubist *c = sweep;

	for (size_t i = 0; i < c->nr_committees; i++)
		committee_free(c->committees[i]);
	free(c->committees);
	free(c->order);
	free(c->train_rows);
	design_release(&c->design);
	free(c);
}

static int cubist_open(void **sweep, const struct technique *t, const struct sweep_input *in)
{
	struct cubist *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->in = in;
	c->single = t == &technique_m5;
	err = design_init(&c->design, in->schema, in->train);
	if (!err) {
		c->order = grow_order(in->schema, in->train);
		c->train_rows = dataset_rows(in->train);
		err = c->order && c->train_rows ? 0 : -ENOMEM;
	}
	if (err) {
		cubist_close(c);
		return err;
	}
	limits(c);
	*sweep = c;
	return 0;
}

static int committee_new(struct cubist *c, size_t nsplits, struct committee **out)
{
	struct committee **grown =
		reallocarray(c->committees, c->nr_committees + 1, sizeof(*grown));
	struct committee *k;

	if (!grown)
		return -ENOMEM;
	c->committees = grown;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->nsplits = nsplits;
	k->target = calloc(c->in->train->nr_rows + 1, sizeof(*k->target));
	if (!k->target) {
		free(k);
		return -ENOMEM;
	}
	memcpy(k->target, c->in->train->y, c->in->train->nr_rows * sizeof(*k->target));
	c->committees[c->nr_committees++] = k;
	*out = k;
	return 0;
}

static void predict_member(const struct cubist *c, const struct committee *k,
			   const struct m5_tree *t, const double *rows, size_t nr, double *out)
{
	for (size_t i = 0; i < nr; i++)
		out[i] = fmin(c->ceiling,
			      fmax(c->floor,
				   m5_tree_predict(t, c->in->schema, &c->design,
						   rows + i * c->in->schema->nr, k->nsplits)));
}

static int add_member(struct cubist *c, struct committee *k)
{
	struct m5_config config = { c->in->schema, c->in->train, k->target, c->order, &c->design };
	struct member *grown = reallocarray(k->members, k->nr + 1, sizeof(*grown)), *m;
	size_t n = c->in->train->nr_rows;
	int err;

	if (!grown)
		return -ENOMEM;
	k->members = grown;
	m = &k->members[k->nr];
	*m = (struct member){ 0 };
	err = m5_tree_new(&m->tree, &config);
	if (err)
		return err;
	k->nr++;
	c->nr_fits++;
	m->at_train = calloc(n + 1, sizeof(*m->at_train));
	m->at_rows = calloc(c->in->nr_rows + 1, sizeof(*m->at_rows));
	if (!m->at_train || !m->at_rows)
		return -ENOMEM;
	predict_member(c, k, m->tree, c->train_rows, n, m->at_train);
	predict_member(c, k, m->tree, c->in->rows, c->in->nr_rows, m->at_rows);
	for (size_t i = 0; i < n; i++)
		k->target[i] = 2 * c->in->train->y[i] - m->at_train[i];
	return 0;
}

/* The committee for nsplits with ntrees members at least. */
static int committee_of(struct cubist *c, size_t nsplits, size_t ntrees, struct committee **out)
{
	struct committee *k = NULL;
	int err = c->nr_committees ? 0 : committee_new(c, SIZE_MAX - 1, &k);

	/* While no tree without limit has more splits, the limit changes nothing. */
	for (size_t i = 0; i < ntrees && !err; i++) {
		k = c->committees[0];
		if (i == k->nr)
			err = add_member(c, k);
		if (err || k->members[i].tree->nr_splits <= nsplits)
			continue;
		k = NULL;
		break;
	}
	for (size_t i = 1; !err && !k && i < c->nr_committees; i++)
		if (c->committees[i]->nsplits == nsplits)
			k = c->committees[i];
	if (!err && !k)
		err = committee_new(c, nsplits, &k);
	while (!err && k->nr < ntrees)
		err = add_member(c, k);
	*out = k;
	return err;
}

static void mean_of(const struct committee *k, size_t ntrees, bool train, size_t nr, double *out)
{
	for (size_t i = 0; i < nr; i++) {
		double sum = 0;

		for (size_t t = 0; t < ntrees; t++)
			sum += train ? k->members[t].at_train[i] : k->members[t].at_rows[i];
		out[i] = ntrees > 1 ? sum / (double)ntrees : sum;
	}
}

/* Predictions of the first ntrees members with 0, 1, ... NEIGHBOURS_MAX neighbours. */
static int correct(struct cubist *c, struct committee *k, size_t ntrees)
{
	size_t n = c->in->train->nr_rows, nr = c->in->nr_rows;
	double *fitted = calloc(2 * n + 1, sizeof(*fitted)), *scratch = fitted + n;
	double *out = calloc((NEIGHBOURS_MAX + 1) * nr + 1, sizeof(*out));
	struct neighbours near = { 0 };
	int err = fitted && out ? 0 : -ENOMEM;

	if (!err) {
		mean_of(k, ntrees, true, n, fitted);
		mean_of(k, ntrees, false, nr, out);
		err = neighbours_init(&near, c->in->schema, c->in->train, NEIGHBOURS_MAX, fitted);
	}
	for (size_t i = 0; i < nr && !err; i++) {
		double shift[NEIGHBOURS_MAX];

		neighbours_shifts(&near, c->in->rows + i * c->in->schema->nr, scratch, shift);
		for (size_t j = 0; j < NEIGHBOURS_MAX; j++)
			out[(j + 1) * nr + i] = out[i] + shift[j];
	}
	neighbours_release(&near);
	free(fitted);
	if (err)
		free(out);
	else
		k->members[ntrees - 1].corrected = out;
	return err;
}

static int cubist_predict(void *sweep, const double *p, double *out)
{
	struct cubist *c = sweep;
	size_t ntrees = c->single ? 1 : (size_t)p[NTREES], nr = c->in->nr_rows;
	size_t near = c->single ? 0 : (size_t)p[NINSTANCES];
	struct committee *k;
	int err = committee_of(c, (size_t)p[NSPLITS], ntrees, &k);

	if (err)
		return err;
	if (!near) {
		mean_of(k, ntrees, false, nr, out);
		return 0;
	}
	if (!k->members[ntrees - 1].corrected)
		err = correct(c, k, ntrees);
	if (!err)
		memcpy(out, k->members[ntrees - 1].corrected + near * nr, nr * sizeof(*out));
	return err;
}

static int cubist_extract(void *sweep, const double *p, struct model *m)
{
	struct cubist *c = sweep;
	size_t ntrees = c->single ? 1 : (size_t)p[NTREES], n = c->in->train->nr_rows;
	unsigned int near = c->single ? 0 : (unsigned int)p[NINSTANCES];
	double *fitted = calloc(n + 1, sizeof(*fitted));
	struct committee *k;
	int err = fitted ? committee_of(c, (size_t)p[NSPLITS], ntrees, &k) : -ENOMEM;

	m->is_forest = true;
	m->forest.floor = c->floor;
	m->forest.ceiling = c->ceiling;
	for (size_t t = 0; t < ntrees && !err; t++)
		err = m5_tree_copy(&m->forest, k->members[t].tree, c->in->schema, &c->design,
				   k->nsplits);
	if (!err && near) {
		mean_of(k, ntrees, true, n, fitted);
		err = neighbours_init(&m->neighbours, c->in->schema, c->in->train, near, fitted);
	}
	free(fitted);
	return err;
}

static uint64_t cubist_nr_fits(const void *sweep)
{
	return ((const struct cubist *)sweep)->nr_fits;
}

static double standard_nsplits(size_t nr_columns, const double *p)
{
	(void)nr_columns;
	(void)p;
	return 100;
}

static double standard_one(size_t nr_columns, const double *p)
{
	(void)nr_columns;
	(void)p;
	return 1;
}

static double standard_none(size_t nr_columns, const double *p)
{
	(void)nr_columns;
	(void)p;
	return 0;
}

static const struct parameter parameters[] = {
	{ "nsplits", 2, 400, true, standard_nsplits },
	{ "ntrees", 1, 100, true, standard_one },
	{ "ninstances", 0, NEIGHBOURS_MAX, true, standard_none },
};

#define CUBIST_METHODS                                                            \
	.parameters = parameters, .open = cubist_open, .predict = cubist_predict, \
	.extract = cubist_extract, .nr_fits = cubist_nr_fits, .close = cubist_close

const struct technique technique_m5 = {
	.name = "m5",
	.summary = "a tree with a linear model in each leaf",
	.speed = 4,
	.simplicity = 3,
	.search_ratio = 5,
	.nr_parameters = 1,
	CUBIST_METHODS,
};

const struct technique technique_cubist = {
	.name = "cubist",
	.summary = "a committee of model trees, corrected by near training rows",
	.speed = 1,
	.simplicity = 1,
	.search_ratio = 300,
	.nr_parameters = 3,
	CUBIST_METHODS,
};
