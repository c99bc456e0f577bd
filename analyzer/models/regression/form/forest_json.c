// SPDX-License-Identifier: Apache-2.0
/*
 * Reads and writes a forest as JSON. Trees are nested, so that the file needs no indices that
 * could be invalid.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/form/forest.h"

static json_t *node_json(const struct forest *f, const struct schema *s, int32_t at)
{
	const struct tree_node *node = &f->nodes[at];
	const struct variable *v = &s->variables[node->variable];
	json_t *root =
		json_pack("{s:I, s:f}", "rows", (json_int_t)node->nr_rows, "value", node->value);

	if (node->left < 0)
		return root;
	json_object_set_new(root, "variable", json_integer(node->variable));
	if (v->factor) {
		json_t *left = json_array();

		for (size_t i = 0; i < v->nr_levels; i++)
			if (f->levels[node->levels_at + i])
				json_array_append_new(left, json_integer((json_int_t)i));
		json_object_set_new(root, "levels", left);
	} else {
		json_object_set_new(root, "cut", json_real(node->cut));
	}
	json_object_set_new(root, "left", node_json(f, s, node->left));
	json_object_set_new(root, "right", node_json(f, s, node->right));
	return root;
}

json_t *forest_json(const struct forest *f, const struct schema *s)
{
	json_t *trees = json_array();

	for (size_t t = 0; t < f->nr_trees; t++)
		json_array_append_new(trees, node_json(f, s, f->roots[t]));
	return json_pack("{s:o}", "trees", trees);
}

static int read_split(struct forest *f, struct tree_node *node, const json_t *root,
		      const struct schema *s)
{
	json_int_t variable = json_integer_value(json_object_get(root, "variable"));
	const json_t *levels = json_object_get(root, "levels"), *cut = json_object_get(root, "cut");
	const struct variable *v;
	uint8_t *left;
	int64_t at;

	if (!json_is_integer(json_object_get(root, "variable")) || variable < 0 ||
	    (uint64_t)variable >= s->nr)
		return -EINVAL;
	v = &s->variables[variable];
	node->variable = (uint32_t)variable;
	if (!v->factor) {
		node->cut = json_number_value(cut);
		return json_is_number(cut) ? 0 : -EINVAL;
	}
	left = calloc(v->nr_levels, 1);
	if (!left)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(levels); i++) {
		json_int_t level = json_integer_value(json_array_get(levels, i));

		if (level < 0 || (uint64_t)level >= v->nr_levels) {
			free(left);
			return -EINVAL;
		}
		left[level] = 1;
	}
	at = forest_add_levels(f, left, v->nr_levels);
	free(left);
	node->levels_at = (uint32_t)at;
	return at < 0 ? (int)at : 0;
}

static int64_t read_node(struct forest *f, const json_t *root, const struct schema *s, int depth)
{
	const json_t *value = json_object_get(root, "value"), *rows = json_object_get(root, "rows");
	const json_t *left = json_object_get(root, "left"), *right = json_object_get(root, "right");
	struct tree_node node = { .left = -1, .right = -1 };
	int64_t at, child;
	int ret;

	if (depth > FOREST_DEPTH_MAX || !json_is_number(value) || !json_is_integer(rows) ||
	    json_integer_value(rows) < 0 || json_integer_value(rows) > DATASET_ROWS_MAX)
		return -EINVAL;
	node.value = json_number_value(value);
	node.nr_rows = (uint32_t)json_integer_value(rows);
	ret = left ? read_split(f, &node, root, s) : 0;
	if (ret)
		return ret;
	at = forest_add_node(f, &node);
	if (at < 0 || !left)
		return at;
	child = read_node(f, left, s, depth + 1);
	if (child < 0)
		return child;
	f->nodes[at].left = (int32_t)child;
	child = read_node(f, right, s, depth + 1);
	if (child < 0)
		return child;
	f->nodes[at].right = (int32_t)child;
	return at;
}

int forest_from_json(struct forest *f, const json_t *root, const struct schema *s, struct err *err)
{
	const json_t *trees = json_object_get(root, "trees");
	size_t nr = json_array_size(trees);
	int ret = 0;

	forest_init(f);
	if (!nr || nr > FOREST_TREES_MAX)
		return err_set(err, EINVAL, "trees: expected 1 to %d trees, got %zu",
			       FOREST_TREES_MAX, nr);
	for (size_t t = 0; t < nr; t++) {
		int64_t node = read_node(f, json_array_get(trees, t), s, 0);

		ret = node < 0 ? (int)node : forest_add_root(f, (int32_t)node);
		if (ret == -EINVAL)
			err_set(err, EINVAL, "trees[%zu]: not a tree of these variables", t);
		if (ret)
			goto out;
	}
out:
	if (ret)
		forest_release(f);
	return ret;
}
