// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyzer/models/num/parallel.h"
#include "analyzer/models/num/rng.h"
#include "analyzer/models/num/stats.h"
#include "analyzer/models/regression/choice/objective.h"

struct split {
	struct dataset train, test;
	double *rows;	      /* of the test rows, row-major */
	double *predicted;    /* predictions of the test rows */
	struct limits limits; /* limits from the training rows */
	struct sweep_input in;
	void *sweep;
	uint64_t nr_fits_here; /* models that the sweep has fitted on this rank */
	uint64_t nr_fits;      /* those of the rank that did the work */
};

struct objective {
	struct objective_config config;
	uint32_t nr_splits;
	struct split *splits;
	/* These members belong to the present call. */
	const double *points;
	size_t nr_points;
	double *rmse;
	XXH128_hash_t origin; /* hash of all that determines errors except the parameters */
};

static int take_rows(struct dataset *out, const struct dataset *d, const size_t *rows, size_t nr)
{
	int ret = dataset_alloc(out, nr, d->nr_vars, d->weight != NULL);

	if (ret)
		return ret;
	for (size_t i = 0; i < nr; i++) {
		for (size_t v = 0; v < d->nr_vars; v++)
			out->x[v * nr + i] = d->x[v * d->nr_rows + rows[i]];
		out->y[i] = d->y[rows[i]];
		if (d->weight)
			out->weight[i] = d->weight[rows[i]];
	}
	return 0;
}

/* Draws n rows with replacement for training; the rows that were not drawn are for testing. */
static int objective_bootstrap(struct split *s, const struct dataset *d, uint64_t stream)
{
	size_t n = d->nr_rows, nr_out = 0;
	size_t *drawn = calloc(2 * n + 1, sizeof(*drawn)), *left = drawn + n;
	bool *seen = calloc(n + 1, sizeof(*seen));
	struct rng rng;
	int ret = drawn && seen ? 0 : -ENOMEM;

	rng_stream(&rng, d->seed, stream + 1);
	if (ret)
		goto out;
	for (size_t i = 0; i < n; i++) {
		drawn[i] = rng_below(&rng, n);
		seen[drawn[i]] = true;
	}
	for (size_t i = 0; i < n; i++)
		if (!seen[i])
			left[nr_out++] = i;
	if (!nr_out)
		ret = -EINVAL; /* very unlikely: every row was drawn */
	if (ret)
		goto out;
	ret = take_rows(&s->train, d, drawn, n);
	if (ret)
		goto out;
	ret = take_rows(&s->test, d, left, nr_out);
out:
	free(drawn);
	free(seen);
	return ret;
}

static int split_init(struct objective *o, uint32_t i)
{
	const struct objective_config *c = &o->config;
	struct split *s = &o->splits[i];
	int ret;

	if (c->nr_bootstraps) {
		ret = objective_bootstrap(s, c->data, i);
	} else {
		ret = dataset_subset(&s->train, c->data, i, false);
		if (ret)
			return ret;
		ret = dataset_subset(&s->test, c->data, i, true);
	}
	if (ret)
		return ret;
	s->rows = dataset_rows(&s->test);
	s->predicted = calloc(s->test.nr_rows + 1, sizeof(*s->predicted));
	if (!s->rows || !s->predicted)
		return -ENOMEM;
	s->limits = limits_of(&s->train);
	s->in = (struct sweep_input){ c->schema, &s->train, s->rows, s->test.nr_rows,
				      &s->nr_fits_here };
	return c->technique->open(&s->sweep, c->technique, &s->in);
}

