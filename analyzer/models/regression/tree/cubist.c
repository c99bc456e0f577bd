// SPDX-License-Identifier: Apache-2.0
/*
 * M5 and Cubist (Quinlan, Learning with continuous classes, 1992; Quinlan, Combining
 * instance-based and model-based learning, 1993; Noorshams, Modeling and Prediction of I/O
 * Performance in Virtualized Environments, 2015, section 3.2; Cubist 2.07). Cubist is a committee
 * of sets of rules. Member t+1 is fitted to 2y - f_t(x), the members are averaged, and the nearest
 * training rows correct the average. M5 is the first member without neighbours. One committee
 * serves every smaller committee. A committee whose trees all have fewer leaves than nsplits
 * serves every nsplits that requires the same number of rows per rule. A change of the number of
 * neighbours needs no new fit.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/technique.h"
#include "analyzer/models/regression/tree/m5_rules.h"

enum { NSPLITS, NTREES, NINSTANCES };

struct member {
	struct rules rules;	    /* one set */
	size_t natural;		    /* leaves of the tree before the limit nsplits was applied */
	double *at_train, *at_rows; /* sums of the predictions of the members up to this one */
	/*
	 * predictions of the committee up to this member: [k] x nr_rows, k neighbours; NULL until
	 * needed
	 */
	double *corrected;
};

struct committee {
	size_t least_cover, max_leaves;
	struct member *members;
	size_t nr;
	double *target; /* response to which the next member is fitted */
};

struct cubist {
	const struct sweep_input *in;
	bool single; /* true for the technique m5 */
	struct m5_ground ground;
	double *train_rows;
	struct nearest *near; /* per row to predict; NULL until needed */
	struct committee **committees;
	size_t nr_committees;
};

static void committee_free(struct committee *k)
{
	for (size_t i = 0; k && i < k->nr; i++) {
		rules_release(&k->members[i].rules);
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
	for (size_t i = 0; c->near && i < c->in->nr_rows; i++)
		nearest_release(&c->near[i]);
	free(c->near);
	free(c->committees);
	free(c->train_rows);
	m5_ground_release(&c->ground);
	free(c);
}

static int cubist_open(void **sweep, const struct technique *t, const struct sweep_input *in)
{
	struct cubist *c = calloc(1, sizeof(*c));
	int ret;

	if (!c)
		return -ENOMEM;
	c->in = in;
	c->single = t == &technique_m5;
	ret = m5_ground_init(&c->ground, in->schema, in->train);
	if (ret)
		goto out;
	c->train_rows = dataset_rows(in->train);
	ret = c->train_rows ? 0 : -ENOMEM;
	if (ret)
		goto out;
	*sweep = c;
	return 0;
out:
	cubist_close(c);
	return ret;
}

static int committee_new(struct cubist *c, size_t least_cover, size_t max_leaves,
			 struct committee **out)
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
	k->least_cover = least_cover;
	k->max_leaves = max_leaves;
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

static int make_rules(struct cubist *c, const struct committee *k, struct member *m)
{
	struct m5_tree *tree = NULL;
	int ret = m5_tree_new(&tree, &c->ground, k->target, k->least_cover, k->max_leaves,
			      &m->natural);

	if (ret)
		goto out;
	ret = m5_rules(&m->rules, tree);
out:
	m5_tree_free(tree);
	return ret;
}

static void add_to(double *sum, const double *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		sum[i] += v[i];
}

static int add_member(struct cubist *c, struct committee *k)
{
	struct member *grown = reallocarray(k->members, k->nr + 1, sizeof(*grown)), *m;
	size_t n = c->in->train->nr_rows;
	int ret;

	if (!grown)
		return -ENOMEM;
	k->members = grown;
	m = &k->members[k->nr++];
	*m = (struct member){ 0 };
	m->at_train = calloc(n + 1, sizeof(*m->at_train));
	m->at_rows = calloc(c->in->nr_rows + 1, sizeof(*m->at_rows));
	ret = m->at_train && m->at_rows ? make_rules(c, k, m) : -ENOMEM;
	if (ret)
		return ret;
	sweep_count(c->in);
	rules_predict(&m->rules, c->in->schema, c->train_rows, n, m->at_train);
	rules_predict(&m->rules, c->in->schema, c->in->rows, c->in->nr_rows, m->at_rows);
	for (size_t i = 0; i < n; i++)
		k->target[i] = 2 * c->in->train->y[i] - m->at_train[i];
	if (k->nr > 1) {
		add_to(m->at_train, m[-1].at_train, n);
		add_to(m->at_rows, m[-1].at_rows, c->in->nr_rows);
	}
	return 0;
}

static int find_or_make(struct cubist *c, size_t least_cover, size_t max_leaves,
			struct committee **out)
{
	for (size_t i = 0; i < c->nr_committees; i++) {
		*out = c->committees[i];
		if ((*out)->least_cover == least_cover && (*out)->max_leaves == max_leaves)
			return 0;
	}
	return committee_new(c, least_cover, max_leaves, out);
}

/* Returns the committee for nsplits with at least ntrees members. */
static int committee_of(struct cubist *c, double nsplits, size_t ntrees, struct committee **out)
{
	size_t least_cover = m5_least_cover(&c->ground, nsplits);
	struct committee *k;
	bool limited = false;
	int ret = find_or_make(c, least_cover, SIZE_MAX, &k);

	if (ret)
		return ret;
	/* The limit changes nothing as long as no unlimited tree has more leaves. */
	for (size_t i = 0; i < ntrees && !limited; i++) {
		ret = i == k->nr ? add_member(c, k) : 0;
		if (ret)
			return ret;
		limited = (double)k->members[i].natural > nsplits;
	}
	ret = limited ? find_or_make(c, least_cover, (size_t)nsplits, &k) : 0;
	if (ret)
		return ret;
	while (k->nr < ntrees) {
		ret = add_member(c, k);
		if (ret)
			return ret;
	}
	*out = k;
	return 0;
}

static void mean_of(const double *sum, size_t ntrees, size_t nr, double *out)
{
	for (size_t i = 0; i < nr; i++)
		out[i] = ntrees > 1 ? sum[i] / (double)ntrees : sum[i];
}

/*
 * Finds the training rows nearest to each row to predict, which are the same for every committee.
 */
static int find_nearest(struct cubist *c)
{
	size_t n = c->in->train->nr_rows, nr = c->in->nr_rows;
	double *none = calloc(n + 1, sizeof(*none));
	struct neighbours all = { 0 };
	int ret = none ? 0 : -ENOMEM;

	if (ret)
		goto out;
	c->near = calloc(nr + 1, sizeof(*c->near));
	ret = c->near ? 0 : -ENOMEM;
	if (ret)
		goto out;
	ret = neighbours_init(&all, c->in->schema, c->in->train, NEIGHBOURS_MAX, none);
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		ret = nearest_find(&c->near[i], &all, c->in->rows + i * c->in->schema->nr);
		if (ret)
			goto out;
	}
out:
	neighbours_release(&all);
	free(none);
	return ret;
}

