// SPDX-License-Identifier: Apache-2.0
/*
 * Means of models. "ensemble" is the mean of MARS with interactions and of Cubist. Splines and
 * rules have their errors in different regions, so that the mean has a smaller error than either.
 * "mars-bag" is the mean of MARS models that were fitted to bootstrap samples of the rows
 * (Breiman, Bagging predictors, Machine Learning 24, 1996). The MARS part of the ensemble may be
 * bagged too. Every MARS model is limited to the range of the training rows before the mean is
 * taken. Bag b always has the same sample, so that one more bag costs only one more fit. "stack" is
 * the weighted mean of MARS, Cubist and a Gaussian process, with shares that blend.h finds.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/models/regression/technique.h"

#define BAGS_MAX      50
#define BAGS_SEED     1996 /* random seed of the bootstrap samples */
#define NR_MARS	      3	   /* parameters of MARS, which come first */
#define NR_CUBIST     3
#define ENSEMBLE_BAGS (NR_MARS + NR_CUBIST)
#define MARS_BAGS     NR_MARS
#define STACK_SHARES  (NR_MARS + NR_CUBIST) /* of MARS and of Cubist; the process has the rest */
#define BAGS_STANDARD 15

struct bag {
	struct dataset rows; /* empty if the bag consists of all training rows */
	struct sweep_input in;
	void *sweep;
};

struct ensemble {
	const struct sweep_input *in;
	const struct technique *technique;
	struct limits limits;
	struct bag whole; /* used for a single bag, which is not a sample */
	struct bag *bags;
	size_t nr_bags;
	void *cubist, *gp; /* NULL: the mean has none */
	double *one;	   /* predictions of one member */
};

static int bag_sample(struct dataset *out, const struct dataset *d, size_t bag)
{
	size_t n = d->nr_rows;
	int ret = dataset_alloc(out, n, d->nr_vars, d->weight != NULL);
	struct rng rng;

	if (ret)
		return ret;
	rng_stream(&rng, BAGS_SEED, bag);
	for (size_t i = 0; i < n; i++) {
		size_t row = rng_below(&rng, n);

		for (size_t v = 0; v < d->nr_vars; v++)
			out->x[v * n + i] = d->x[v * n + row];
		out->y[i] = d->y[row];
		if (d->weight)
			out->weight[i] = d->weight[row];
	}
	return 0;
}

static void bag_release(struct bag *b)
{
	if (b->sweep)
		technique_mars_ia.close(b->sweep);
	dataset_release(&b->rows);
}

static void ensemble_close(void *sweep)
{
	struct ensemble *e = sweep;

	for (size_t i = 0; i < e->nr_bags; i++)
		bag_release(&e->bags[i]);
	bag_release(&e->whole);
	if (e->cubist)
		technique_cubist.close(e->cubist);
	if (e->gp)
		technique_gp.close(e->gp);
	free(e->bags);
	free(e->one);
	free(e);
}

static int ensemble_open(void **sweep, const struct technique *t, const struct sweep_input *in)
{
	struct ensemble *e = calloc(1, sizeof(*e));
	int ret = -ENOMEM;

	if (!e)
		return ret;
	e->in = in;
	e->technique = t;
	e->limits = limits_of(in->train);
	e->one = calloc(in->nr_rows + 1, sizeof(*e->one));
	e->bags = calloc(BAGS_MAX, sizeof(*e->bags));
	if (!e->one || !e->bags)
		goto out;
	ret = t != &technique_mars_bag ? technique_cubist.open(&e->cubist, &technique_cubist, in)
				       : 0;
	if (ret)
		goto out;
	ret = t == &technique_stack ? technique_gp.open(&e->gp, &technique_gp, in) : 0;
	if (ret)
		goto out;
	*sweep = e;
	return 0;
out:
	ensemble_close(e);
	return ret;
}

static int bag_open(struct bag *b, const struct sweep_input *in, const struct dataset *train)
{
	b->in = *in;
	b->in.train = train;
	return technique_mars_ia.open(&b->sweep, &technique_mars_ia, &b->in);
}

