// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/models/regression/choice/blend.h"
#include "analyzer/models/regression/choice/select.h"
#include "base/system/clock.h"

#define BATCH 64 /* number of parameter sets between two progress reports */

/* This struct is the search for one candidate. Its axes are the parameters that are not fixed. */
struct hunt {
	const struct select_config *config;
	struct candidate *c;
	struct objective *objective;
	unsigned int nr_axes, axis_parameter[PARAMETERS_MAX];
	uint64_t done, bound;
};

static void select_expand(const struct hunt *h, const double *at, double *p)
{
	memcpy(p, h->c->parameters, sizeof(h->c->parameters));
	for (unsigned int a = 0; a < h->nr_axes; a++)
		p[h->axis_parameter[a]] = at[a];
}

static int select_evaluate(void *ctx, const double *points, size_t nr, double *cost)
{
	struct hunt *h = ctx;
	double *sets = calloc(nr * PARAMETERS_MAX + 1, sizeof(*sets));
	int ret = sets ? 0 : -ENOMEM;

	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++)
		select_expand(h, points + i * S3_AXES_MAX, sets + i * PARAMETERS_MAX);
	for (size_t i = 0; i < nr; i += BATCH) {
		size_t some = nr - i < BATCH ? nr - i : BATCH;

		ret = objective_eval(h->objective, sets + i * PARAMETERS_MAX, some, NULL, cost + i);
		h->done += some;
		if (h->config->progress)
			h->config->progress(h->config->ctx, h->c->technique, h->done, h->bound);
		if (ret)
			goto out;
	}
out:
	free(sets);
	return ret;
}

static int select_search(struct hunt *h)
{
	const struct select_config *config = h->config;
	struct s3_config s3 = { .splits = config->splits,
				.explorations = config->explorations,
				.iterations = config->iterations,
				.improvement = config->improvement,
				.nr_axes = h->nr_axes,
				.evaluate = select_evaluate,
				.ctx = h };
	double best[PARAMETERS_MAX];
	int ret;

	for (unsigned int a = 0; a < h->nr_axes; a++) {
		const struct parameter *p = &h->c->technique->parameters[h->axis_parameter[a]];

		s3.axes[a] = (struct s3_axis){ p->low, p->high, p->whole };
	}
	h->bound = s3_bound(&s3);
	if (config->progress)
		config->progress(config->ctx, h->c->technique, 0, h->bound);
	ret = s3_run(&h->c->trace, &s3);
	if (ret)
		return ret;
	select_expand(h, h->c->trace.points[h->c->trace.best].at, best);
	memcpy(h->c->parameters, best, sizeof(best));
	h->c->evaluations = h->c->trace.nr;
	h->c->searched = true;
	return 0;
}

/* Computes relative errors of the response itself, whatever scale was learned. */
static int take_relative(struct hunt *h, const double *predicted)
{
	const struct dataset *d = h->config->data;
	bool log = h->config->schema->log;
	double *y = calloc(2 * d->nr_rows + 1, sizeof(*y)), *f = y + d->nr_rows;

	if (!y)
		return -ENOMEM;
	for (size_t i = 0; i < d->nr_rows; i++) {
		y[i] = log ? exp(d->y[i]) : d->y[i];
		f[i] = log ? exp(predicted[i]) : predicted[i];
	}
	quality_of(&h->c->quality, y, f, d->nr_rows);
	free(y);
	return 0;
}

/* Computes quality and intervals from held-out predictions, which the candidate takes over. */
static int select_take_held_out(struct hunt *h, double *predicted)
{
	const struct dataset *d = h->config->data;
	double *error = calloc(d->nr_rows + 1, sizeof(*error));
	int ret = error ? take_relative(h, predicted) : -ENOMEM;

	free(h->c->held_out);
	h->c->held_out = predicted;
	if (ret)
		goto out;
	for (size_t i = 0; i < d->nr_rows; i++)
		error[i] = fabs(d->y[i] - predicted[i]);
	ret = spread_fit(&h->c->spread, predicted, error, d->nr_rows);
out:
	if (ret) {
		free(error);
		return ret;
	}
	stats_sort(error, d->nr_rows);
	h->c->residuals = error;
	return 0;
}

