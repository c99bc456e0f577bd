// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/regression/form/model_reach.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/stats.h"

#define LEAST_GAP      0.05 /* in ranges; narrower gaps are ignored */
#define GAP_QUANTILE   0.98 /* of rows; rarer values do not show how far apart values lie */
#define BOUND_QUANTILE 0.99
#define CLEARLY	       0.6 /* logarithms are taken if their steps are at most this much as uneven */

static double reach_enter(const struct reach_variable *v, double x)
{
	return v->logarithm ? log(x) : x;
}

/*
 * Returns how uneven the steps of ascending values are: the interquartile range of the steps
 * divided by their median. A single gap or a single far value does not change this ratio.
 */
static double reach_unevenness(const double *values, size_t nr, bool logarithm)
{
	double *steps = calloc(nr, sizeof(*steps)), result = INFINITY;

	if (!steps)
		return result;
	for (size_t i = 0; i + 1 < nr; i++)
		steps[i] = logarithm ? log(values[i + 1] / values[i]) : values[i + 1] - values[i];
	stats_sort(steps, nr - 1);
	if (nr > 2)
		result = (stats_quantile(steps, nr - 1, 0.75) -
			  stats_quantile(steps, nr - 1, 0.25)) /
			 stats_quantile(steps, nr - 1, 0.5);
	free(steps);
	return result;
}

/* Returns the distance of value k to its nearest neighbour, in ranges. */
static double reach_step(const struct reach_variable *v, size_t k)
{
	double below =
		k ? reach_enter(v, v->values[k]) - reach_enter(v, v->values[k - 1]) : INFINITY;
	double above = k + 1 < v->nr_values
			       ? reach_enter(v, v->values[k + 1]) - reach_enter(v, v->values[k])
			       : INFINITY;

	return fmin(below, above) / v->range;
}

/* Copies the distinct ones of ascending values into v, and counts how often each occurs. */
static int reach_take_distinct(struct reach_variable *v, const double *sorted, size_t nr,
			       size_t *counts)
{
	v->values = calloc(nr + 1, sizeof(*v->values));
	if (!v->values)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (!i || sorted[i] != sorted[i - 1])
			v->values[v->nr_values++] = sorted[i];
		counts[v->nr_values - 1]++;
	}
	return 0;
}

/* sorted holds the values of all rows in ascending order, and is overwritten. */
static int reach_variable_init(struct reach_variable *v, double *sorted, size_t nr)
{
	size_t *counts = calloc(nr + 1, sizeof(*counts)), at = 0;
	int ret = counts ? reach_take_distinct(v, sorted, nr, counts) : -ENOMEM;

	if (ret)
		goto out;
	v->logarithm = v->values[0] > 0 &&
		       reach_unevenness(v->values, v->nr_values, true) <
			       CLEARLY * reach_unevenness(v->values, v->nr_values, false);
	v->low = reach_enter(v, v->values[0]);
	v->range = reach_enter(v, v->values[v->nr_values - 1]) - v->low;
	/* The step of a value counts as often as the value occurs among the rows. */
	for (size_t k = 0; v->range > 0 && k < v->nr_values; k++)
		for (size_t c = 0; c < counts[k]; c++)
			sorted[at++] = reach_step(v, k);
	stats_sort(sorted, at);
	v->gap = at ? fmax(LEAST_GAP, stats_quantile(sorted, at, GAP_QUANTILE)) : 1;
out:
	free(counts);
	return ret;
}

static void reach_place(const struct reach *r, const struct schema *s, const double *row,
			double *point)
{
	for (size_t v = 0; v < r->nr_vars; v++) {
		const struct reach_variable *var = &r->variables[v];

		if (s->variables[v].factor)
			point[v] = row[v];
		else
			point[v] = var->range > 0
					   ? (reach_enter(var, row[v]) - var->low) / var->range
					   : 0;
	}
}

static double reach_squared(const struct reach *r, const struct schema *s, const double *a,
			    const double *b)
{
	double sum = 0;

	for (size_t v = 0; v < r->nr_vars; v++) {
		double d = a[v] - b[v];

		sum += s->variables[v].factor ? d != 0 : d * d;
	}
	return sum;
}

/*
 * Returns the largest, over the variables, of the distances to the nearest row that has another
 * value of the variable.
 */
static double reach_hold_out(const struct reach *r, const struct schema *s, size_t row,
			     double *nearest)
{
	const double *point = r->points + row * r->nr_vars;
	double most = 0;

	for (size_t v = 0; v < r->nr_vars; v++)
		nearest[v] = INFINITY;
	for (size_t i = 0; i < r->nr_rows; i++) {
		const double *other = r->points + i * r->nr_vars;
		double squared = reach_squared(r, s, point, other);

		for (size_t v = 0; v < r->nr_vars; v++)
			if (squared < nearest[v] && point[v] != other[v])
				nearest[v] = squared;
	}
	for (size_t v = 0; v < r->nr_vars; v++)
		if (!s->variables[v].factor && isfinite(nearest[v]))
			most = fmax(most, nearest[v]);
	return sqrt(most);
}

