/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forest: represents one tree, or the average of several trees, with a constant in every leaf. A
 * model of CART is a forest of one tree.
 */
#ifndef ANALYZER_REGRESSION_FOREST_H
#define ANALYZER_REGRESSION_FOREST_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/regression/table/dataset.h"
#include "base/data/fields_json.h"
#include "base/memory/buf.h"

#define FOREST_TREES_MAX 1000
#define FOREST_DEPTH_MAX 200

struct tree_node {
	double cut;	     /* for a number: x < cut goes left */
	double value;	     /* mean response of the node */
	int32_t left, right; /* -1 means that the node is a leaf */
	uint32_t variable;
	/* for a factor: levels[levels_at + level] is 1 if the level goes left */
	uint32_t levels_at;
	uint32_t nr_rows; /* number of training rows */
};

/* A zeroed forest is empty. */
struct forest {
	size_t nr_trees;
	int32_t *roots;
	size_t nr_nodes, cap_nodes;
	struct tree_node *nodes;
	size_t nr_levels, cap_levels;
	uint8_t *levels;
};

void forest_init(struct forest *f);
void forest_release(struct forest *f);
/*
 * These functions return the index of the item that was appended, or -ENOMEM. A node is a leaf
 * until it is given children.
 */
int64_t forest_add_node(struct forest *f, const struct tree_node *node);
int64_t forest_add_levels(struct forest *f, const uint8_t *levels, size_t nr);
int forest_add_root(struct forest *f, int32_t root);

/* Returns true if the row goes left at the node. */
static inline bool tree_left(const struct forest *f, const struct tree_node *node,
			     const struct variable *v, double x)
{
	return v->factor ? f->levels[node->levels_at + (size_t)x] : x < node->cut;
}

/* rows has nr x s->nr values, row-major. The function allocates no memory. */
void forest_predict(const struct forest *f, const struct schema *s, const double *rows, size_t nr,
		    double *out);
void forest_print(const struct forest *f, const struct schema *s, struct buf *out);
/* Returns 0, or what fields_json_write() does. */
int forest_json(const struct forest *f, const struct schema *s, json_t **out);
/*
 * Reads and checks all values; the context of the reader is the schema. Returns 0, -ENOMEM, or
 * -EINVAL with a message. The caller releases the forest in any case.
 */
int forest_from_json(struct forest *f, struct fields_json *r, const json_t *value);
/* Writes C statements that compute `sum` from `const double *x`. */
void forest_export(const struct forest *f, const struct schema *s, struct buf *out);
size_t forest_nr_leaves(const struct forest *f);

#endif
