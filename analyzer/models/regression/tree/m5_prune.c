// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/stats.h"
#include "analyzer/models/regression/tree/m5_tree.h"

/* number of parameters that a split of a number or of many levels counts as */
#define SPLIT_COST	  4
#define SPLIT_COST_BINARY 3	/* number of parameters for a factor of two levels */
#define SLACK		  1.005 /* factor by which the adjusted error may rise for a smaller tree */
#define LEAST_EFFECT	  0.01	/* in deviations of y, per deviation of x */

struct pruner {
	struct m5_tree *t;
	double *fitted;		   /* by node: models before smoothing */
	double *error, *of_parent; /* by row of a node */
	struct stats_weighted *residuals;
};

static bool m5_prune_inner(const struct m5_node *node)
{
	return node->left >= 0;
}

static size_t nr_rows(const struct m5_node *node)
{
	return node->end - node->begin;
}

static double weight_of(const struct m5_tree *t, uint32_t row)
{
	return t->ground->weight ? t->ground->weight[row] : 1;
}

/* Removes the splits that have a branch of too few rows, with everything below them. */
static void drop_small(struct m5_tree *t, int32_t at)
{
	struct m5_node *node = &t->nodes[at];

	if (!m5_prune_inner(node))
		return;
	if (nr_rows(&t->nodes[node->left]) < t->least_cover ||
	    nr_rows(&t->nodes[node->right]) < t->least_cover) {
		node->left = node->right = -1;
		return;
	}
	drop_small(t, node->left);
	drop_small(t, node->right);
}

static void count_params(struct m5_tree *t, int32_t at)
{
	struct m5_node *node = &t->nodes[at];
	const struct schema *s = t->ground->schema;
	const double *model = m5_model(t, (size_t)at);

	node->coefficients = 1;
	for (size_t v = 0; v < t->ground->design.nr_columns; v++)
		node->coefficients += model[v + 1] != 0;
	node->params = node->coefficients;
	if (!m5_prune_inner(node))
		return;
	count_params(t, node->left);
	count_params(t, node->right);
	node->params =
		t->nodes[node->left].params + t->nodes[node->right].params +
		(s->variables[node->variable].nr_levels == 2 ? SPLIT_COST_BINARY : SPLIT_COST);
}

/* Computes the errors of a model at the node's rows, and returns their variance. */
static double variance_of(const struct m5_tree *t, const struct m5_node *node, const double *model,
			  double *error)
{
	double weights = 0, sum = 0, squares = 0;

	m5_linear_cut(&t->linear, model, t->rows + node->begin, nr_rows(node), error);
	for (size_t i = node->begin; i < node->end; i++) {
		uint32_t row = t->rows[i];
		double w = weight_of(t, row);
		double e = t->linear.y[row] - error[i - node->begin];

		error[i - node->begin] = e;
		weights += w;
		sum += w * e;
		squares += w * e * e;
	}
	return weights > 1 ? fmax(0, squares - sum * sum / weights) / (weights - 1) : 0;
}

static double m5_prune_covariance(const struct m5_tree *t, const struct m5_node *node,
				  const double *a, const double *b)
{
	double weights = 0, x = 0, y = 0, xy = 0;

	for (size_t i = node->begin; i < node->end; i++) {
		double w = weight_of(t, t->rows[i]);

		weights += w;
		x += w * a[i - node->begin];
		y += w * b[i - node->begin];
		xy += w * a[i - node->begin] * b[i - node->begin];
	}
	return (xy - x * y / weights) / (weights - 1);
}

/*
 * Blends the model with each one above it so that the variance of the error at the rows is least.
 */
static void m5_prune_blend(struct pruner *p, size_t at)
{
	const struct m5_tree *t = p->t;
	const struct m5_node *node = &t->nodes[at];
	size_t width = t->ground->design.nr_columns + 1;
	double *model = m5_model(t, at), own = variance_of(t, node, model, p->error);
	double least = 1e-12 * t->ground->sd * t->ground->sd;

	for (int32_t up = node->parent; up >= 0 && own > least; up = t->nodes[up].parent) {
		const double *above = p->fitted + (size_t)up * width;
		double theirs = variance_of(t, node, above, p->of_parent);
		double both = m5_prune_covariance(t, node, p->error, p->of_parent), share;

		if (!(own + theirs - 2 * both > least))
			continue;
		share = (theirs - both) / (own + theirs - 2 * both);
		if (!(share > 0 && share < 1))
			continue;
		for (size_t k = 0; k < width; k++)
			model[k] = model[k] * share + above[k] * (1 - share);
		own = variance_of(t, node, model, p->error);
	}
}

/*
 * Removes a coefficient without effect. Other coefficients are rounded to the power of ten at or
 * below the least effect, as Cubist does. Long committees depend on this rounding more than on any
 * other remaining detail.
 */
static double m5_prune_rounded(const struct m5_tree *t, size_t v, double coefficient)
{
	double least = LEAST_EFFECT * t->ground->sd / sqrt(t->ground->spread[v]), unit;

	if (!(fabs(coefficient) >= least))
		return 0;
	unit = pow(10, floor(log10(least)));
	return unit > 0 ? rint(coefficient / unit) * unit : coefficient;
}

