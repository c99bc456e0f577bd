/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_grow: grows a binary tree of least squares on rows sorted once, for CART. Numbers split between two
 * neighbouring values, at their middle; factors split into the levels of lower and of higher mean,
 * which is the best of all subsets (Breiman et al. 1984, theorem 4.5). Levels the node does not hold
 * go with its larger child. Of equal splits the first variable's lowest wins.
 */
#ifndef ANALYZER_REGRESSION_TREE_GROW_H
#define ANALYZER_REGRESSION_TREE_GROW_H

#include "analyzer/models/regression/forest.h"

struct grow_config {
	const struct schema *schema;
	const struct dataset *data; /* y is not taken from it */
	const double *y;
	const uint32_t *order; /* grow_order() */
	size_t min_split, min_bucket;
	unsigned int max_depth;
	/*
	 * Nodes whose risk is at most this share of the root's are leaves: 0 grows the whole tree. A pruned tree of
	 * that complexity or a larger one is the same, as no subtree can gain more than the risk of its root.
	 */
	double least_share;
};

struct grown_node {
	size_t begin, end; /* its rows in grown.rows */
	double mean, risk; /* weighted mean and sum of squares around it */
};

/* nodes[i] belongs to forest.nodes[i]; node 0 is the root, parents stand before children. */
struct grown {
	struct forest forest;
	struct grown_node *nodes;
	size_t cap;
	uint32_t *rows;
};

/* Rows of each numeric variable by ascending value: nr_vars x nr_rows, caller frees; or NULL. */
uint32_t *grow_order(const struct schema *s, const struct dataset *d);
/* O(variables x rows x depth). 0 or -ENOMEM. */
int grow(struct grown *g, const struct grow_config *config);
void grown_release(struct grown *g);

#endif
