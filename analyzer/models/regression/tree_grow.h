/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_grow: grows a binary least-squares tree for CART on rows that are sorted once. A number is
 * split at the middle between two neighbouring values. A factor is split into the levels of lower
 * mean and those of higher mean, which is the best of all subsets (Breiman et al., Classification
 * and Regression Trees, 1984, theorem 4.5). Levels that the node does not hold go to its larger
 * child. Of equal splits, the lowest one of the first variable is taken.
 */
#ifndef ANALYZER_REGRESSION_TREE_GROW_H
#define ANALYZER_REGRESSION_TREE_GROW_H

#include "analyzer/models/regression/forest.h"

struct grow_config {
	const struct schema *schema;
	const struct dataset *data; /* its y is not used */
	const double *y;
	const uint32_t *order; /* made by grow_order() */
	size_t min_split, min_bucket;
	unsigned int max_depth;
	/*
	 * Nodes whose risk is at most this share of the root's risk become leaves; 0 grows the
	 * whole tree. A tree that is pruned with this complexity or a larger one is the same,
	 * since no subtree can gain more than the risk of its root.
	 */
	double least_share;
};

struct grown_node {
	size_t begin, end; /* its rows in grown.rows */
	double mean, risk; /* weighted mean, and weighted sum of squares around it */
};

/*
 * nodes[i] belongs to forest.nodes[i]. Node 0 is the root, and parents come before their children.
 */
struct grown {
	struct forest forest;
	struct grown_node *nodes;
	size_t cap;
	uint32_t *rows;
};

/*
 * Returns the rows of each numeric variable by ascending value, nr_vars x nr_rows, which the
 * caller frees, or NULL if there is no memory.
 */
uint32_t *grow_order(const struct schema *s, const struct dataset *d);
/* The cost is O(variables x rows x depth). Returns 0 or -ENOMEM. */
int grow(struct grown *g, const struct grow_config *config);
void grown_release(struct grown *g);

#endif