/* Simplifies the coefficients. The constant is chosen so that the median error is 0. */
static void m5_prune_settle(struct pruner *p, size_t at)
{
	const struct m5_tree *t = p->t;
	const struct m5_node *node = &t->nodes[at];
	double *model = m5_model(t, at);

	for (size_t v = 0; v < t->ground->design.nr_columns; v++)
		if (model[v + 1] != 0)
			model[v + 1] = m5_prune_rounded(t, v, model[v + 1]);
	m5_linear_at(&t->linear, model, t->rows + node->begin, nr_rows(node), p->error);
	for (size_t i = node->begin; i < node->end; i++) {
		uint32_t row = t->rows[i];
		double e = p->error[i - node->begin] - t->linear.y[row];

		p->residuals[i - node->begin] = (struct stats_weighted){ e, weight_of(t, row) };
	}
	model[0] -= stats_weighted_median(p->residuals, nr_rows(node));
}

static void m5_prune_smooth(struct pruner *p, int32_t at)
{
	const struct m5_node *node = &p->t->nodes[at];

	if (m5_prune_inner(node)) {
		m5_prune_smooth(p, node->left);
		m5_prune_smooth(p, node->right);
	}
	if (nr_rows(node) > 2)
		m5_prune_blend(p, (size_t)at);
	m5_prune_settle(p, (size_t)at);
}

static void m5_prune_measure(struct pruner *p, int32_t at)
{
	struct m5_tree *t = p->t;
	struct m5_node *node = &t->nodes[at];
	const uint32_t *rows = t->rows + node->begin;

	m5_linear_at(&t->linear, m5_model(t, (size_t)at), rows, nr_rows(node), p->error);
	node->leaf_error = 0;
	for (size_t i = 0; i < nr_rows(node); i++)
		node->leaf_error +=
			weight_of(t, rows[i]) * fabs(t->linear.y[rows[i]] - p->error[i]);
	node->tree_error = node->leaf_error;
	if (!m5_prune_inner(node))
		return;
	m5_prune_measure(p, node->left);
	m5_prune_measure(p, node->right);
	node->tree_error = t->nodes[node->left].tree_error + t->nodes[node->right].tree_error;
}

static double m5_prune_adjusted(const struct m5_tree *t, double error, double params)
{
	double n = (double)t->ground->data->nr_rows;

	return n * m5_adjusted(error / n, n, params);
}

/*
 * Finds the subtree whose removal adds the least error, among those whose adjusted error stays
 * within the limit.
 */
static void m5_prune_weakest(const struct m5_tree *t, int32_t at, double limit, int32_t *found,
			     double *least)
{
	const struct m5_node *node = &t->nodes[at], *root = &t->nodes[0];
	double extra = node->leaf_error - node->tree_error;

	if (!m5_prune_inner(node))
		return;
	if (extra < *least &&
	    m5_prune_adjusted(t, root->tree_error + extra,
			      root->params + node->coefficients - node->params) <= limit) {
		*found = at;
		*least = extra;
	}
	m5_prune_weakest(t, node->left, limit, found, least);
	m5_prune_weakest(t, node->right, limit, found, least);
}

static size_t count_leaves(const struct m5_tree *t, int32_t at)
{
	const struct m5_node *node = &t->nodes[at];

	return m5_prune_inner(node) ? count_leaves(t, node->left) + count_leaves(t, node->right)
				    : 1;
}

static void m5_prune_cut(struct m5_tree *t, int32_t at)
{
	struct m5_node *node = &t->nodes[at];
	double error = node->leaf_error - node->tree_error;
	double params = node->coefficients - node->params;

	t->nr_leaves -= count_leaves(t, at) - 1;
	for (int32_t up = at; up >= 0; up = t->nodes[up].parent) {
		t->nodes[up].tree_error += error;
		t->nodes[up].params += params;
	}
	node->left = node->right = -1;
}

/* Cuts as long as a subtree stays within the limit and there are more leaves than wanted. */
static void cut_within(struct m5_tree *t, double limit, bool falling, size_t leaves)
{
	while (t->nr_leaves > leaves) {
		double least = INFINITY;
		int32_t found = -1;

		if (falling)
			limit = m5_prune_adjusted(t, t->nodes[0].tree_error, t->nodes[0].params);
		m5_prune_weakest(t, 0, limit, &found, &least);
		if (found < 0)
			break;
		m5_prune_cut(t, found);
	}
}

static int pruner_init(struct pruner *p, struct m5_tree *t)
{
	size_t n = t->ground->data->nr_rows, width = t->ground->design.nr_columns + 1;

	*p = (struct pruner){ .t = t };
	p->fitted = calloc(t->nr * width + 1, sizeof(*p->fitted));
	p->error = calloc(n + 1, sizeof(*p->error));
	p->of_parent = calloc(n + 1, sizeof(*p->of_parent));
	p->residuals = calloc(n + 1, sizeof(*p->residuals));
	if (!p->fitted || !p->error || !p->of_parent || !p->residuals)
		return -ENOMEM;
	memcpy(p->fitted, t->models, t->nr * width * sizeof(*p->fitted));
	return 0;
}

int m5_tree_prune(struct m5_tree *t, size_t max_leaves, size_t *natural)
{
	struct pruner p;
	int ret = pruner_init(&p, t);

	if (ret)
		goto out;
	drop_small(t, 0);
	count_params(t, 0);
	m5_prune_smooth(&p, 0);
	m5_prune_measure(&p, 0);
	t->nr_leaves = count_leaves(t, 0);
	cut_within(t, 0, true, 1);
	cut_within(t, SLACK * m5_prune_adjusted(t, t->nodes[0].tree_error, t->nodes[0].params),
		   false, 1);
	*natural = t->nr_leaves;
	cut_within(t, INFINITY, false, max_leaves);
out:
	free(p.fitted);
	free(p.error);
	free(p.of_parent);
	free(p.residuals);
	return ret;
}
