// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/choice/s3.h"
#include "base/memory/array.h"

#define GRID_MAX 1000000 /* points of the grid around one point */

struct search {
	const struct s3_config *config;
	struct s3_result *r;
	uint64_t bound;
	size_t *slots; /* hash table of index + 1 by point; nr_slots is a power of two */
	size_t nr_slots;
	size_t *best; /* indices of the best points, best first */
	size_t nr_best;
};

static uint64_t s3_power(uint64_t base, unsigned int exponent)
{
	uint64_t v = 1;

	while (exponent--)
		v *= base;
	return v;
}

uint64_t s3_bound(const struct s3_config *c)
{
	uint64_t grid = s3_power(c->splits + 2, c->nr_axes);

	if (!c->nr_axes || !c->iterations)
		return 1;
	return grid +
	       (uint64_t)(c->iterations - 1) * c->explorations * (grid - s3_power(2, c->nr_axes));
}

static size_t hash_of(const double *at)
{
	uint64_t h = 0;

	for (int i = 0; i < S3_AXES_MAX; i++) {
		uint64_t bits;

		memcpy(&bits, &at[i], sizeof(bits));
		h = (h ^ bits) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return (size_t)h;
}

static size_t *slot_of(struct search *s, const double *at)
{
	size_t i = hash_of(at) & (s->nr_slots - 1);

	while (s->slots[i] &&
	       memcmp(s->r->points[s->slots[i] - 1].at, at, sizeof(s->r->points->at)) != 0)
		i = (i + 1) & (s->nr_slots - 1);
	return &s->slots[i];
}

static int s3_rehash(struct search *s)
{
	size_t nr = s->nr_slots ? 2 * s->nr_slots : 1024;
	size_t *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(s->slots);
	s->slots = slots;
	s->nr_slots = nr;
	for (size_t i = 0; i < s->r->nr; i++)
		*slot_of(s, s->r->points[i].at) = i + 1;
	return 0;
}

/* Adds a point if it is new. Its cost is set later. */
static int s3_enter(struct search *s, const double *at, unsigned int iteration)
{
	struct s3_result *r = s->r;
	size_t *slot;
	int ret = 2 * (r->nr + 1) > s->nr_slots ? s3_rehash(s) : 0;

	if (ret)
		return ret;
	slot = slot_of(s, at);
	if (*slot || r->nr == s->bound)
		return 0;
	if (array_grow(&r->points, &r->cap, r->nr + 1, sizeof(*r->points)))
		return -ENOMEM;
	memcpy(r->points[r->nr].at, at, sizeof(r->points->at));
	r->points[r->nr].cost = NAN;
	r->points[r->nr].iteration = iteration;
	*slot = ++r->nr;
	return 0;
}

static int s3_evaluate(struct search *s, size_t from)
{
	struct s3_result *r = s->r;
	size_t nr = r->nr - from;
	double *points = calloc(nr * S3_AXES_MAX + 1, sizeof(*points));
	double *cost = calloc(nr + 1, sizeof(*cost));
	int ret = points && cost ? 0 : -ENOMEM;

	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++)
		memcpy(points + i * S3_AXES_MAX, r->points[from + i].at, sizeof(r->points->at));
	ret = s->config->evaluate(s->config->ctx, points, nr, cost);
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++)
		r->points[from + i].cost = cost[i];
out:
	free(points);
	free(cost);
	return ret;
}

/* Keeps the best `explorations` points. Equal ones stay in the order of their evaluation. */
static void update_best(struct search *s, size_t from)
{
	const struct s3_point *p = s->r->points;

	for (size_t i = from; i < s->r->nr; i++) {
		size_t at = s->nr_best;

		if (at == s->config->explorations) {
			if (!(p[i].cost < p[s->best[at - 1]].cost))
				continue;
			at--;
		} else {
			s->nr_best++;
		}
		for (; at && p[i].cost < p[s->best[at - 1]].cost; at--)
			s->best[at] = s->best[at - 1];
		s->best[at] = i;
	}
	s->r->best = s->best[0];
}

