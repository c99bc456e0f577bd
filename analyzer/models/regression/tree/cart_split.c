// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/tree/cart_split.h"

/* A gain below this share of the node's spread comes from rounding (R's rpart uses 1e-10 too). */
#define LEAST_GAIN 1e-10

/*
 * This struct sums the rows on one side: their number, weight, and the sum of y minus the node's
 * mean.
 */
struct side {
	size_t nr;
	double weight, sum;
};

int cart_split_init(struct cart_split *c, const struct schema *s, size_t nr_rows)
{
	size_t most = tree_most_levels(s);

	c->left = calloc(most, 1);
	c->levels = calloc(most, sizeof(*c->levels));
	c->sorted = calloc(most, sizeof(*c->sorted));
	c->y = calloc(nr_rows + 1, sizeof(*c->y));
	return c->left && c->levels && c->sorted && c->y ? 0 : -ENOMEM;
}

void cart_split_release(struct cart_split *c)
{
	free(c->left);
	free(c->levels);
	free(c->sorted);
	free(c->y);
}

static double cart_split_weight(const struct tree_growth *g, uint32_t row)
{
	return g->data->weight ? g->data->weight[row] : 1;
}

/* Returns the gain of a split into these sides, as a share of the node's spread. */
static double cart_split_gain(const struct cart_node *node, const struct side *l,
			      const struct side *r)
{
	return (l->sum * l->sum / l->weight + r->sum * r->sum / r->weight) / node->risk;
}

static void cart_split_add(struct side *s, const struct tree_growth *g, uint32_t row, double mean)
{
	double w = cart_split_weight(g, row);

	s->nr++;
	s->weight += w;
	s->sum += w * (g->data->y[row] - mean);
}

static struct side cart_split_rest(const struct side *all, const struct side *l)
{
	return (struct side){ all->nr - l->nr, all->weight - l->weight, all->sum - l->sum };
}

/* Returns the node's mean, summed in the order of the variable as rpart does. */
static double cart_split_mean(const struct tree_growth *g, const uint32_t *order, size_t n)
{
	double sum = 0, weights = 0;

	for (size_t i = 0; i < n; i++) {
		double w = cart_split_weight(g, order[i]);

		sum += g->data->y[order[i]] * w;
		weights += w;
	}
	return sum / weights;
}

/* A product below this ratio is smaller than the other one, whatever the rounding errors are. */
#define CLEARLY_LESS (1 - 1e-9)

static void cart_split_take(struct tree_split *s, size_t v, double gain, size_t nr_left,
			    double here, double next)
{
	*s = (struct tree_split){ gain, v, here + (next - here) / 2, nr_left, s->left };
	if (!(s->cut > here))
		s->cut = next;
}

/*
 * Does the same as cart_split_number() for rows of weight 1. With n rows, of which i are on the
 * left with the sum s, the gain is s^2 n / (i (n - i)) divided by the risk. The product shows
 * quickly that a gain cannot be the largest. The sums of cart_split_number() are computed only
 * where it may be, so that both functions take the same cut.
 */
static void cart_split_unweighted(const struct cart_split *c, struct tree_growth *g, size_t v,
				  const uint32_t *order, const struct cart_node *node)
{
	const double *x = g->data->x + v * g->data->nr_rows;
	size_t n = node->end - node->begin;
	double *y = c->y, mean = 0, sum = 0, best = fmax(g->split.gain, LEAST_GAIN);
	double least = best * node->risk * CLEARLY_LESS;

	for (size_t i = 0; i < n; i++) {
		y[i] = g->data->y[order[i]];
		mean += y[i];
	}
	mean /= (double)n;
	for (size_t i = 1; i + c->min_bucket <= n && i < n; i++) {
		double left = (double)i, right = (double)(n - i), here, next, gain;

		sum += y[i - 1] - mean;
		if (sum * sum * (double)n < least * left * right || i < c->min_bucket)
			continue;
		here = x[order[i - 1]];
		next = x[order[i]];
		gain = (sum * sum / left + sum * sum / right) / node->risk;
		if (here == next || !(gain > best))
			continue;
		cart_split_take(&g->split, v, gain, i, here, next);
		best = gain;
		least = gain * node->risk * CLEARLY_LESS;
	}
}

/*
 * Two variables that divide a node into the same two sides have the same gain except for rounding.
 * The choice between them affects the predictions for rows that were not in the training data. So
 * that ties end as in R's rpart (4.1, anova), the sums are rounded as there: around the mean,
 * summed in the order of the variable, with the right side as the negative of the left. The first
 * of equal columns is taken.
 */
