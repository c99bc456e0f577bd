/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m5_tree: a model tree (Quinlan, Learning with continuous classes, 1992; seed 004, section 3.2): grown by
 * the reduction of the standard deviation, a linear model in every node over the variables tested
 * on the way to it and below it, terms and subtrees dropped where that lowers
 * (1/n) sum |y - f| (n + p) / (n - p), predictions smoothed towards the root.
 *
 * Below its natural size a tree is cut at its weakest links: each node carries the nsplits it
 * needs, so one tree serves every nsplits.
 */
#ifndef ANALYZER_REGRESSION_M5_TREE_H
#define ANALYZER_REGRESSION_M5_TREE_H

#include "analyzer/regression/design.h"
#include "analyzer/regression/tree_grow.h"

struct m5_config {
	const struct schema *schema;
	const struct dataset *data; /* y is not taken from it */
	const double *y;
	const uint32_t *order; /* grow_order() */
	const struct design *design;
};

struct m5_tree {
	struct grown grown;
	size_t nr_columns;
	double *models;	  /* by node: constant, then one coefficient per design column; smoothed */
	size_t *needs;	  /* a node splits where nsplits is at least this; SIZE_MAX: never */
	size_t nr_splits; /* of the tree at its natural size */
};

/* 0 or -ENOMEM. */
int m5_tree_new(struct m5_tree **out, const struct m5_config *config);
void m5_tree_free(struct m5_tree *t);
/* One row, x of the schema's variables. */
double m5_tree_predict(const struct m5_tree *t, const struct schema *s, const struct design *g,
		       const double *x, size_t nsplits);
/* Appends it as a tree of a forest. 0 or -ENOMEM. */
int m5_tree_copy(struct forest *f, const struct m5_tree *t, const struct schema *s,
		 const struct design *g, size_t nsplits);

#endif
