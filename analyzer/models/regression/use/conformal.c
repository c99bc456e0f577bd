// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/regression/use/conformal.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory/order.h"

/* Sums of shares are compared with the level. This tolerance absorbs their rounding errors. */
#define ROUNDING 1e-12

double conformal_ratio(double measured, double predicted)
{
	return measured > 0 && predicted > 0 ? fabs(log(measured / predicted)) : INFINITY;
}

size_t conformal_least(double level)
{
	size_t nr = 1;

	while ((double)nr / (double)(nr + 1) < level - ROUNDING)
		nr++;
	return nr;
}

static int conformal_by_application(const void *a, const void *b)
{
	const struct conformal_error *x = a, *y = b;

	if (x->application != y->application)
		return x->application < y->application ? -1 : 1;
	return (x->error > y->error) - (x->error < y->error);
}

size_t conformal_nr_applications(struct conformal_error *errors, size_t nr)
{
	size_t found = 0;

	qsort(errors, nr, sizeof(*errors), conformal_by_application);
	for (size_t i = 0; i < nr; i++)
		found += !i || errors[i].application != errors[i - 1].application;
	return found;
}

/*
 * Returns the share of errors up to `bound`, where each application has the same weight. errors
 * must be sorted by application.
 */
static double conformal_share(const struct conformal_error *errors, size_t nr, double bound)
{
	double sum = 0;
	size_t begin = 0;

	while (begin < nr) {
		size_t end = begin, within = 0;

		while (end < nr && errors[end].application == errors[begin].application)
			within += errors[end++].error <= bound;
		sum += (double)within / (double)(end - begin);
		begin = end;
	}
	return sum;
}

double conformal_bound(struct conformal_error *errors, size_t nr, double level)
{
	double applications = (double)conformal_nr_applications(errors, nr), *sorted;
	double needed = level * (applications + 1) - ROUNDING;
	size_t low = 0, high = nr;

	sorted = calloc(nr + 1, sizeof(*sorted));
	if (!sorted || applications < needed || !(level > 0)) {
		free(sorted);
		return INFINITY;
	}
	for (size_t i = 0; i < nr; i++)
		sorted[i] = errors[i].error;
	qsort(sorted, nr, sizeof(*sorted), order_double);
	/*
	 * Finds the smallest error up to which the share is large enough. The share up to the last
	 * error always is.
	 */
	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;

		*(conformal_share(errors, nr, sorted[middle - 1]) >= needed ? &high : &low) =
			middle;
	}
	level = sorted[high - 1];
	free(sorted);
	return level;
}
