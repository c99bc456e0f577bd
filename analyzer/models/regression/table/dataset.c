// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/models/regression/table/dataset.h"

static void variable_release(struct variable *v)
{
	for (size_t i = 0; v->levels && i < v->nr_levels; i++)
		free(v->levels[i]);
	free(v->levels);
	free(v->name);
}

void schema_release(struct schema *s)
{
	for (size_t i = 0; i < s->nr; i++)
		variable_release(&s->variables[i]);
	free(s->variables);
	free(s->response);
	memset(s, 0, sizeof(*s));
}

static int variable_copy(struct variable *out, const struct variable *v)
{
	*out = *v;
	out->levels = NULL;
	out->name = strdup(v->name);
	if (!out->name)
		return -ENOMEM;
	if (!v->factor)
		return 0;
	out->levels = calloc(v->nr_levels + 1, sizeof(*out->levels));
	if (!out->levels)
		return -ENOMEM;
	for (size_t i = 0; i < v->nr_levels; i++) {
		out->levels[i] = strdup(v->levels[i]);
		if (!out->levels[i])
			return -ENOMEM;
	}
	return 0;
}

int schema_copy(struct schema *out, const struct schema *s)
{
	int ret = 0;

	memset(out, 0, sizeof(*out));
	out->log = s->log;
	out->offset = s->offset;
	out->response = strdup(s->response);
	out->variables = calloc(s->nr + 1, sizeof(*out->variables));
	if (!out->response || !out->variables)
		ret = -ENOMEM;
	for (; !ret && out->nr < s->nr; out->nr++)
		ret = variable_copy(&out->variables[out->nr], &s->variables[out->nr]);
	if (ret)
		schema_release(out);
	return ret;
}

void dataset_release(struct dataset *d)
{
	free(d->x);
	free(d->y);
	free(d->weight);
	free(d->fold);
	memset(d, 0, sizeof(*d));
}

int dataset_alloc(struct dataset *d, size_t nr_rows, size_t nr_vars, bool weighted)
{
	memset(d, 0, sizeof(*d));
	d->nr_rows = nr_rows;
	d->nr_vars = nr_vars;
	d->x = reallocarray(NULL, nr_rows * nr_vars + 1, sizeof(*d->x));
	d->y = reallocarray(NULL, nr_rows + 1, sizeof(*d->y));
	if (weighted)
		d->weight = reallocarray(NULL, nr_rows + 1, sizeof(*d->weight));
	if (d->x && d->y && (d->weight || !weighted))
		return 0;
	dataset_release(d);
	return -ENOMEM;
}

int dataset_make_folds(struct dataset *d, uint32_t nr_folds, uint64_t seed, struct err *err)
{
	size_t *order;
	struct rng rng;

	if (nr_folds < 2 || nr_folds > d->nr_rows)
		return err_set(err, EINVAL, "%zu rows: expected 2 to %zu folds, got %u", d->nr_rows,
			       d->nr_rows, nr_folds);
	order = calloc(d->nr_rows, sizeof(*order));
	free(d->fold);
	d->fold = calloc(d->nr_rows, sizeof(*d->fold));
	if (!order || !d->fold) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < d->nr_rows; i++)
		order[i] = i;
	rng_seed(&rng, seed);
	rng_shuffle(&rng, order, d->nr_rows);
	for (size_t i = 0; i < d->nr_rows; i++)
		d->fold[order[i]] = (uint32_t)(i % nr_folds);
	d->nr_folds = nr_folds;
	d->seed = seed;
	free(order);
	return 0;
}

int dataset_subset(struct dataset *out, const struct dataset *d, uint32_t fold, bool inside)
{
	size_t nr = 0, to = 0;
	int ret;

	for (size_t i = 0; i < d->nr_rows; i++)
		nr += (d->fold[i] == fold) == inside;
	ret = dataset_alloc(out, nr, d->nr_vars, d->weight != NULL);
	if (ret)
		return ret;
	for (size_t i = 0; i < d->nr_rows; i++) {
		if ((d->fold[i] == fold) != inside)
			continue;
		for (size_t v = 0; v < d->nr_vars; v++)
			out->x[v * nr + to] = d->x[v * d->nr_rows + i];
		out->y[to] = d->y[i];
		if (d->weight)
			out->weight[to] = d->weight[i];
		to++;
	}
	return 0;
}

double *dataset_rows(const struct dataset *d)
{
	double *rows = reallocarray(NULL, d->nr_rows * d->nr_vars + 1, sizeof(*rows));

	for (size_t i = 0; rows && i < d->nr_rows; i++)
		for (size_t v = 0; v < d->nr_vars; v++)
			rows[i * d->nr_vars + v] = d->x[v * d->nr_rows + i];
	return rows;
}

long variable_level(const struct variable *v, const char *text)
{
	for (size_t i = 0; i < v->nr_levels; i++)
		if (strcmp(v->levels[i], text) == 0)
			return (long)i;
	return -1;
}

bool variable_outside(const struct variable *v, double x)
{
	return !v->factor && (x < v->low || x > v->high);
}

void schema_take_ranges(struct schema *s, const struct dataset *d)
{
	for (size_t v = 0; v < s->nr; v++) {
		const double *x = d->x + v * d->nr_rows;

		s->variables[v].low = INFINITY;
		s->variables[v].high = -INFINITY;
		for (size_t i = 0; i < d->nr_rows; i++) {
			s->variables[v].low = fmin(s->variables[v].low, x[i]);
			s->variables[v].high = fmax(s->variables[v].high, x[i]);
		}
	}
}

struct limits limits_of(const struct dataset *d)
{
	struct limits l = { INFINITY, -INFINITY };
	double beyond;

	for (size_t i = 0; i < d->nr_rows; i++) {
		l.low = fmin(l.low, d->y[i]);
		l.high = fmax(l.high, d->y[i]);
	}
	beyond = LIMITS_BEYOND * (l.high - l.low);
	return (struct limits){ l.low - beyond, l.high + beyond };
}
