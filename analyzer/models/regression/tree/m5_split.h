/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m5_split: finds the split of a node that lowers sd(T) - sum |Ti| / |T| sd(Ti) most (Quinlan,
 * Learning with continuous classes, 1992). If a number splits the node and its correlation with y
 * on a side is significant (two standard errors of Fisher's z), the deviation of that side is
 * measured around a line in the number. The reason is that the linear model of the node explains a
 * linear trend anyway, so that a trend should not cause a split.
 */
#ifndef ANALYZER_REGRESSION_M5_SPLIT_H
#define ANALYZER_REGRESSION_M5_SPLIT_H

#include "analyzer/models/regression/tree/m5_tree.h"
#include "analyzer/models/regression/tree/tree_grow.h"

struct m5_level {
	size_t level, nr;
	double weight, sum, squares;
};

struct m5_split {
	const struct m5_ground *ground;
	size_t least_cover;
	const double *residual; /* by row */
	/* by number of rows: the squared correlation that chance alone may give */
	double *chance;
	struct m5_level *levels; /* scratch */
	uint8_t *scratch_left;
};

int m5_split_init(struct m5_split *s, const struct m5_ground *g);
void m5_split_release(struct m5_split *s);
/*
 * Looks at every variable and fills in g->split; tested has the flags of those that are tested
 * above the node. Returns false if no split gains.
 */
bool m5_split_best(struct m5_split *s, struct tree_growth *g, const struct m5_node *node,
		   const bool *tested);

#endif
