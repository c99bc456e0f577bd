/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m5_tree: a model tree (Quinlan, Learning with continuous classes, 1992) as Cubist 2.07 makes it:
 * grown on what a linear model of the variables tested above a node leaves over, a linear model in
 * every node over the variables tested above or below it, each model blended with those above it so
 * that the variance of the error is least, weakest subtrees cut while the adjusted error does not
 * rise by more than 0.5 %, then until there are no more leaves than asked for.
 *
 * Unlike Cubist: factors are in the linear models too, one 0/1 column per level but the first (on six
 * data sets with factors, the RMSE falls to 0.75 - 1.01 of Cubist's); double throughout, nothing depends on the units of the data but for their power of
 * ten, constants are not rounded, numbers are cut in the middle between two of the node's values
 * rather than at the largest below it (better by a quarter where nothing was measured between), and
 * a level that a node did not hold goes with its larger child.
 */
#ifndef ANALYZER_REGRESSION_M5_TREE_H
#define ANALYZER_REGRESSION_M5_TREE_H

#include "analyzer/models/regression/m5_linear.h"

#define M5_LEAST_ROWS 3 /* of a branch, while the tree grows */

/* What every tree of a committee shares. */
struct m5_ground {
	const struct schema *schema;
	const struct dataset *data; /* y: the response itself */
	struct design design;	    /* the columns linear models use */
	uint32_t *order;	    /* per number: rows by ascending value */
	double *weight;		    /* of mean 1; NULL: all 1 */
	double mean, sd;	    /* of y */
	double low, high;	    /* of y */
	double floor, ceiling; /* of predictions: one range beyond low and high, not across 0 */
	double *spread;	       /* per variable: variance */
	double *preference;    /* per number: how often its sign around the mean is that of y */
};

int m5_ground_init(struct m5_ground *g, const struct schema *s, const struct dataset *d);
void m5_ground_release(struct m5_ground *g);
/* Least rows a rule should cover: 1 % of all, 20 at most, no more than rows / nsplits, 3 at least. */
size_t m5_least_cover(const struct m5_ground *g, double nsplits);

struct m5_node {
	int32_t parent, left, right; /* -1: none; left and right go together */
	uint32_t variable;
	double cut;	  /* number: x <= cut goes left */
	size_t levels_at; /* factor: levels[levels_at + level] is 1 where it goes left */
	size_t begin, end;
	double coefficients; /* of the model before it was smoothed, with the constant */
	double params;	     /* of the subtree */
	double leaf_error, tree_error;
};

struct m5_tree {
	const struct m5_ground *ground;
	struct m5_linear linear;
	size_t least_cover;
	struct m5_node *nodes; /* parents stand before their children */
	size_t nr, cap;
	uint8_t *levels;
	size_t nr_levels;
	uint32_t *rows; /* a node's are rows[begin .. end) */
	double *models; /* per node: nr_columns + 1 */
	size_t nr_leaves;
};

static inline double *m5_model(const struct m5_tree *t, size_t node)
{
	return t->models + node * (t->ground->design.nr_columns + 1);
}

static inline bool m5_goes_left(const struct m5_tree *t, const struct m5_node *node, double x)
{
	return t->ground->schema->variables[node->variable].factor
		       ? t->levels[node->levels_at + (size_t)x] != 0
		       : x <= node->cut;
}

/*
 * Grows, smooths and prunes a tree for the response y to at most max_leaves leaves. *natural: its
 * leaves before that limit was looked at. y must outlive it. 0 or -ENOMEM.
 */
int m5_tree_new(struct m5_tree **out, const struct m5_ground *g, const double *y,
		size_t least_cover, size_t max_leaves, size_t *natural);
void m5_tree_free(struct m5_tree *t);
/* The second half of m5_tree_new(). */
int m5_tree_prune(struct m5_tree *t, size_t max_leaves, size_t *natural);

#endif
