// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/tree_split.h"

/* A gain below this share of the node's spread comes from rounding (R's rpart uses 1e-10 too). */
#define LEAST_GAIN 1e-10

/* The rows on one side: their number, weight, and the sums of y minus the node's mean. */
struct side {
	size_t nr;
	double weight, sum, squares;
};

int split_init(struct split_choice *c, const struct schema *s)
{
	size_t most = 1;

	memset(c, 0, sizeof(*c));
	for (size_t v = 0; v < s->nr; v++)
		if (s->variables[v].nr_levels > most)
			most = s->variables[v].nr_levels;
	c->left = calloc(most, 1);
	c->scratch_left = calloc(most, 1);
	c->sum = calloc(most, sizeof(*c->sum));
	c->squares = calloc(most, sizeof(*c->squares));
	c->weight = calloc(most, sizeof(*c->weight));
	c->count = calloc(most, sizeof(*c->count));
	c->sorted = calloc(most, sizeof(*c->sorted));
	if (c->left && c->scratch_left && c->sum && c->squares && c->weight && c->count &&
	    c->sorted)
		return 0;
	split_release(c);
	return -ENOMEM;
}

void split_release(struct split_choice *c)
{
	free(c->left);
	free(c->scratch_left);
	free(c->sum);
	free(c->squares);
	free(c->weight);
	free(c->count);
	free(c->sorted);
	memset(c, 0, sizeof(*c));
}

/* Returns the gain of a split into these sides, as a share of the node's spread. */
static double gain_of(const struct grown_node *node, const struct side *l, const struct side *r)
{
	return (l->sum * l->sum / l->weight + r->sum * r->sum / r->weight) / node->risk;
}

static void add_row(struct side *s, const struct grow_config *config, uint32_t row, double mean)
{
	double w = config->data->weight ? config->data->weight[row] : 1;
	double y = config->y[row] - mean;

	s->nr++;
	s->weight += w;
	s->sum += w * y;
	s->squares += w * y * y;
}

static struct side tree_split_rest(const struct side *all, const struct side *l)
{
	return (struct side){ all->nr - l->nr, all->weight - l->weight, all->sum - l->sum,
			      all->squares - l->squares };
}

static struct side tree_split_whole(const struct grow_config *config, const uint32_t *rows,
				    const struct grown_node *node)
{
	struct side all = { 0 };

	for (size_t i = node->begin; i < node->end; i++)
		add_row(&all, config, rows[i], node->mean);
	return all;
}

/* Returns the node's mean, summed in the order of the variable as rpart does. */
static double mean_in_order(const struct grow_config *config, const uint32_t *order,
			    const struct grown_node *node)
{
	double sum = 0, weights = 0;

	for (size_t i = node->begin; i < node->end; i++) {
		double w = config->data->weight ? config->data->weight[order[i]] : 1;

		sum += config->y[order[i]] * w;
		weights += w;
	}
	return sum / weights;
}

/* A product below this ratio is smaller than the other one, whatever the rounding errors are. */
#define CLEARLY_LESS (1 - 1e-9)

static void tree_split_take(struct split_choice *c, size_t v, double gain, double here, double next)
{
	c->gain = gain;
	c->variable = v;
	c->cut = here + (next - here) / 2;
	if (!(c->cut > here))
		c->cut = next;
}

/*
 * Does the same as number_split() for rows of weight 1. With n rows, of which i are on the left
 * with the sum s, the gain is s^2 n / (i (n - i)) divided by the risk. The product shows quickly
 * that a gain cannot be the largest. The sums of number_split() are computed only where it may be,
 * so that both functions take the same cut.
 */