/* Computes the predictions of the first ntrees members with 1 to NEIGHBOURS_MAX neighbours. */
static int cubist_correct(struct cubist *c, struct committee *k, size_t ntrees)
{
	size_t n = c->in->train->nr_rows, nr = c->in->nr_rows;
	const struct member *m = &k->members[ntrees - 1];
	double *shift = calloc(n + 1, sizeof(*shift));
	double *out = calloc((NEIGHBOURS_MAX + 1) * nr + 1, sizeof(*out));
	int ret = shift && out ? 0 : -ENOMEM;

	if (ret)
		goto out;
	if (!c->near)
		ret = find_nearest(c);
	if (ret)
		goto out;
	mean_of(m->at_train, ntrees, n, shift);
	mean_of(m->at_rows, ntrees, nr, out);
	for (size_t i = 0; i < n; i++)
		shift[i] = c->in->train->y[i] - shift[i];
	for (size_t i = 0; i < nr; i++) {
		double by[NEIGHBOURS_MAX];

		nearest_shifts(&c->near[i], shift, by);
		for (size_t j = 0; j < NEIGHBOURS_MAX; j++)
			out[(j + 1) * nr + i] = out[i] + by[j];
	}
out:
	free(shift);
	if (ret)
		free(out);
	else
		k->members[ntrees - 1].corrected = out;
	return ret;
}

static int cubist_predict(void *sweep, const double *p, double *out)
{
	struct cubist *c = sweep;
	size_t ntrees = c->single ? 1 : (size_t)p[NTREES], nr = c->in->nr_rows;
	size_t near = c->single ? 0 : (size_t)p[NINSTANCES];
	struct committee *k;
	int ret = committee_of(c, p[NSPLITS], ntrees, &k);

	if (ret)
		return ret;
	if (!near) {
		mean_of(k->members[ntrees - 1].at_rows, ntrees, nr, out);
		return 0;
	}
	if (!k->members[ntrees - 1].corrected)
		ret = cubist_correct(c, k, ntrees);
	if (ret)
		return ret;
	memcpy(out, k->members[ntrees - 1].corrected + near * nr, nr * sizeof(*out));
	return 0;
}

static int cubist_extract(void *sweep, const double *p, struct model *m)
{
	struct cubist *c = sweep;
	size_t ntrees = c->single ? 1 : (size_t)p[NTREES], n = c->in->train->nr_rows;
	unsigned int near = c->single ? 0 : (unsigned int)p[NINSTANCES];
	double *fitted = calloc(n + 1, sizeof(*fitted));
	struct committee *k;
	int ret = fitted ? committee_of(c, p[NSPLITS], ntrees, &k) : -ENOMEM;

	m->form = MODEL_RULES;
	m->rules.fallback = c->ground.mean;
	if (ret)
		goto out;
	for (size_t t = 0; t < ntrees; t++) {
		ret = rules_append(&m->rules, &k->members[t].rules, c->in->schema);
		if (ret)
			goto out;
	}
	if (near) {
		mean_of(k->members[ntrees - 1].at_train, ntrees, n, fitted);
		ret = neighbours_init(&m->neighbours, c->in->schema, c->in->train, near, fitted);
	}
out:
	free(fitted);
	return ret;
}

static const struct parameter parameters[] = {
	{ "nsplits", 2, 400, true, 100, NULL },
	{ "ntrees", 1, 100, true, 1, NULL },
	{ "ninstances", 0, NEIGHBOURS_MAX, true, 0, NULL },
};

#define CUBIST_METHODS                                                            \
	.parameters = parameters, .open = cubist_open, .predict = cubist_predict, \
	.extract = cubist_extract, .close = cubist_close

const struct technique technique_m5 = {
	.name = "m5",
	.summary = "rules with a linear model each",
	.speed = 4,
	.simplicity = 3,
	.search_ratio = 6,
	.nr_parameters = 1,
	CUBIST_METHODS,
};

const struct technique technique_cubist = {
	.name = "cubist",
	.summary = "a committee of sets of rules, corrected by near training rows",
	.speed = 1,
	.simplicity = 1,
	.search_ratio = 350,
	.nr_parameters = 3,
	CUBIST_METHODS,
};
