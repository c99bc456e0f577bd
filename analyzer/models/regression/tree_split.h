/* SPDX-License-Identifier: Apache-2.0 */
/* tree_split: the best split of one node. */
#ifndef ANALYZER_REGRESSION_TREE_SPLIT_H
#define ANALYZER_REGRESSION_TREE_SPLIT_H

#include "analyzer/models/regression/tree_grow.h"

struct split_choice {
	double gain; /* 0: none */
	size_t variable;
	double cut;
	uint8_t *left; /* levels that go left, for a factor; caller's, as many as the most levels */
	uint8_t *scratch_left;
	/* Per level of the variable looked at. */
	double *sum, *squares, *weight;
	size_t *count, *sorted;
};

int split_init(struct split_choice *c, const struct schema *s);
void split_release(struct split_choice *c);
/* order: of every variable, as grow() keeps it; rows [begin, end) are the node's. */
void split_best(struct split_choice *c, const struct grow_config *config, const uint32_t *order,
		const uint32_t *rows, const struct grown_node *node);

#endif