/* Computes the hash of the data, the splits and the technique, under which errors are recorded. */
static int objective_hash(struct objective *o)
{
	const struct objective_config *c = &o->config;
	const struct dataset *d = c->data;
	const uint64_t numbers[] = { d->nr_rows, d->nr_vars,	   d->nr_folds,
				     d->seed,	 c->nr_bootstraps, c->schema->log };
	XXH3_state_t *h = XXH3_createState();

	if (!h)
		return -ENOMEM;
	XXH3_128bits_reset(h);
	XXH3_128bits_update(h, BLKCAST_VERSION, sizeof(BLKCAST_VERSION));
	XXH3_128bits_update(h, c->technique->name, strlen(c->technique->name) + 1);
	XXH3_128bits_update(h, numbers, sizeof(numbers));
	for (size_t i = 0; i < c->schema->nr; i++) {
		uint64_t levels = c->schema->variables[i].nr_levels;

		XXH3_128bits_update(h, &levels, sizeof(levels));
	}
	XXH3_128bits_update(h, d->x, d->nr_rows * d->nr_vars * sizeof(*d->x));
	XXH3_128bits_update(h, d->y, d->nr_rows * sizeof(*d->y));
	if (d->weight)
		XXH3_128bits_update(h, d->weight, d->nr_rows * sizeof(*d->weight));
	if (d->fold)
		XXH3_128bits_update(h, d->fold, d->nr_rows * sizeof(*d->fold));
	o->origin = XXH3_128bits_digest(h);
	XXH3_freeState(h);
	return 0;
}

int objective_new(struct objective **out, const struct objective_config *config)
{
	struct objective *o = calloc(1, sizeof(*o));
	int ret = 0;

	if (!o)
		return -ENOMEM;
	o->config = *config;
	o->nr_splits = config->nr_bootstraps ? config->nr_bootstraps : config->data->nr_folds;
	o->splits = calloc(o->nr_splits + 1, sizeof(*o->splits));
	if (!o->splits)
		ret = -ENOMEM;
	if (ret)
		goto out;
	for (uint32_t i = 0; i < o->nr_splits; i++) {
		ret = split_init(o, i);
		if (ret)
			goto out;
	}
	if (config->checkpoint)
		ret = objective_hash(o);
out:
	if (ret)
		objective_free(o);
	else
		*out = o;
	return ret;
}

void objective_free(struct objective *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; o->splits && i < o->nr_splits; i++) {
		struct split *s = &o->splits[i];

		if (s->sweep)
			o->config.technique->close(s->sweep);
		dataset_release(&s->train);
		dataset_release(&s->test);
		free(s->rows);
		free(s->predicted);
	}
	free(o->splits);
	free(o);
}

uint32_t objective_nr_splits(const struct objective *o)
{
	return o->nr_splits;
}

static double rmse_of(const struct split *s)
{
	const struct dataset *t = &s->test;
	double sum = 0, weights = 0;

	for (size_t i = 0; i < t->nr_rows; i++) {
		double e = t->y[i] - s->predicted[i], w = t->weight ? t->weight[i] : 1;

		sum += w * e * e;
		weights += w;
	}
	return sqrt(sum / weights);
}

static int work_split(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct objective *o = ctx;
	struct split *s = &o->splits[begin];

	(void)chunk;
	(void)end;
	for (size_t i = 0; i < o->nr_points; i++) {
		int ret = o->config.technique->predict(s->sweep, o->points + i * PARAMETERS_MAX,
						       s->predicted);

		if (ret)
			return ret;
		for (size_t k = 0; k < s->test.nr_rows && o->config.technique->bounded; k++)
			s->predicted[k] = limits_keep(&s->limits, s->predicted[k]);
		o->rmse[i * o->nr_splits + begin] = rmse_of(s);
	}
	s->nr_fits = s->nr_fits_here;
	return 0;
}

static int objective_pieces(void *ctx, size_t chunk, struct parallel_bytes *b)
{
	struct objective *o = ctx;
	struct split *s = &o->splits[chunk];
	int ret;

	for (size_t i = 0; i < o->nr_points; i++) {
		ret = parallel_piece(b, &o->rmse[i * o->nr_splits + chunk], sizeof(*o->rmse));
		if (ret)
			return ret;
	}
	ret = parallel_piece(b, s->predicted, s->test.nr_rows * sizeof(*s->predicted));
	return ret ? ret : parallel_piece(b, &s->nr_fits, sizeof(s->nr_fits));
}

