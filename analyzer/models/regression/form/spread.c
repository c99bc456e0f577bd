// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/regression/form/spread.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/stats.h"

#define LEAST_SHARE 0.02 /* a scale is at least this share of the mean error */

struct spread_row {
	double predicted, error;
};

/* This struct holds the rows in groups, with the sums from which the knots are computed. */
struct spread_groups {
	struct spread_row *rows; /* sorted by prediction */
	size_t nr_rows, nr;
	double sum[SPREAD_GROUPS_MAX]; /* sum of errors of each group */
	double mean;		       /* mean error of all rows */
	/*
	 * share of a group's difference from the mean that is kept because it is more than chance
	 */
	double kept;
};

static int spread_by_prediction(const void *a, const void *b)
{
	const struct spread_row *x = a, *y = b;

	if (x->predicted != y->predicted)
		return x->predicted < y->predicted ? -1 : 1;
	return (x->error > y->error) - (x->error < y->error);
}

static size_t spread_begin(const struct spread_groups *g, size_t group)
{
	return group * g->nr_rows / g->nr;
}

static double spread_of_group(const struct spread_groups *g, double sum, double nr_rows)
{
	double scale = g->mean + g->kept * (sum / nr_rows - g->mean);

	return g->mean > 0 ? fmax(scale, LEAST_SHARE * g->mean) : 1;
}

/*
 * Returns how much of the differences between the groups' means is significant: nothing if they
 * are no larger than chance makes them among equal groups (the ratio F of the analysis of variance
 * is 1), everything from twice that value on.
 */
static double spread_believed(const struct spread_groups *g)
{
	double within = 0, between = 0, by_chance;

	for (size_t k = 0; k < g->nr; k++) {
		size_t begin = spread_begin(g, k), end = spread_begin(g, k + 1);
		double mean = g->sum[k] / (double)(end - begin);

		for (size_t i = begin; i < end; i++)
			within += (g->rows[i].error - mean) * (g->rows[i].error - mean);
		between += (mean - g->mean) * (mean - g->mean);
	}
	if (g->nr < 4 || !(between > 0))
		return 0;
	by_chance = within / (double)(g->nr_rows - g->nr) * (double)g->nr / (double)g->nr_rows;
	return fmax(0, fmin(1, between / ((double)(g->nr - 1) * by_chance) - 1));
}

static void spread_make_knots(struct spread *s, struct spread_groups *g)
{
	double all = 0;

	for (size_t i = 0; i < g->nr_rows; i++)
		all += g->rows[i].error;
	g->mean = all / (double)g->nr_rows;
	s->nr = g->nr;
	for (size_t k = 0; k < g->nr; k++) {
		size_t begin = spread_begin(g, k), end = spread_begin(g, k + 1);
		double predicted = 0;

		for (size_t i = begin; i < end; i++) {
			g->sum[k] += g->rows[i].error;
			predicted += g->rows[i].predicted / (double)(end - begin);
		}
		s->at[k] = predicted;
	}
	g->kept = spread_believed(g);
	for (size_t k = 0; k < g->nr; k++)
		s->scale[k] = spread_of_group(
			g, g->sum[k], (double)(spread_begin(g, k + 1) - spread_begin(g, k)));
}

static double spread_scale(const struct spread *s, double predicted)
{
	size_t k = 0;

	if (!(predicted > s->at[0]))
		return s->scale[0];
	while (k + 1 < s->nr && predicted > s->at[k + 1])
		k++;
	if (k + 1 == s->nr)
		return s->scale[k];
	return s->scale[k] +
	       (s->scale[k + 1] - s->scale[k]) * (predicted - s->at[k]) / (s->at[k + 1] - s->at[k]);
}

/* Computes the errors divided by the scales that the other rows give. */
static void spread_take_ratios(struct spread *s, const struct spread_groups *g)
{
	for (size_t k = 0; k < g->nr; k++) {
		size_t begin = spread_begin(g, k), end = spread_begin(g, k + 1);
		double whole = s->scale[k];

		for (size_t i = begin; i < end; i++) {
			const struct spread_row *row = &g->rows[i];

			if (end - begin > 1)
				s->scale[k] = spread_of_group(g, g->sum[k] - row->error,
							      (double)(end - begin - 1));
			s->ratios[i] = row->error / spread_scale(s, row->predicted);
		}
		s->scale[k] = whole;
	}
}

int spread_fit(struct spread *s, const double *predicted, const double *error, size_t nr)
{
	struct spread_groups g = { .nr_rows = nr, .nr = nr / SPREAD_GROUP_ROWS };
	int ret = 0;

	memset(s, 0, sizeof(*s));
	if (!nr)
		return 0;
	g.nr = g.nr < 1 ? 1 : g.nr > SPREAD_GROUPS_MAX ? SPREAD_GROUPS_MAX : g.nr;
	g.rows = calloc(nr, sizeof(*g.rows));
	s->at = calloc(g.nr, sizeof(*s->at));
	s->scale = calloc(g.nr, sizeof(*s->scale));
	s->ratios = calloc(nr, sizeof(*s->ratios));
	if (!g.rows || !s->at || !s->scale || !s->ratios) {
		spread_release(s);
		ret = -ENOMEM;
		goto out;
	}
	for (size_t i = 0; i < nr; i++)
		g.rows[i] = (struct spread_row){ predicted[i], error[i] };
	qsort(g.rows, nr, sizeof(*g.rows), spread_by_prediction);
	spread_make_knots(s, &g);
	spread_take_ratios(s, &g);
	s->nr_rows = nr;
	stats_sort(s->ratios, nr);
out:
	free(g.rows);
	return ret;
}

void spread_release(struct spread *s)
{
	free(s->at);
	free(s->scale);
	free(s->ratios);
	memset(s, 0, sizeof(*s));
}

double spread_half_width(const struct spread *s, double predicted, double level)
{
	double rank = ceil((double)(s->nr_rows + 1) * level);

	if (!s->nr_rows || rank < 1 || rank > (double)s->nr_rows)
		return NAN;
	return s->ratios[(size_t)rank - 1] * spread_scale(s, predicted);
}