/* Computes held-out predictions by folds, whatever the objective was. */
static int take_quality(struct hunt *h)
{
	const struct dataset *d = h->config->data;
	struct objective_config folds = { .technique = h->c->technique,
					  .schema = h->config->schema,
					  .data = d,
					  .nr_threads = h->config->nr_threads };
	struct objective *o = h->objective;
	double *predicted = calloc(d->nr_rows + 1, sizeof(*predicted));
	int ret = predicted ? 0 : -ENOMEM;

	if (!ret && h->config->nr_bootstraps)
		ret = objective_new(&o, &folds);
	if (!ret)
		ret = objective_predict(o, h->c->parameters, predicted);
	if (o != h->objective)
		objective_free(o);
	if (ret) {
		free(predicted);
		return ret;
	}
	return select_take_held_out(h, predicted);
}

static bool any_fixed(const struct candidate *c)
{
	for (unsigned int i = 0; i < c->technique->nr_parameters; i++)
		if (c->fixed[i])
			return true;
	return false;
}

/* Returns a fitted candidate of the same technique whose parameters were all searched, or NULL. */
static const struct candidate *select_known(const struct hunt *h, const struct technique *part,
					    const bool *fixed)
{
	for (unsigned int i = 0; i < part->nr_parameters; i++)
		if (fixed[i])
			return NULL;
	for (size_t k = 0; k < h->config->nr_known; k++)
		if (h->config->known[k].technique == part && !any_fixed(&h->config->known[k]))
			return &h->config->known[k];
	return NULL;
}

/* Returns the RMSE of predictions on the rows of a fold. */
static double select_fold_rmse(const struct dataset *d, const double *predicted, uint32_t fold)
{
	double sum = 0, weights = 0;

	for (size_t i = 0; i < d->nr_rows; i++) {
		double e = d->y[i] - predicted[i], w = d->weight ? d->weight[i] : 1;

		if (d->fold[i] != fold)
			continue;
		sum += w * e * e;
		weights += w;
	}
	return sqrt(sum / weights);
}

/* Fills the RMSE of every fold, and returns their mean. */
static double select_fold_rmses(const struct dataset *d, const double *predicted, double *rmse)
{
	for (uint32_t f = 0; f < d->nr_folds; f++)
		rmse[f] = select_fold_rmse(d, predicted, f);
	return stats_mean(rmse, d->nr_folds);
}

/*
 * Finds the shares of the parts from their held-out predictions, and judges the mean by the shares
 * of other folds. No model is fitted for it. Equal shares stand for the standard parameters, and
 * are kept where they have the smaller error.
 */
static int select_blend(struct hunt *h, const double *const *held_out)
{
	const struct dataset *d = h->config->data;
	struct candidate *c = h->c;
	size_t nr = c->technique->nr_parts;
	double shares[PARTS_MAX], *predicted = calloc(d->nr_rows + 1, sizeof(*predicted));
	double *equal = calloc(d->nr_rows + 1, sizeof(*equal));
	double *standard = calloc(d->nr_folds + 1, sizeof(*standard));
	int ret = -ENOMEM;

	c->nr_splits = d->nr_folds;
	c->by_folds = true;
	c->fold_rmse = calloc(d->nr_folds + 1, sizeof(*c->fold_rmse));
	if (!predicted || !equal || !standard || !c->fold_rmse)
		goto out;
	blend_shares(d, held_out, nr, UINT32_MAX, shares);
	blend_predict(d, held_out, nr, predicted);
	for (size_t i = 0; i < d->nr_rows; i++)
		for (size_t k = 0; k < nr; k++)
			equal[i] += held_out[k][i] / (double)nr;
	c->quality.cv_rmse = select_fold_rmses(d, predicted, c->fold_rmse);
	c->standard_cost = select_fold_rmses(d, equal, standard);
	if (c->standard_cost < c->quality.cv_rmse) {
		c->quality.cv_rmse = select_fold_rmses(d, equal, c->fold_rmse);
		memcpy(predicted, equal, d->nr_rows * sizeof(*equal));
		for (size_t k = 0; k < nr; k++)
			shares[k] = 1 / (double)nr;
	}
	memcpy(c->parameters + c->technique->nr_parameters - (nr - 1), shares,
	       (nr - 1) * sizeof(*shares));
	c->against_standard = stats_paired_t(c->fold_rmse, standard, d->nr_folds);
	ret = select_take_held_out(h, predicted);
	predicted = NULL;
out:
	free(predicted);
	free(equal);
	free(standard);
	return ret;
}