/* Computes the splits + 2 values of one axis around a pivot, from the first nr_known points. */
static void axis_values(const struct search *s, unsigned int axis, double pivot, size_t nr_known,
			double *values)
{
	const struct s3_axis *a = &s->config->axes[axis];
	double low = -INFINITY, high = INFINITY, step;
	unsigned int last = s->config->splits + 1;

	for (size_t i = 0; i < nr_known; i++) {
		double v = s->r->points[i].at[axis];

		if (v < pivot)
			low = fmax(low, v);
		if (v > pivot)
			high = fmin(high, v);
	}
	if (isinf(low))
		low = a->low;
	if (isinf(high))
		high = a->high;
	step = (high - low) / (double)last;
	for (unsigned int k = 0; k <= last; k++) {
		values[k] = k == last ? high : low + k * step;
		if (a->whole)
			values[k] = round(values[k]);
	}
}

static int s3_explore(struct search *s, size_t pivot, size_t nr_known, unsigned int iteration,
		      double *values)
{
	const struct s3_config *c = s->config;
	unsigned int per_axis = c->splits + 2;
	uint64_t nr = s3_power(per_axis, c->nr_axes);
	int ret = 0;

	for (unsigned int axis = 0; axis < c->nr_axes; axis++)
		axis_values(s, axis, s->r->points[pivot].at[axis], nr_known,
			    values + axis * per_axis);
	for (uint64_t i = 0; i < nr; i++) {
		double at[S3_AXES_MAX] = { 0 };
		uint64_t rest = i;

		for (unsigned int axis = c->nr_axes; axis-- > 0; rest /= per_axis)
			at[axis] = values[axis * per_axis + rest % per_axis];
		ret = s3_enter(s, at, iteration);
		if (ret)
			return ret;
	}
	return 0;
}

static int s3_iterate(struct search *s, unsigned int iteration, double *values, bool *stop)
{
	size_t known = s->r->nr, nr_pivots = s->nr_best;
	double before = s->r->points[s->best[0]].cost;
	int ret;

	for (size_t h = 0; h < nr_pivots; h++) {
		ret = s3_explore(s, s->best[h], known, iteration, values);
		if (ret)
			return ret;
	}
	s->r->iterations = iteration;
	/* no new point was found, and no later iteration would find one */
	*stop = s->r->nr == known;
	if (*stop)
		return 0;
	ret = s3_evaluate(s, known);
	if (ret)
		return ret;
	update_best(s, known);
	*stop = before - s->r->points[s->best[0]].cost < s->config->improvement * before;
	return 0;
}

int s3_run(struct s3_result *r, const struct s3_config *c)
{
	struct search s = { .config = c, .r = r, .bound = s3_bound(c) };
	double corner[S3_AXES_MAX] = { 0 }, *values = NULL;
	bool stop = c->nr_axes == 0;
	int ret;

	memset(r, 0, sizeof(*r));
	if (c->nr_axes > S3_AXES_MAX || !c->explorations || c->splits > GRID_MAX ||
	    pow(c->splits + 2.0, c->nr_axes) > GRID_MAX)
		return -EINVAL;
	s.best = calloc(c->explorations, sizeof(*s.best));
	values = calloc((c->splits + 2) * S3_AXES_MAX, sizeof(*values));
	ret = s.best && values ? 0 : -ENOMEM;
	for (unsigned int i = 0; i < c->nr_axes; i++)
		corner[i] = c->axes[i].low;
	if (ret)
		goto out;
	ret = s3_enter(&s, corner, 0);
	if (ret)
		goto out;
	ret = s3_evaluate(&s, 0);
	if (ret)
		goto out;
	update_best(&s, 0);
	for (unsigned int j = 1; j <= c->iterations && !stop; j++) {
		ret = s3_iterate(&s, j, values, &stop);
		if (ret)
			goto out;
	}
out:
	free(s.best);
	free(s.slots);
	free(values);
	if (ret)
		s3_release(r);
	return ret;
}

void s3_release(struct s3_result *r)
{
	free(r->points);
	memset(r, 0, sizeof(*r));
}