/* Returns the MARS sweep of a bag. A single bag consists of all training rows. */
static int ensemble_bag(struct ensemble *e, size_t bag, size_t nr_bags, struct bag **out)
{
	int ret;

	if (nr_bags == 1) {
		*out = &e->whole;
		return e->whole.sweep ? 0 : bag_open(&e->whole, e->in, e->in->train);
	}
	*out = &e->bags[bag];
	if (bag < e->nr_bags)
		return 0;
	ret = bag_sample(&e->bags[bag].rows, e->in->train, bag);
	if (ret)
		goto out;
	ret = bag_open(&e->bags[bag], e->in, &e->bags[bag].rows);
	if (ret)
		goto out;
	e->nr_bags = bag + 1;
	return 0;
out:
	bag_release(&e->bags[bag]);
	e->bags[bag] = (struct bag){ 0 };
	return ret;
}

/*
 * These are the shares of the members in the mean: of each bag of MARS, of Cubist, and of the
 * process.
 */
struct ensemble_shares {
	size_t nr_bags;
	double bag, cubist, gp;
};

static struct ensemble_shares ensemble_shares(const struct ensemble *e, const double *p)
{
	double mars, cubist, sum;
	size_t nr;

	if (e->technique == &technique_mars_bag) {
		nr = (size_t)p[MARS_BAGS];
		return (struct ensemble_shares){ nr, 1 / (double)nr, 0, 0 };
	}
	if (e->technique == &technique_ensemble) {
		nr = (size_t)p[ENSEMBLE_BAGS];
		return (struct ensemble_shares){ nr, 0.5 / (double)nr, 0.5, 0 };
	}
	mars = p[STACK_SHARES];
	cubist = p[STACK_SHARES + 1];
	sum = fmax(1, mars + cubist);
	return (struct ensemble_shares){ 1, mars / sum, cubist / sum, fmax(0, 1 - mars - cubist) };
}

static void ensemble_add(const struct ensemble *e, double share, double *out)
{
	for (size_t i = 0; i < e->in->nr_rows; i++)
		out[i] += share * e->one[i];
}

static int ensemble_predict_bags(struct ensemble *e, const double *p,
				 const struct ensemble_shares *shares, double *out)
{
	for (size_t b = 0; b < shares->nr_bags && shares->bag > 0; b++) {
		struct bag *bag;
		int ret = ensemble_bag(e, b, shares->nr_bags, &bag);

		if (ret)
			return ret;
		ret = technique_mars_ia.predict(bag->sweep, p, e->one);
		if (ret)
			return ret;
		for (size_t i = 0; i < e->in->nr_rows; i++)
			e->one[i] = limits_keep(&e->limits, e->one[i]);
		ensemble_add(e, shares->bag, out);
	}
	return 0;
}

/* Adds the predictions of another technique, unless its share is 0. */
static int ensemble_predict_part(struct ensemble *e, const struct technique *t, void *sweep,
				 const double *p, double share, double *out)
{
	int ret = share > 0 ? t->predict(sweep, p, e->one) : 0;

	if (!ret && share > 0)
		ensemble_add(e, share, out);
	return ret;
}

static int ensemble_predict(void *sweep, const double *p, double *out)
{
	struct ensemble *e = sweep;
	struct ensemble_shares shares = ensemble_shares(e, p);
	int ret;

	memset(out, 0, e->in->nr_rows * sizeof(*out));
	ret = ensemble_predict_bags(e, p, &shares, out);
	if (ret)
		return ret;
	ret = ensemble_predict_part(e, &technique_cubist, e->cubist, p + NR_MARS, shares.cubist,
				    out);
	if (ret)
		return ret;
	return ensemble_predict_part(e, &technique_gp, e->gp, p, shares.gp, out);
}

/* Adds a member to the mean, unless its share is 0. */
static int ensemble_member(struct model *m, const struct technique *t, void *sweep, const double *p,
			   double share)
{
	struct model *member;

	if (!(share > 0))
		return 0;
	member = model_add_member(m);
	if (!member)
		return -ENOMEM;
	member->technique = t;
	member->share = share;
	memcpy(member->parameters, p, t->nr_parameters * sizeof(*p));
	return t->extract(sweep, p, member);
}