/* Evaluates nr points. rmse has nr x nr_splits items. */
static int objective_work(struct objective *o, const double *points, size_t nr, double *rmse)
{
	const struct parallel work = { .nr_items = o->nr_splits,
				       .chunk = 1,
				       .nr_threads = o->config.nr_threads,
				       .work = work_split,
				       .pieces = objective_pieces,
				       .ctx = o };

	o->points = points;
	o->nr_points = nr;
	o->rmse = rmse;
	return parallel_run(&work);
}

static struct checkpoint_key objective_key(const struct objective *o, const double *points,
					   size_t nr)
{
	XXH128_hash_t h = XXH3_128bits_withSeed(points, nr * PARAMETERS_MAX * sizeof(*points),
						o->origin.low64);

	return (struct checkpoint_key){ h.low64, h.high64 ^ o->origin.high64 };
}

static int objective_mean(const struct objective *o, const double *rmse, size_t nr, double *cost)
{
	for (size_t i = 0; i < nr; i++) {
		cost[i] = stats_mean(rmse + i * o->nr_splits, o->nr_splits);
		if (!isfinite(cost[i]))
			return -ERANGE;
	}
	return 0;
}

int objective_eval(struct objective *o, const double *points, size_t nr, double *rmse, double *cost)
{
	struct checkpoint *c = o->config.checkpoint;
	size_t nr_errors = nr * o->nr_splits;
	double *own = rmse ? rmse : calloc(nr_errors + 1, sizeof(*own));
	int ret = own ? 0 : -ENOMEM;

	if (ret)
		return ret;
	if (!c || !checkpoint_find(c, objective_key(o, points, nr), own, nr_errors)) {
		ret = objective_work(o, points, nr, own);
		if (ret)
			goto out;
		ret = c ? checkpoint_add(c, objective_key(o, points, nr), own, nr_errors) : 0;
		if (ret)
			goto out;
	}
	ret = objective_mean(o, own, nr, cost);
out:
	if (!rmse)
		free(own);
	return ret;
}

int objective_predict(struct objective *o, const double *p, double *predicted)
{
	const struct dataset *d = o->config.data;
	double *rmse = calloc(o->nr_splits + 1, sizeof(*rmse));
	int ret = rmse ? objective_work(o, p, 1, rmse) : -ENOMEM;

	if (ret)
		goto out;
	for (uint32_t f = 0; f < o->nr_splits; f++) {
		const double *from = o->splits[f].predicted;

		for (size_t i = 0; i < d->nr_rows; i++)
			if (d->fold[i] == f)
				predicted[i] = *from++;
	}
out:
	free(rmse);
	return ret;
}

uint64_t objective_nr_fits(const struct objective *o)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < o->nr_splits; i++)
		nr += o->splits[i].nr_fits;
	return nr;
}

void quality_of(struct quality *q, const double *y, const double *predicted, size_t nr)
{
	double *relative = calloc(nr + 1, sizeof(*relative));
	double mean = stats_mean(y, nr), sse = 0, sst = 0;
	size_t nr_relative = 0;

	for (size_t i = 0; i < nr; i++) {
		sse += (y[i] - predicted[i]) * (y[i] - predicted[i]);
		sst += (y[i] - mean) * (y[i] - mean);
		if (relative && y[i] != 0)
			relative[nr_relative++] = fabs((y[i] - predicted[i]) / y[i]);
	}
	q->r2 = sst > 0 ? 1 - sse / sst : NAN;
	q->mean_relative_error = stats_mean(relative, nr_relative);
	stats_sort(relative, nr_relative);
	q->p95_relative_error = stats_quantile(relative, nr_relative, 0.95);
	free(relative);
}