/*
 * Collects the held-out predictions of the parts of a blend. Returns false where they are not all
 * known by folds, so that the blend has to be fitted to be judged.
 */
static bool select_can_blend(const struct hunt *h, const double **held_out)
{
	const struct candidate *c = h->c;
	unsigned int at = 0;

	if (!c->technique->is_blend || !c->parts || h->config->nr_bootstraps || any_fixed(c))
		return false;
	for (unsigned int k = 0; k < c->technique->nr_parts; k++) {
		const struct technique *part = c->technique->parts[k];
		const struct candidate *known = select_known(h, part, c->fixed + at);

		known = c->parts[k].technique ? &c->parts[k] : known;
		if (!known || !known->held_out)
			return false;
		held_out[k] = known->held_out;
		at += part->nr_parameters;
	}
	return true;
}

/*
 * Searches the parameters of one part, which begin at `at`, as if the part were the whole
 * technique.
 */
static int select_part(struct hunt *h, unsigned int k, unsigned int at)
{
	struct candidate *c = h->c, *own = &c->parts[k];
	const struct technique *part = c->technique->parts[k];
	const struct candidate *known = select_known(h, part, c->fixed + at);
	int ret = 0;

	if (!known) {
		*own = (struct candidate){ .technique = part };
		memcpy(own->fixed, c->fixed + at, part->nr_parameters * sizeof(*own->fixed));
		memcpy(own->parameters, c->parameters + at,
		       part->nr_parameters * sizeof(*own->parameters));
		ret = select_candidate(own, h->config);
		c->evaluations += own->evaluations;
		known = own;
	}
	if (ret)
		return ret;
	memcpy(c->parameters + at, known->parameters,
	       part->nr_parameters * sizeof(*known->parameters));
	return 0;
}

static int select_parts(struct hunt *h)
{
	const struct technique *t = h->c->technique;
	unsigned int at = 0;

	h->c->searched = true;
	h->c->parts = calloc(PARTS_MAX, sizeof(*h->c->parts));
	if (!h->c->parts)
		return -ENOMEM;
	for (unsigned int k = 0; k < t->nr_parts; k++) {
		int ret = select_part(h, k, at);

		if (ret)
			return ret;
		at += t->parts[k]->nr_parameters;
	}
	return 0;
}

static int select_judge(struct hunt *h)
{
	struct candidate *c = h->c;
	double standard[PARAMETERS_MAX] = { 0 }, *rmse;
	int ret;

	c->nr_splits = objective_nr_splits(h->objective);
	c->by_folds = !h->config->nr_bootstraps;
	c->fold_rmse = calloc(c->nr_splits + 1, sizeof(*c->fold_rmse));
	rmse = calloc(c->nr_splits + 1, sizeof(*rmse));
	ret = c->fold_rmse && rmse ? 0 : -ENOMEM;
	technique_standard(c->technique, technique_nr_columns(h->config->schema), standard);
	if (ret)
		goto out;
	ret = objective_eval(h->objective, standard, 1, rmse, &c->standard_cost);
	if (ret)
		goto out;
	ret = objective_eval(h->objective, c->parameters, 1, c->fold_rmse, &c->quality.cv_rmse);
	if (ret)
		goto out;
	if (c->searched && !any_fixed(c) && c->standard_cost < c->quality.cv_rmse) {
		/*
		 * The grid may miss the standard parameters. The result must never be worse than
		 * they are.
		 */
		memcpy(c->parameters, standard, sizeof(standard));
		memcpy(c->fold_rmse, rmse, c->nr_splits * sizeof(*rmse));
		c->quality.cv_rmse = c->standard_cost;
	}
	c->against_standard = stats_paired_t(c->fold_rmse, rmse, c->nr_splits);
out:
	free(rmse);
	return ret ? ret : take_quality(h);
}

