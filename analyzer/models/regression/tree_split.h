/* SPDX-License-Identifier: Apache-2.0 */
/* tree_split: finds the best split of one node. */
#ifndef ANALYZER_REGRESSION_TREE_SPLIT_H
#define ANALYZER_REGRESSION_TREE_SPLIT_H

#include "analyzer/models/regression/tree_grow.h"

struct split_choice {
	double gain; /* 0 means that no split was found */
	size_t variable;
	double cut;
	/*
	 * levels that go left, for a factor; the caller's, with room for the largest number of
	 * levels
	 */
	uint8_t *left;
	uint8_t *scratch_left;
	/* Sums per level of the present variable. */
	double *sum, *squares, *weight;
	size_t *count, *sorted;
};

int split_init(struct split_choice *c, const struct schema *s);
void split_release(struct split_choice *c);
/* order holds all variables as grow() keeps them; the rows [begin, end) are those of the node. */
void split_best(struct split_choice *c, const struct grow_config *config, const uint32_t *order,
		const uint32_t *rows, const struct grown_node *node);

#endif
