/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m5_tree: a model tree (Quinlan, Learning with continuous classes, 1992) as Cubist 2.07 builds
 * it. The tree grows on the residuals of a linear model of the variables that are tested above a
 * node. Every node then gets a linear model over the variables that are tested above or below it.
 * Each model is blended with those above it so that the variance of the error is least. The
 * weakest subtrees are cut as long as the adjusted error does not rise by more than 0.5 %, and
 * then until there are no more leaves than asked for.
 *
 * There are differences from Cubist. The linear models contain factors too, as one 0/1 column per
 * level except the first (on six data sets with factors, the RMSE falls to 0.75 - 1.01 of
 * Cubist's). All numbers are double, nothing depends on the units of the data except on their
 * power of ten, and constants are not rounded. A number is cut in the middle between two values of
 * the node instead of at the largest value below the cut (a quarter better where nothing was
 * measured between them). A level that a node did not hold goes to its larger child.
 */
#ifndef ANALYZER_REGRESSION_M5_TREE_H
#define ANALYZER_REGRESSION_M5_TREE_H

#include "analyzer/models/regression/tree/m5_linear.h"

#define M5_LEAST_ROWS 3 /* rows of a branch, while the tree grows */

/* This struct holds the data that all trees of a committee share. */
struct m5_ground {
	const struct schema *schema;
	const struct dataset *data; /* its y is the response itself */
	struct design design;	    /* columns that linear models use */
	uint32_t *order;	    /* per number: rows by ascending value */
	double *weight;		    /* their mean is 1; NULL means that all are 1 */
	double mean, sd;	    /* of y */
	double low, high;	    /* of y */
	/* limits of predictions: one range beyond low and high, but not across 0 */
	double floor, ceiling;
	double *spread; /* per variable: variance */
	/* per number: how often its deviation from the mean has the same sign as that of y */
	double *preference;
};

int m5_ground_init(struct m5_ground *g, const struct schema *s, const struct dataset *d);
void m5_ground_release(struct m5_ground *g);
/*
 * Returns the least number of rows that a rule should cover: 1 % of all rows, but at most 20, at
 * most rows / nsplits, and at least 3.
 */
size_t m5_least_cover(const struct m5_ground *g, double nsplits);

struct m5_node {
	int32_t parent, left, right; /* -1 means none; a node has both children or none */
	uint32_t variable;
	double cut;	  /* for a number: x <= cut goes left */
	size_t levels_at; /* for a factor: levels[levels_at + level] is 1 if the level goes left */
	size_t begin, end;
	/* number of coefficients of the model before smoothing, with the constant */
	double coefficients;
	double params; /* number of parameters of the subtree */
	double leaf_error, tree_error;
};

struct m5_tree {
	const struct m5_ground *ground;
	struct m5_linear linear;
	size_t least_cover;
	struct m5_node *nodes; /* parents come before their children */
	size_t nr, cap;
	uint8_t *levels;
	size_t nr_levels;
	uint32_t *rows; /* a node has the rows rows[begin .. end) */
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
 * Grows, smooths and prunes a tree for the response y to at most max_leaves leaves. *natural
 * becomes the number of leaves before that limit was applied. y must outlive the tree. Returns 0
 * or -ENOMEM.
 */
int m5_tree_new(struct m5_tree **out, const struct m5_ground *g, const double *y,
		size_t least_cover, size_t max_leaves, size_t *natural);
void m5_tree_free(struct m5_tree *t);
/* Runs the second half of m5_tree_new(). */
int m5_tree_prune(struct m5_tree *t, size_t max_leaves, size_t *natural);

#endif
