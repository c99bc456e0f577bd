// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/num/stats.h"
#include "analyzer/regression/neighbours.h"

#define DEVIATIONS 5 /* apart, two numbers are as different as they can be */

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

static double distance(const struct neighbours *n, const double *a, const double *b)
{
	double sum = 0;

	for (size_t v = 0; v < n->nr_vars; v++) {
		if (n->scale[v] < 0)
			sum += a[v] != b[v] ? -n->scale[v] : 0;
		else
			sum += fmin(1, fabs(a[v] - b[v]) * n->scale[v]);
	}
	return rint(sum * 1024) / 1024; /* rounding must not break ties of equal distances */
}

/* The NEIGHBOURS_MAX smallest distances, ascending. */
static size_t smallest(const double *d, size_t nr, double out[NEIGHBOURS_MAX])
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

/*
 * Rows nearer than the k-th distance count in full; those at it share what is left of k. With
 * ties that is the mean over every way of breaking them.
 */
static void shifts_to(const struct neighbours *n, const double *d, const double *nearest,
		      size_t nr_nearest, double shift[NEIGHBOURS_MAX])
{
	double tie_sum[NEIGHBOURS_MAX] = { 0 }, weight = 0, sum = 0;
	size_t tie_nr[NEIGHBOURS_MAX] = { 0 };

	/* Sums per distinct distance, kept where that distance first stands. */
	for (size_t i = 0; i < n->nr_rows; i++) {
		if (d[i] > nearest[nr_nearest - 1])
			continue;
		for (size_t r = 0; r < nr_nearest; r++) {
			if (d[i] != nearest[r])
				continue;
			tie_sum[r] += n->shift[i];
			tie_nr[r]++;
			break;
		}
	}
	for (size_t r = 0, first = 0; r < NEIGHBOURS_MAX; r++) {
		if (r < nr_nearest) {
			double w = 1 / (nearest[r] + 0.5);

			first = r && nearest[r] == nearest[r - 1] ? first : r;
			sum += w * tie_sum[first] / (double)tie_nr[first];
			weight += w;
		}
		shift[r] = sum / weight;
	}
}

void neighbours_shifts(const struct neighbours *n, const double *x, double *scratch,
		       double shift[NEIGHBOURS_MAX])
{
	double nearest[NEIGHBOURS_MAX];
	size_t nr;

	for (size_t i = 0; i < n->nr_rows; i++)
		scratch[i] = distance(n, x, n->rows + i * n->nr_vars);
	nr = smallest(scratch, n->nr_rows, nearest);
	shifts_to(n, scratch, nearest, nr, shift);
}

double neighbours_shift(const struct neighbours *n, unsigned int k, const double *x,
			double *scratch)
{
	double shift[NEIGHBOURS_MAX];

	if (!k || !n->nr_rows)
		return 0;
	neighbours_shifts(n, x, scratch, shift);
	return shift[k - 1];
}
