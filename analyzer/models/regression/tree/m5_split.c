// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/tree/m5_split.h"

#define LEAST_GAIN 1e-9 /* in deviations of y; smaller gains come from rounding */
/* share of the best gain from which the preferred variable may be taken instead */
#define NEAR 0.999

/*
 * This struct holds the sums of x and y minus the node's means, over the rows on one side of a cut.
 */
struct side {
	size_t nr;
	double weight, x, xx, y, yy, xy;
};

static double m5_split_chance(size_t nr)
{
	double r = nr < 6 ? 1 : tanh(1.96 * sqrt(1 / ((double)nr - 3)));

	return r * r;
}

int m5_split_init(struct m5_split *s, const struct m5_ground *g)
{
	size_t n = g->data->nr_rows, most = tree_most_levels(g->schema);

	*s = (struct m5_split){ .ground = g };
	s->chance = calloc(n + 1, sizeof(*s->chance));
	s->levels = calloc(most, sizeof(*s->levels));
	s->scratch_left = calloc(most, 1);
	if (!s->chance || !s->levels || !s->scratch_left) {
		m5_split_release(s);
		return -ENOMEM;
	}
	for (size_t i = 0; i <= n; i++)
		s->chance[i] = m5_split_chance(i);
	return 0;
}

void m5_split_release(struct m5_split *s)
{
	free(s->chance);
	free(s->levels);
	free(s->scratch_left);
	memset(s, 0, sizeof(*s));
}

/* Returns the standard deviation of `weight` rows with these squares around their mean. */
static double m5_split_deviation(const struct m5_split *s, double weight, double squares)
{
	return weight < 2 ? s->ground->sd : sqrt(fmax(0, squares) / (weight - 1));
}

static void m5_split_add(struct side *s, double w, double x, double y)
{
	s->nr++;
	s->weight += w;
	s->x += w * x;
	s->xx += w * x * x;
	s->y += w * y;
	s->yy += w * y * y;
	s->xy += w * x * y;
}

static struct side m5_split_rest(const struct side *all, const struct side *l)
{
	return (struct side){ all->nr - l->nr, all->weight - l->weight, all->x - l->x,
			      all->xx - l->xx, all->y - l->y,		all->yy - l->yy,
			      all->xy - l->xy };
}

/*
 * Returns weight times deviation around the mean, or around a line in x if the correlation is
 * significant.
 */
static double m5_split_spread(const struct m5_split *s, const struct side *a)
{
	double xx = a->xx - a->x * a->x / a->weight, yy = a->yy - a->y * a->y / a->weight;
	double xy = a->xy - a->x * a->y / a->weight;

	if (xx > 0 && yy > 0 && xy * xy >= s->chance[a->nr] * xx * yy)
		yy -= xy * xy / xx;
	return a->weight * m5_split_deviation(s, a->weight, yy);
}

static double m5_split_weight(const struct m5_split *s, uint32_t row)
{
	return s->ground->weight ? s->ground->weight[row] : 1;
}

/* order has the nr rows of the node by ascending value. Changes *best if a cut gains more. */
static void m5_split_number(const struct m5_split *s, size_t v, const uint32_t *order, size_t nr,
			    double sd, struct tree_split *best)
{
	const double *x = s->ground->data->x + v * s->ground->data->nr_rows;
	size_t edge = nr >= 3 * s->least_cover ? s->least_cover : M5_LEAST_ROWS;
	double middle = x[order[nr / 2]];
	struct side all = { 0 }, low = { 0 };

	for (size_t i = 0; i < nr; i++)
		m5_split_add(&all, m5_split_weight(s, order[i]), x[order[i]] - middle,
			     s->residual[order[i]]);
	for (size_t i = 0; i + edge < nr; i++) {
		double here = x[order[i]], next = x[order[i + 1]], gain;
		struct side high;

		m5_split_add(&low, m5_split_weight(s, order[i]), here - middle,
			     s->residual[order[i]]);
		if (!(next > here) || low.nr < edge)
			continue;
		high = m5_split_rest(&all, &low);
		gain = sd - (m5_split_spread(s, &low) + m5_split_spread(s, &high)) / all.weight;
		if (!(gain > best->gain))
			continue;
		best->gain = gain;
		best->nr_left = low.nr;
		best->cut = here + (next - here) / 2;
		if (!(best->cut < next))
			best->cut = here;
	}
}

static int by_mean(const void *a, const void *b)
{
	const struct m5_level *l = a, *r = b;
	double x = l->sum / l->weight, y = r->sum / r->weight;

	if (x != y)
		return x < y ? 1 : -1;
	return (l->level > r->level) - (l->level < r->level);
}

