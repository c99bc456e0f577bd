// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/m5_split.h"

#define LEAST_GAIN 1e-9 /* in deviations of y; smaller gains come from rounding */
/* share of the best gain from which the preferred variable may be taken instead */
#define NEAR 0.999

/* Sums of x and y minus the node's means, over the rows on one side of a cut. */
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
	size_t n = g->data->nr_rows, most = 1;

	*s = (struct m5_split){ .ground = g };
	for (size_t v = 0; v < g->schema->nr; v++)
		if (g->schema->variables[v].nr_levels > most)
			most = g->schema->variables[v].nr_levels;
	s->chance = calloc(n + 1, sizeof(*s->chance));
	s->levels = calloc(most, sizeof(*s->levels));
	s->left = calloc(most, 1);
	s->scratch_left = calloc(most, 1);
	if (!s->chance || !s->levels || !s->left || !s->scratch_left) {
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
	free(s->left);
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

static void m5_split_number(struct m5_split *s, size_t v, size_t begin, size_t end, double sd,
			    double *gain, double *cut)
{
	const struct dataset *d = s->ground->data;
	const double *x = d->x + v * d->nr_rows, *weight = s->ground->weight;
	const uint32_t *order = s->order + v * d->nr_rows;
	size_t nr = end - begin;
	size_t edge = nr >= 3 * s->least_cover ? s->least_cover : M5_LEAST_ROWS;
	double middle = x[order[begin + nr / 2]];
	struct side all = { 0 }, low = { 0 };

	for (size_t i = begin; i < end; i++)
		m5_split_add(&all, weight ? weight[order[i]] : 1, x[order[i]] - middle,
			     s->residual[order[i]]);
	for (size_t i = begin; i + edge < end; i++) {
		double here = x[order[i]], next = x[order[i + 1]], g;
		struct side high;

		m5_split_add(&low, weight ? weight[order[i]] : 1, here - middle,
			     s->residual[order[i]]);
		if (!(next > here) || low.nr < edge)
			continue;
		high = m5_split_rest(&all, &low);
		g = sd - (m5_split_spread(s, &low) + m5_split_spread(s, &high)) / all.weight;
		if (g > *gain) {
			*gain = g;
			*cut = here + (next - here) / 2;
			if (!(*cut < next))
				*cut = here;
		}
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
static size_t m5_split_gather(struct m5_split *s, size_t v, size_t begin, size_t end)
{
	const struct dataset *d = s->ground->data;
	size_t nr_levels = s->ground->schema->variables[v].nr_levels, nr = 0;

	for (size_t k = 0; k < nr_levels; k++)
		s->levels[k] = (struct m5_level){ .level = k };
	for (size_t i = begin; i < end; i++) {
		uint32_t row = s->rows[i];
		struct m5_level *l = &s->levels[(size_t)d->x[v * d->nr_rows + row]];
		double w = s->ground->weight ? s->ground->weight[row] : 1;

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
static void m5_split_factor(struct m5_split *s, size_t v, size_t begin, size_t end, double sd,
			    double *gain)
{
	size_t nr_levels = s->ground->schema->variables[v].nr_levels;
	size_t nr = m5_split_gather(s, v, begin, end);
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

static double node_deviation(const struct m5_split *s, size_t begin, size_t end)
{
	struct side all = { 0 };

	for (size_t i = begin; i < end; i++)
		m5_split_add(&all, s->ground->weight ? s->ground->weight[s->rows[i]] : 1, 0,
			     s->residual[s->rows[i]]);
	return m5_split_deviation(s, all.weight, all.yy - all.y * all.y / all.weight);
}

bool m5_split_best(struct m5_split *s, size_t begin, size_t end, const bool *tested, bool root)
{
	const struct schema *schema = s->ground->schema;
	double sd = node_deviation(s, begin, end), least = LEAST_GAIN * s->ground->sd;

	s->gain = 0;
	if (end - begin < 2 * M5_LEAST_ROWS)
		return false;
	for (size_t v = 0; v < schema->nr; v++) {
		const struct variable *var = &schema->variables[v];
		double gain = least, cut = 0;

		if (!var->factor)
			m5_split_number(s, v, begin, end, sd, &gain, &cut);
		else if (root || var->nr_levels > 2 || !tested[v])
			m5_split_factor(s, v, begin, end, sd, &gain);
		if (!(gain > least) ||
		    (!(gain > s->gain) &&
		     !(gain > NEAR * s->gain &&
		       s->ground->preference[v] > s->ground->preference[s->variable])))
			continue;
		s->gain = gain;
		s->variable = v;
		if (var->factor)
			memcpy(s->left, s->scratch_left, var->nr_levels);
		else
			s->cut = cut;
	}
	return s->gain > 0;
}