static void tree_split_unweighted(struct split_choice *c, const struct grow_config *config,
				  size_t v, const uint32_t *order, const struct grown_node *node)
{
	const double *x = config->data->x + v * config->data->nr_rows, *y = config->y;
	size_t n = node->end - node->begin;
	double mean = 0, sum = 0, least = fmax(c->gain, LEAST_GAIN) * node->risk * CLEARLY_LESS;

	order += node->begin;
	for (size_t i = 0; i < n; i++)
		mean += y[order[i]];
	mean /= (double)n;
	for (size_t i = 1; i + config->min_bucket <= n && i < n; i++) {
		double left = (double)i, right = (double)(n - i), here, next, gain;

		sum += y[order[i - 1]] - mean;
		if (sum * sum * (double)n < least * left * right || i < config->min_bucket)
			continue;
		here = x[order[i - 1]];
		next = x[order[i]];
		if (here == next)
			continue;
		gain = (sum * sum / left + sum * sum / right) / node->risk;
		if (!(gain > c->gain && gain > LEAST_GAIN))
			continue;
		tree_split_take(c, v, gain, here, next);
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
static void number_split(struct split_choice *c, const struct grow_config *config, size_t v,
			 const uint32_t *order, const struct grown_node *node,
			 const struct side *all)
{
	const double *x = config->data->x + v * config->data->nr_rows;
	double mean = mean_in_order(config, order, node);
	struct side l = { 0 };

	for (size_t i = node->begin; i + 1 < node->end; i++) {
		double here = x[order[i]], next = x[order[i + 1]], gain;
		struct side r;

		add_row(&l, config, order[i], mean);
		if (here == next || l.nr < config->min_bucket)
			continue;
		if (all->nr - l.nr < config->min_bucket)
			break;
		r = tree_split_rest(all, &l);
		r.sum = -l.sum;
		gain = gain_of(node, &l, &r);
		if (gain > c->gain && gain > LEAST_GAIN)
			tree_split_take(c, v, gain, here, next);
	}
}

/* Sorts the levels that the node holds by ascending mean, and equal ones by number. */
static size_t sort_levels(struct split_choice *c, size_t nr_levels)
{
	size_t nr = 0;

	for (size_t k = 0; k < nr_levels; k++) {
		size_t at = nr;
		double mean;

		if (!c->count[k])
			continue;
		mean = c->sum[k] / c->weight[k];
		for (; at && c->sum[c->sorted[at - 1]] / c->weight[c->sorted[at - 1]] > mean; at--)
			c->sorted[at] = c->sorted[at - 1];
		c->sorted[at] = k;
		nr++;
	}
	return nr;
}

static void count_levels(struct split_choice *c, const struct grow_config *config, size_t v,
			 const uint32_t *rows, const struct grown_node *node)
{
	const double *x = config->data->x + v * config->data->nr_rows;
	size_t nr_levels = config->schema->variables[v].nr_levels;

	for (size_t k = 0; k < nr_levels; k++) {
		c->sum[k] = c->squares[k] = c->weight[k] = 0;
		c->count[k] = 0;
	}
	for (size_t i = node->begin; i < node->end; i++) {
		double w = config->data->weight ? config->data->weight[rows[i]] : 1;
		double y = config->y[rows[i]] - node->mean;
		size_t k = (size_t)x[rows[i]];

		c->count[k]++;
		c->weight[k] += w;
		c->sum[k] += w * y;
		c->squares[k] += w * y * y;
	}
}

static void factor_split(struct split_choice *c, const struct grow_config *config, size_t v,
			 const uint32_t *rows, const struct grown_node *node,
			 const struct side *all)
{
	size_t nr_levels = config->schema->variables[v].nr_levels, nr;
	struct side l = { 0 };

	count_levels(c, config, v, rows, node);
	nr = sort_levels(c, nr_levels);
	memset(c->scratch_left, 0, nr_levels);
	for (size_t i = 0; i + 1 < nr; i++) {
		size_t k = c->sorted[i];
		struct side r;
		double gain;

		l.nr += c->count[k];
		l.weight += c->weight[k];
		l.sum += c->sum[k];
		l.squares += c->squares[k];
		c->scratch_left[k] = 1;
		r = tree_split_rest(all, &l);
		if (l.nr < config->min_bucket || r.nr < config->min_bucket)
			continue;
		gain = gain_of(node, &l, &r);
		if (gain <= c->gain || gain <= LEAST_GAIN)
			continue;
		c->gain = gain;
		c->variable = v;
		memcpy(c->left, c->scratch_left, nr_levels);
		for (size_t m = 0; m < nr_levels; m++)
			if (!c->count[m])
				c->left[m] = l.nr >= r.nr;
	}
}

void split_best(struct split_choice *c, const struct grow_config *config, const uint32_t *order,
		const uint32_t *rows, const struct grown_node *node)
{
	size_t n = config->data->nr_rows;
	struct side all = tree_split_whole(config, rows, node);

	c->gain = 0;
	for (size_t v = 0; v < config->schema->nr; v++) {
		if (config->schema->variables[v].factor)
			factor_split(c, config, v, rows, node, &all);
		else if (!config->data->weight)
			tree_split_unweighted(c, config, v, order + v * n, node);
		else
			number_split(c, config, v, order + v * n, node, &all);
	}
}