static int ensemble_extract(void *sweep, const double *p, struct model *m)
{
	struct ensemble *e = sweep;
	struct ensemble_shares shares = ensemble_shares(e, p);
	int ret;

	m->form = MODEL_MEMBERS;
	for (size_t b = 0; b < shares.nr_bags && shares.bag > 0; b++) {
		struct bag *bag;

		ret = ensemble_bag(e, b, shares.nr_bags, &bag);
		if (ret)
			return ret;
		ret = ensemble_member(m, &technique_mars_ia, bag->sweep, p, shares.bag);
		if (ret)
			return ret;
	}
	ret = ensemble_member(m, &technique_cubist, e->cubist, p + NR_MARS, shares.cubist);
	return ret ? ret : ensemble_member(m, &technique_gp, e->gp, p, shares.gp);
}

/* The parts' parameters have the default values of the parts. */
#define MARS_PARAMETERS                                                                 \
	{ "nnodes", 3, 800, true, 0, NULL }, { "threshold", 0, 0.999, false, 0, NULL }, \
	{                                                                               \
		"nprune", 2, 800, true, 0, NULL                                         \
	}

static const struct parameter ensemble_parameters[] = {
	MARS_PARAMETERS,
	{ "nsplits", 2, 400, true, 0, NULL },
	{ "ntrees", 1, 100, true, 0, NULL },
	{ "ninstances", 0, NEIGHBOURS_MAX, true, 0, NULL },
	{ "bags", 1, BAGS_MAX, true, 1, NULL },
};

static const struct parameter bag_parameters[] = {
	MARS_PARAMETERS,
	{ "bags", 1, BAGS_MAX, true, BAGS_STANDARD, NULL },
};

static const struct parameter stack_parameters[] = {
	MARS_PARAMETERS,
	{ "nsplits", 2, 400, true, 0, NULL },
	{ "ntrees", 1, 100, true, 0, NULL },
	{ "ninstances", 0, NEIGHBOURS_MAX, true, 0, NULL },
	{ "mars_share", 0, 1, false, 1.0 / 3, NULL },
	{ "cubist_share", 0, 1, false, 1.0 / 3, NULL },
};

static const struct technique *const ensemble_parts[] = { &technique_mars_ia, &technique_cubist };
static const struct technique *const stack_parts[] = { &technique_mars_ia, &technique_cubist,
						       &technique_gp };
static const struct technique *const bag_parts[] = { &technique_mars_ia };

#define ENSEMBLE_METHODS                                                                 \
	.open = ensemble_open, .predict = ensemble_predict, .extract = ensemble_extract, \
	.close = ensemble_close

const struct technique technique_ensemble = {
	.name = "ensemble",
	.summary = "the mean of mars-ia and cubist",
	.speed = 1,
	.simplicity = 1,
	.search_ratio = 3, /* the searches for its parts come before it */
	.nr_parameters = ENSEMBLE_BAGS + 1,
	.parameters = ensemble_parameters,
	.parts = ensemble_parts,
	.nr_parts = 2,
	ENSEMBLE_METHODS,
};

const struct technique technique_mars_bag = {
	.name = "mars-bag",
	.summary = "the mean of mars-ia models of bootstrap samples",
	.speed = 1,
	.simplicity = 2,
	.search_ratio = 20,
	.by_name = true,
	.nr_parameters = MARS_BAGS + 1,
	.parameters = bag_parameters,
	.parts = bag_parts,
	.nr_parts = 1,
	ENSEMBLE_METHODS,
};

const struct technique technique_stack = {
	.name = "stack",
	.summary = "the mean of mars-ia, cubist and gp, weighted by their held-out errors",
	.speed = 1,
	.simplicity = 1,
	.search_ratio = 3,
	.most_rows = GP_ROWS_MAX,
	.nr_parameters = STACK_SHARES + 2,
	.parameters = stack_parameters,
	.parts = stack_parts,
	.nr_parts = 3,
	.is_blend = true,
	ENSEMBLE_METHODS,
};
