/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cart_split: finds the least-squares split of one node of CART. A number is split at the middle
 * between two neighbouring values. A factor is split into the levels of lower mean and those of
 * higher mean, which is the best of all subsets (Breiman et al., Classification and Regression
 * Trees, 1984, theorem 4.5). Levels that the node does not hold go to its larger child. Of equal
 * splits, the lowest one of the first variable is taken.
 */
#ifndef ANALYZER_REGRESSION_CART_SPLIT_H
#define ANALYZER_REGRESSION_CART_SPLIT_H

#include "analyzer/models/regression/tree/tree_grow.h"

struct cart_node {
	size_t begin, end; /* its rows */
	double mean, risk; /* weighted mean, and weighted sum of squares around it */
};

/* This struct holds the sums of the node's rows that have one level of a factor. */
struct cart_level {
	size_t nr;
	double weight, sum;
};

struct cart_split {
	size_t min_bucket;
	/* These members are scratch memory for factors, by level. */
	struct cart_level *levels;
	size_t *sorted;
	uint8_t *left;
	double *y; /* scratch memory for numbers: the node's responses in the order of one */
};

int cart_split_init(struct cart_split *c, const struct schema *s, size_t nr_rows);
void cart_split_release(struct cart_split *c);
/* Fills in g->split. */
void cart_split_best(struct cart_split *c, struct tree_growth *g, const struct cart_node *node);

#endif
