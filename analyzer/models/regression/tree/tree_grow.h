/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_grow: grows binary trees for CART and for M5. The rows are sorted once by each number;
 * every split then partitions these orders stably, so that each node has its rows contiguous and
 * sorted. The technique supplies four functions: they store a node, tell whether it stays a leaf,
 * choose its split, and link it to its children. The cost is O(variables x rows x depth) and what
 * the choice of splits costs. The orders of a node whose children both stay leaves are not
 * partitioned.
 */
#ifndef ANALYZER_REGRESSION_TREE_GROW_H
#define ANALYZER_REGRESSION_TREE_GROW_H

#include "analyzer/models/regression/table/dataset.h"

/* This struct is the split of one node. left has room for the largest number of levels. */
struct tree_split {
	double gain; /* 0 means that no split was found */
	size_t variable;
	double cut;
	size_t nr_left; /* for a number: this many rows, those of the lowest values, go left */
	uint8_t *left;	/* for a factor: by level; 1 goes left */
};

struct tree_growth;

/*
 * This struct holds the functions of a technique. Nodes are numbered in the order in which they are
 * added.
 */
struct tree_grower {
	/* Appends a node over the rows [begin, end). Returns its index, or -ENOMEM. */
	int64_t (*add)(struct tree_growth *g, int64_t parent, size_t begin, size_t end);
	/* Returns true if the node stays a leaf. May look only at the rows, not at the orders. */
	bool (*is_leaf)(struct tree_growth *g, int64_t at, unsigned int depth);
	/*
	 * Fills in g->split and stores it in the node. Returns 1, or 0 if the node stays a leaf,
	 * or -ENOMEM.
	 */
	int (*choose)(struct tree_growth *g, int64_t at);
	void (*link)(struct tree_growth *g, int64_t at, int64_t left, int64_t right);
};

struct tree_growth {
	const struct tree_grower *grower;
	void *tree; /* the technique's own */
	const struct schema *schema;
	const struct dataset *data;
	uint32_t *rows;	 /* of all rows; a node has rows[begin .. end), by ascending number */
	uint32_t *order; /* per variable, nr_rows apart: the same rows by ascending value */
	struct tree_split split;
	uint32_t *moved; /* scratch memory for a partition */
	uint8_t *side;	 /* by row: 1 goes left */
};

/*
 * Returns the rows of each numeric variable by ascending value, nr_vars x nr_rows, which the
 * caller frees, or NULL if there is no memory.
 */
uint32_t *tree_order(const struct schema *s, const struct dataset *d);
/* Returns the largest number of levels of a factor, at least 1. */
size_t tree_most_levels(const struct schema *s);
/*
 * Grows the whole tree; its root is node 0. order is made by tree_order(). *rows becomes the rows
 * in the order of the nodes, which the caller frees; rows may be NULL. Returns 0 or -ENOMEM.
 */
int tree_grow(const struct tree_grower *grower, void *tree, const struct schema *s,
	      const struct dataset *d, const uint32_t *order, uint32_t **rows);

#endif