static void cart_split_number(const struct cart_split *c, struct tree_growth *g, size_t v,
			      const uint32_t *order, const struct cart_node *node,
			      const struct side *all)
{
	const double *x = g->data->x + v * g->data->nr_rows;
	double mean = cart_split_mean(g, order, all->nr);
	struct side l = { 0 };

	for (size_t i = 0; i + 1 < all->nr; i++) {
		double here = x[order[i]], next = x[order[i + 1]], gain;
		struct side r;

		cart_split_add(&l, g, order[i], mean);
		if (here == next || l.nr < c->min_bucket)
			continue;
		if (all->nr - l.nr < c->min_bucket)
			break;
		r = cart_split_rest(all, &l);
		r.sum = -l.sum;
		gain = cart_split_gain(node, &l, &r);
		if (gain > g->split.gain && gain > LEAST_GAIN)
			cart_split_take(&g->split, v, gain, l.nr, here, next);
	}
}

static double cart_split_level_mean(const struct cart_level *l)
{
	return l->sum / l->weight;
}

/* Sorts the levels that the node holds by ascending mean, and equal ones by number. */
static size_t cart_split_sort_levels(struct cart_split *c, size_t nr_levels)
{
	size_t nr = 0;

	for (size_t k = 0; k < nr_levels; k++) {
		size_t at = nr;

		if (!c->levels[k].nr)
			continue;
		for (; at && cart_split_level_mean(&c->levels[c->sorted[at - 1]]) >
				     cart_split_level_mean(&c->levels[k]);
		     at--)
			c->sorted[at] = c->sorted[at - 1];
		c->sorted[at] = k;
		nr++;
	}
	return nr;
}

static void cart_split_count_levels(struct cart_split *c, const struct tree_growth *g, size_t v,
				    const struct cart_node *node)
{
	const double *x = g->data->x + v * g->data->nr_rows;

	memset(c->levels, 0, g->schema->variables[v].nr_levels * sizeof(*c->levels));
	for (size_t i = node->begin; i < node->end; i++) {
		uint32_t row = g->rows[i];
		struct cart_level *l = &c->levels[(size_t)x[row]];
		double w = cart_split_weight(g, row);

		l->nr++;
		l->weight += w;
		l->sum += w * (g->data->y[row] - node->mean);
	}
}

static void cart_split_factor(struct cart_split *c, struct tree_growth *g, size_t v,
			      const struct cart_node *node, const struct side *all)
{
	size_t nr_levels = g->schema->variables[v].nr_levels, nr;
	struct side l = { 0 };

	cart_split_count_levels(c, g, v, node);
	nr = cart_split_sort_levels(c, nr_levels);
	memset(c->left, 0, nr_levels);
	for (size_t i = 0; i + 1 < nr; i++) {
		const struct cart_level *level = &c->levels[c->sorted[i]];
		struct side r;
		double gain;

		l.nr += level->nr;
		l.weight += level->weight;
		l.sum += level->sum;
		c->left[c->sorted[i]] = 1;
		r = cart_split_rest(all, &l);
		if (l.nr < c->min_bucket || r.nr < c->min_bucket)
			continue;
		gain = cart_split_gain(node, &l, &r);
		if (gain <= g->split.gain || gain <= LEAST_GAIN)
			continue;
		g->split.gain = gain;
		g->split.variable = v;
		memcpy(g->split.left, c->left, nr_levels);
		for (size_t m = 0; m < nr_levels; m++)
			if (!c->levels[m].nr)
				g->split.left[m] = l.nr >= r.nr;
	}
}

void cart_split_best(struct cart_split *c, struct tree_growth *g, const struct cart_node *node)
{
	size_t n = g->data->nr_rows;
	struct side all = { 0 };

	for (size_t i = node->begin; i < node->end; i++)
		cart_split_add(&all, g, g->rows[i], node->mean);
	g->split.gain = 0;
	for (size_t v = 0; v < g->schema->nr; v++) {
		const uint32_t *order = g->order + v * n + node->begin;

		if (g->schema->variables[v].factor)
			cart_split_factor(c, g, v, node, &all);
		else if (!g->data->weight)
			cart_split_unweighted(c, g, v, order, node);
		else
			cart_split_number(c, g, v, order, node, &all);
	}
}