int select_candidate(struct candidate *c, const struct select_config *config)
{
	struct hunt h = { .config = config, .c = c };
	struct objective_config objective = { .technique = c->technique,
					      .schema = config->schema,
					      .data = config->data,
					      .nr_bootstraps = config->nr_bootstraps,
					      .nr_threads = config->nr_threads,
					      .checkpoint = config->checkpoint };
	double standard[PARAMETERS_MAX] = { 0 }, begin = clock_monotonic_s();
	const double *held_out[PARTS_MAX];
	int ret;

	if (c->technique->most_rows && config->data->nr_rows > c->technique->most_rows)
		return -EFBIG;
	ret = objective_new(&h.objective, &objective);
	technique_standard(c->technique, technique_nr_columns(config->schema), standard);
	for (unsigned int i = 0; i < c->technique->nr_parameters; i++) {
		if (c->fixed[i])
			continue;
		c->parameters[i] = standard[i];
		if (!config->standard && !c->technique->nr_parts)
			h.axis_parameter[h.nr_axes++] = i;
	}
	c->evaluations = 1;
	if (ret)
		goto out;
	if (h.nr_axes)
		ret = select_search(&h);
	else if (!config->standard && c->technique->nr_parts)
		ret = select_parts(&h);
	if (ret)
		goto out;
	ret = select_can_blend(&h, held_out) ? select_blend(&h, held_out) : select_judge(&h);
	if (ret)
		goto out;
	c->nr_fits = objective_nr_fits(h.objective);
	for (unsigned int k = 0; c->parts && k < PARTS_MAX; k++)
		c->nr_fits += c->parts[k].nr_fits;
out:
	c->seconds = clock_monotonic_s() - begin;
	objective_free(h.objective);
	return ret;
}

void candidate_release(struct candidate *c)
{
	free(c->fold_rmse);
	free(c->residuals);
	free(c->held_out);
	spread_release(&c->spread);
	s3_release(&c->trace);
	for (size_t k = 0; c->parts && k < PARTS_MAX; k++)
		candidate_release(&c->parts[k]);
	free(c->parts);
	memset(c, 0, sizeof(*c));
}

void candidate_give(struct candidate *c, struct model *m)
{
	free(m->residuals);
	m->quality = c->quality;
	m->residuals = c->residuals;
	c->residuals = NULL;
	spread_release(&m->spread);
	m->spread = c->spread;
	c->spread = (struct spread){ 0 };
	if (!c->by_folds)
		return;
	free(m->fold_rmse);
	m->fold_rmse = c->fold_rmse;
	c->fold_rmse = NULL;
}

size_t select_best(const struct candidate *c, size_t nr, double within)
{
	double least = INFINITY;
	size_t best = 0;
	int simplicity = -1;

	for (size_t i = 0; i < nr; i++)
		least = fmin(least, c[i].quality.cv_rmse);
	for (size_t i = 0; i < nr; i++) {
		double cost = c[i].quality.cv_rmse;

		if (cost > least * (1 + within))
			continue;
		if (c[i].technique->simplicity > simplicity ||
		    (c[i].technique->simplicity == simplicity && cost < c[best].quality.cv_rmse)) {
			best = i;
			simplicity = c[i].technique->simplicity;
		}
	}
	return best;
}
