// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/stats.h"
#include "analyzer/models/regression/neighbours.h"

/* two numbers that are this many standard deviations apart have the largest difference */
#define DEVIATIONS 5
/* steps per unit of distance, as in Cubist, so that nearly equal distances count as equal */
#define STEPS 16

int neighbours_init(struct neighbours *n, const struct schema *s, const struct dataset *d,
		    unsigned int k, const double *fitted)
{
	double low = INFINITY, high = -INFINITY;

	memset(n, 0, sizeof(*n));
	n->k = k;
	n->nr_rows = d->nr_rows;
	n->nr_vars = d->nr_vars;
	n->rows = dataset_rows(d);
	n->shift = calloc(d->nr_rows + 1, sizeof(double));
	n->scale = calloc(d->nr_vars + 1, sizeof(double));
	if (!n->rows || !n->shift || !n->scale) {
		neighbours_release(n);
		return -ENOMEM;
	}
	for (size_t v = 0; v < d->nr_vars; v++) {
		double sd = stats_sd(d->x + v * d->nr_rows, d->nr_rows);

		if (s->variables[v].factor)
			n->scale[v] = -2.0 / (double)s->variables[v].nr_levels;
		else
			n->scale[v] = sd > 0 ? 1 / (DEVIATIONS * sd) : 0;
	}
	for (size_t i = 0; i < d->nr_rows; i++) {
		n->shift[i] = d->y[i] - fitted[i];
		low = fmin(low, d->y[i]);
		high = fmax(high, d->y[i]);
	}
	n->low = low;
	n->high = high;
	return 0;
}

void neighbours_release(struct neighbours *n)
{
	free(n->rows);
	free(n->shift);
	free(n->scale);
	memset(n, 0, sizeof(*n));
}

static double near_one(double d)
{
	return d < 1 ? d : 1;
}

static double neighbours_distance(const struct neighbours *n, const double *a, const double *b)
{
	double sum = 0;

	for (size_t v = 0; v < n->nr_vars; v++) {
		if (n->scale[v] < 0)
			sum += a[v] != b[v] ? -n->scale[v] : 0;
		else
			sum += near_one(fabs(a[v] - b[v]) * n->scale[v]);
	}
	return rint(sum * STEPS) / STEPS;
}

/* Returns the NEIGHBOURS_MAX smallest distances, ascending. */
static size_t neighbours_smallest(const double *d, size_t nr, double out[NEIGHBOURS_MAX])
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t at;

		if (kept == NEIGHBOURS_MAX && d[i] >= out[kept - 1])
			continue;
		at = kept < NEIGHBOURS_MAX ? kept++ : kept - 1;
		for (; at && out[at - 1] > d[i]; at--)
			out[at] = out[at - 1];
		out[at] = d[i];
	}
	return kept;
}

void nearest_release(struct nearest *near)
{
	free(near->rows);
	free(near->rank);
	memset(near, 0, sizeof(*near));
}

static int add_row(struct nearest *near, size_t row, size_t rank)
{
	if (near->nr_rows == near->cap) {
		size_t cap = near->cap ? 2 * near->cap : 32;
		uint32_t *rows = reallocarray(near->rows, cap, sizeof(*rows));
		uint8_t *ranks;

		if (!rows)
			return -ENOMEM;
		near->rows = rows;
		ranks = reallocarray(near->rank, cap, 1);
		if (!ranks)
			return -ENOMEM;
		near->rank = ranks;
		near->cap = cap;
	}
	near->rows[near->nr_rows] = (uint32_t)row;
	near->rank[near->nr_rows++] = (uint8_t)rank;
	return 0;
}

int nearest_find(struct nearest *near, const struct neighbours *n, const double *x, double *scratch)
{
	int ret = 0;

	for (size_t i = 0; i < n->nr_rows; i++)
		scratch[i] = neighbours_distance(n, x, n->rows + i * n->nr_vars);
	near->nr = neighbours_smallest(scratch, n->nr_rows, near->distance);
	near->nr_rows = 0;
	for (size_t i = 0; i < n->nr_rows && !ret; i++) {
		size_t rank = 0;

		if (scratch[i] > near->distance[near->nr - 1])
			continue;
		while (near->distance[rank] != scratch[i])
			rank++;
		ret = add_row(near, i, rank);
	}
	return ret;
}

/*
 * Rows nearer than the k-th distance count fully. Those at that distance share the rest of k,
 * which is the mean over every way of breaking the tie.
 */
void nearest_shifts(const struct nearest *near, const double *shift, double out[NEIGHBOURS_MAX])
{
	double tie_sum[NEIGHBOURS_MAX] = { 0 }, weight = 0, sum = 0;
	size_t tie_nr[NEIGHBOURS_MAX] = { 0 };

	for (size_t i = 0; i < near->nr_rows; i++) {
		tie_sum[near->rank[i]] += shift[near->rows[i]];
		tie_nr[near->rank[i]]++;
	}
	for (size_t r = 0, first = 0; r < NEIGHBOURS_MAX; r++) {
		if (r < near->nr) {
			double w = 1 / (near->distance[r] + 0.5);

			first = r && near->distance[r] == near->distance[r - 1] ? first : r;
			sum += w * tie_sum[first] / (double)tie_nr[first];
			weight += w;
		}
		out[r] = weight > 0 ? sum / weight : 0;
	}
}
