// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/regression/use/validate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/stats.h"

struct group { /* rows of one configuration */
	size_t first, nr;
	double measured, predicted; /* mean values */
	double squares;		    /* sum of squares of the measured values around their mean */
};

struct order {
	const double *rows;
	size_t nr_variables;
};

static int compare_values(const struct order *o, size_t a, size_t b)
{
	for (size_t v = 0; v < o->nr_variables; v++) {
		double x = o->rows[a * o->nr_variables + v], y = o->rows[b * o->nr_variables + v];

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b, void *order)
{
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	int by_value = compare_values(order, i, j);

	return by_value ? by_value : (i > j) - (i < j);
}

static int compare_groups(const void *a, const void *b)
{
	size_t i = ((const struct group *)a)->first, j = ((const struct group *)b)->first;

	return (i > j) - (i < j);
}

/* Adds one repetition by Welford's update. */
static void group_add(struct group *g, double measured, double predicted)
{
	double off = measured - g->measured;

	g->nr++;
	g->measured += off / (double)g->nr;
	g->squares += off * (measured - g->measured);
	g->predicted += (predicted - g->predicted) / (double)g->nr;
}

static size_t find_groups(const struct order *o, const size_t *at, size_t nr,
			  const double *measured, const double *predicted, struct group *groups)
{
	size_t nr_groups = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!i || compare_values(o, at[i - 1], at[i]))
			groups[nr_groups++] = (struct group){ .first = at[i] };
		group_add(&groups[nr_groups - 1], measured[at[i]], predicted[at[i]]);
	}
	qsort(groups, nr_groups, sizeof(*groups), compare_groups);
	return nr_groups;
}

static void validate_summarize(const struct group *groups, size_t nr, double *errors,
			       struct validation *v)
{
	double bias = 0, deviation = 0, standard_error = 0;
	size_t nr_errors = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct group *g = &groups[i];

		if (g->measured == 0) {
			v->nr_zero++;
			continue;
		}
		bias += (g->predicted - g->measured) / g->measured;
		errors[nr_errors++] = fabs(g->predicted - g->measured) / fabs(g->measured);
		if (g->nr > 1) {
			double sd = sqrt(g->squares / (double)(g->nr - 1)) / fabs(g->measured);

			v->nr_repeated++;
			deviation += sd;
			standard_error += sd / sqrt((double)g->nr);
		}
	}
	v->nr_configurations = nr;
	v->mean_error = stats_mean(errors, nr_errors);
	v->bias = bias / (double)nr_errors;
	v->deviation = deviation / (double)v->nr_repeated;
	v->standard_error = standard_error / (double)v->nr_repeated;
}

int validate(const double *rows, size_t nr_variables, const double *measured,
	     const double *predicted, size_t nr, struct validation *out)
{
	struct order order = { rows, nr_variables };
	size_t *at = calloc(nr + 1, sizeof(*at));
	struct group *groups = calloc(nr + 1, sizeof(*groups));
	double *errors = calloc(nr + 1, sizeof(*errors));
	double *sorted = calloc(nr + 1, sizeof(*sorted));
	size_t nr_errors;
	int ret = at && groups && errors && sorted ? 0 : -ENOMEM;

	*out = (struct validation){ .nr_rows = nr };
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++)
		at[i] = i;
	qsort_r(at, nr, sizeof(*at), compare_rows, &order);
	nr_errors = find_groups(&order, at, nr, measured, predicted, groups);
	validate_summarize(groups, nr_errors, errors, out);
	nr_errors -= out->nr_zero;
	memcpy(sorted, errors, nr_errors * sizeof(*sorted));
	stats_sort(sorted, nr_errors);
	out->p95_error = stats_quantile(sorted, nr_errors, 0.95);
	out->errors = errors;
	errors = NULL;
out:
	free(at);
	free(groups);
	free(errors);
	free(sorted);
	return ret;
}

void validation_release(struct validation *v)
{
	free(v->errors);
	*v = (struct validation){ 0 };
}