static int reach_take_bound(struct reach *r, const struct schema *s)
{
	size_t nr = r->nr_rows < REACH_QUESTIONS ? r->nr_rows : REACH_QUESTIONS, nr_numbers = 0;
	double *distances = calloc(nr + 1, sizeof(*distances));
	double *nearest = calloc(r->nr_vars + 1, sizeof(*nearest));
	int ret = distances && nearest ? 0 : -ENOMEM;

	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++)
		distances[i] = reach_hold_out(r, s, i * r->nr_rows / nr, nearest);
	for (size_t v = 0; v < r->nr_vars; v++)
		nr_numbers += !s->variables[v].factor && r->variables[v].range > 0;
	stats_sort(distances, nr);
	/* The centre of a cell of n equal sides is sqrt(n) / 2 sides away from its corners. */
	r->bound = stats_quantile(distances, nr, BOUND_QUANTILE) *
		   fmax(1, sqrt((double)nr_numbers) / 2);
	if (!nr_numbers)
		r->bound = 1; /* rows that differ in only one factor are near each other */
out:
	free(distances);
	free(nearest);
	return ret;
}

static int reach_take_variable(struct reach *r, size_t v, const struct dataset *d)
{
	double *sorted = calloc(d->nr_rows + 1, sizeof(*sorted));
	int ret;

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, d->x + v * d->nr_rows, d->nr_rows * sizeof(*sorted));
	stats_sort(sorted, d->nr_rows);
	ret = reach_variable_init(&r->variables[v], sorted, d->nr_rows);
	free(sorted);
	return ret;
}

int reach_init(struct reach *r, const struct schema *s, const struct dataset *d)
{
	double *row = calloc(d->nr_vars + 1, sizeof(*row));
	int ret = row ? 0 : -ENOMEM;

	*r = (struct reach){ 0 };
	if (ret || d->nr_rows < REACH_LEAST_ROWS)
		goto out;
	r->nr_vars = d->nr_vars;
	r->nr_rows = d->nr_rows < REACH_ROWS_MAX ? d->nr_rows : REACH_ROWS_MAX;
	r->points = calloc(r->nr_rows * r->nr_vars + 1, sizeof(*r->points));
	r->variables = calloc(r->nr_vars + 1, sizeof(*r->variables));
	ret = r->points && r->variables ? 0 : -ENOMEM;
	if (ret)
		goto out;
	for (size_t v = 0; v < s->nr; v++) {
		if (s->variables[v].factor)
			continue;
		ret = reach_take_variable(r, v, d);
		if (ret)
			goto out;
	}
	for (size_t i = 0; i < r->nr_rows; i++) {
		size_t from = i * d->nr_rows / r->nr_rows;

		for (size_t v = 0; v < s->nr; v++)
			row[v] = d->x[v * d->nr_rows + from];
		reach_place(r, s, row, r->points + i * r->nr_vars);
	}
	ret = reach_take_bound(r, s);
out:
	free(row);
	if (ret)
		reach_release(r);
	return ret;
}

void reach_release(struct reach *r)
{
	for (size_t v = 0; r->variables && v < r->nr_vars; v++)
		free(r->variables[v].values);
	free(r->variables);
	free(r->points);
	*r = (struct reach){ 0 };
}

/*
 * Returns true if x lies in a gap of the variable, and sets the values on either side of the gap.
 */
static bool reach_in_gap(const struct reach_variable *v, double x, double *below, double *above)
{
	size_t low = 0, high = v->nr_values - 1;
	double at;

	if (!(v->range > 0) || x <= v->values[low] || x >= v->values[high])
		return false;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		*(v->values[middle] <= x ? &low : &high) = middle;
	}
	*below = v->values[low];
	*above = v->values[high];
	at = reach_enter(v, x);
	return fmin(at - reach_enter(v, *below), reach_enter(v, *above) - at) > v->gap * v->range;
}

static double reach_nearest(const struct reach *r, const struct schema *s, const double *row,
			    double *point)
{
	double least = INFINITY;

	reach_place(r, s, row, point);
	for (size_t i = 0; i < r->nr_rows; i++)
		least = fmin(least, reach_squared(r, s, point, r->points + i * r->nr_vars));
	return sqrt(least);
}

struct reach_finding reach_look(const struct reach *r, const struct schema *s, const double *row)
{
	struct reach_finding f = { .verdict = REACH_INSIDE };
	double point[DATASET_VARIABLES_MAX];

	for (size_t v = 0; v < s->nr; v++) {
		f.value = row[v];
		f.variable = &s->variables[v];
		f.verdict = REACH_RANGE;
		if (variable_outside(f.variable, row[v]))
			return f;
		f.verdict = REACH_GAP;
		if (r->nr_rows && !f.variable->factor &&
		    reach_in_gap(&r->variables[v], row[v], &f.below, &f.above))
			return f;
	}
	f.verdict = REACH_INSIDE;
	f.variable = NULL;
	if (!r->nr_rows)
		return f;
	f.distance = reach_nearest(r, s, row, point);
	f.bound = r->bound;
	if (f.distance > f.bound)
		f.verdict = REACH_FAR;
	return f;
}

void reach_explain(const struct reach_finding *f, char *text, size_t size)
{
	if (f->verdict == REACH_RANGE)
		snprintf(text, size, "'%s' lies outside the training range %g to %g",
			 f->variable->name, f->variable->low, f->variable->high);
	else if (f->verdict == REACH_GAP)
		snprintf(text, size, "'%s' is %g, and no training row lies between %g and %g",
			 f->variable->name, f->value, f->below, f->above);
	else if (f->verdict == REACH_FAR)
		snprintf(text, size,
			 "the nearest training row is %.2f ranges away, and training rows are at "
			 "most %.2f apart",
			 f->distance, f->bound);
	else
		snprintf(text, size, "it lies where the model was trained");
}