/* Collects the levels that the node holds, by descending mean. */
static size_t m5_split_gather(struct m5_split *s, size_t v, const uint32_t *rows, size_t nr_rows)
{
	const struct dataset *d = s->ground->data;
	size_t nr_levels = s->ground->schema->variables[v].nr_levels, nr = 0;

	for (size_t k = 0; k < nr_levels; k++)
		s->levels[k] = (struct m5_level){ .level = k };
	for (size_t i = 0; i < nr_rows; i++) {
		uint32_t row = rows[i];
		struct m5_level *l = &s->levels[(size_t)d->x[v * d->nr_rows + row]];
		double w = m5_split_weight(s, row);

		l->nr++;
		l->weight += w;
		l->sum += w * s->residual[row];
		l->squares += w * s->residual[row] * s->residual[row];
	}
	for (size_t k = 0; k < nr_levels; k++)
		if (s->levels[k].nr)
			s->levels[nr++] = s->levels[k];
	qsort(s->levels, nr, sizeof(*s->levels), by_mean);
	return nr;
}

/* Returns the spread of one side of a factor's split. No line can be fitted through levels. */
static double factor_spread(const struct m5_split *s, const struct m5_level *a)
{
	return a->weight *
	       m5_split_deviation(s, a->weight, a->squares - a->sum * a->sum / a->weight);
}

static void m5_split_join(struct m5_level *to, const struct m5_level *l, int sign)
{
	to->nr += sign > 0 ? l->nr : -l->nr;
	to->weight += sign * l->weight;
	to->sum += sign * l->sum;
	to->squares += sign * l->squares;
}

/* Moves levels from left to right, the one of the highest mean first. */
static void m5_split_factor(struct m5_split *s, size_t v, const uint32_t *rows, size_t nr_rows,
			    double sd, double *gain)
{
	size_t nr_levels = s->ground->schema->variables[v].nr_levels;
	size_t nr = m5_split_gather(s, v, rows, nr_rows);
	struct m5_level low = { 0 }, high = { 0 };

	for (size_t k = 0; k < nr; k++)
		m5_split_join(&low, &s->levels[k], 1);
	for (size_t k = 0; k + 1 < nr; k++) {
		double g;

		m5_split_join(&low, &s->levels[k], -1);
		m5_split_join(&high, &s->levels[k], 1);
		if (low.nr < M5_LEAST_ROWS || high.nr < M5_LEAST_ROWS)
			continue;
		g = sd -
		    (factor_spread(s, &low) + factor_spread(s, &high)) / (low.weight + high.weight);
		if (!(g > *gain))
			continue;
		*gain = g;
		memset(s->scratch_left, low.nr >= high.nr, nr_levels);
		for (size_t j = 0; j < nr; j++)
			s->scratch_left[s->levels[j].level] = j > k;
	}
}

static double m5_split_node_deviation(const struct m5_split *s, const uint32_t *rows, size_t nr)
{
	struct side all = { 0 };

	for (size_t i = 0; i < nr; i++)
		m5_split_add(&all, m5_split_weight(s, rows[i]), 0, s->residual[rows[i]]);
	return m5_split_deviation(s, all.weight, all.yy - all.y * all.y / all.weight);
}

/* Returns true if the variable is taken after the best one found so far. */
static bool m5_split_is_better(const struct m5_split *s, const struct tree_split *new,
			       const struct tree_split *best)
{
	return new->gain > best->gain ||
	       (new->gain > NEAR * best->gain &&
		s->ground->preference[new->variable] > s->ground->preference[best->variable]);
}

bool m5_split_best(struct m5_split *s, struct tree_growth *g, const struct m5_node *node,
		   const bool *tested)
{
	const uint32_t *rows = g->rows + node->begin;
	size_t nr = node->end - node->begin;
	double sd = m5_split_node_deviation(s, rows, nr), least = LEAST_GAIN * s->ground->sd;

	g->split.gain = 0;
	if (nr < 2 * M5_LEAST_ROWS)
		return false;
	for (size_t v = 0; v < g->schema->nr; v++) {
		const struct variable *var = &g->schema->variables[v];
		struct tree_split new = { .gain = least, .variable = v, .left = g->split.left };

		if (!var->factor)
			m5_split_number(s, v, g->order + v * g->data->nr_rows + node->begin, nr, sd,
					&new);
		else if (node->parent < 0 || var->nr_levels > 2 || !tested[v])
			m5_split_factor(s, v, rows, nr, sd, &new.gain);
		if (!(new.gain > least) || !m5_split_is_better(s, &new, &g->split))
			continue;
		g->split = new;
		if (var->factor)
			memcpy(g->split.left, s->scratch_left, var->nr_levels);
	}
	return g->split.gain > 0;
}
