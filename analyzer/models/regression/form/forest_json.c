// SPDX-License-Identifier: Apache-2.0
/*
 * Reads and writes a forest as JSON; formats/model.md describes the format. Trees are nested, so
 * that the file needs no indices that could be invalid.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/form/forest.h"

#define AT(type, member) .offset = offsetof(struct type, member), .required = true

/* What the hooks of the tables need. Nodes are added to `forest` one after another. */
struct forest_reading {
	struct forest *forest;
	const struct schema *schema;
	int depth; /* of the node that is read */
};

/* A node as it stands in a file. */
struct node_saved {
	uint32_t nr_rows, variable;
	double value, cut;
	size_t nr; /* levels that go left */
	uint32_t *levels;
	json_t *left_json, *right_json; /* written */
	int32_t left, right;		/* read: their indices */
};

static int child_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			   void *to);

static int child_to_json(const struct field *f, const void *from, json_t **out)
{
	const struct node_saved *s = from;

	*out = json_incref(strcmp(f->name, "left") == 0 ? s->left_json : s->right_json);
	return 0;
}

#define ROWS                                                                    \
	FIELD(COUNT, "rows", AT(node_saved, nr_rows), .room = sizeof(uint32_t), \
	      .high = DATASET_ROWS_MAX)
#define VALUE	 FIELD(NUMBER, "value", AT(node_saved, value), .low = -INFINITY)
#define VARIABLE FIELD(COUNT, "variable", AT(node_saved, variable), .room = sizeof(uint32_t))
#define CHILD(key)                                                                       \
	FIELD(ANY, key, .required = true, .late = true, .expected = "a leaf or a split", \
	      .from_json = child_from_json, .to_json = child_to_json)

static const struct field level_item = FIELD(COUNT, NULL, .room = sizeof(uint32_t));
static const struct field leaf_fields[] = { ROWS, VALUE, { 0 } };
static const struct field cut_fields[] = {
	ROWS,	       VALUE,
	VARIABLE,      FIELD(NUMBER, "cut", AT(node_saved, cut), .low = -INFINITY),
	CHILD("left"), CHILD("right"),
	{ 0 },
};
static const struct field levels_fields[] = {
	ROWS,
	VALUE,
	VARIABLE,
	FIELD(LIST, "levels", AT(node_saved, levels), .item = &level_item,
	      .stride = sizeof(uint32_t), .owned = true, .count = offsetof(struct node_saved, nr),
	      .high = DATASET_LEVELS_MAX),
	CHILD("left"),
	CHILD("right"),
	{ 0 },
};
static const struct fields leaf_table = { .name = "leaf", .fields = leaf_fields };
static const struct fields cut_table = { .name = "split", .fields = cut_fields };
static const struct fields levels_table = { .name = "choice", .fields = levels_fields };

/* ---- writing ---- */

static int node_to_json(const struct forest *f, const struct schema *s, int32_t at, json_t **out);

/* Makes the lists and children of a split, which the caller releases in any case. */
static int split_make(const struct forest *f, const struct schema *s, const struct tree_node *node,
		      struct node_saved *saved)
{
	const struct variable *v = &s->variables[node->variable];
	int ret;

	if (v->factor) {
		saved->levels = calloc(v->nr_levels, sizeof(*saved->levels));
		if (!saved->levels)
			return -ENOMEM;
		for (uint32_t i = 0; i < v->nr_levels; i++)
			if (f->levels[node->levels_at + i])
				saved->levels[saved->nr++] = i;
	}
	ret = node_to_json(f, s, node->left, &saved->left_json);
	return ret ? ret : node_to_json(f, s, node->right, &saved->right_json);
}

static int node_to_json(const struct forest *f, const struct schema *s, int32_t at, json_t **out)
{
	const struct tree_node *node = &f->nodes[at];
	struct node_saved saved = { .nr_rows = node->nr_rows,
				    .value = node->value,
				    .variable = node->variable,
				    .cut = node->cut };
	const struct fields *table =
		s->variables[node->variable].factor ? &levels_table : &cut_table;
	int ret;

	*out = NULL;
	if (node->left < 0)
		return fields_json_write(&leaf_table, &saved, out);
	ret = split_make(f, s, node, &saved);
	if (!ret)
		ret = fields_json_write(table, &saved, out);
	json_decref(saved.left_json);
	json_decref(saved.right_json);
	free(saved.levels);
	return ret;
}

/* The trees as they are written. */
struct forest_saved {
	json_t *trees;
};

static int trees_to_json(const struct field *f, const void *from, json_t **out)
{
	(void)f;
	*out = json_incref(((const struct forest_saved *)from)->trees);
	return 0;
}

static int tree_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			  void *to);

static const struct field tree_item = FIELD(ANY, NULL, .from_json = tree_from_json);
static const struct field forest_fields[] = {
	FIELD(LIST, "trees", AT(forest_saved, trees), .item = &tree_item, .low = 1,
	      .high = FOREST_TREES_MAX, .to_json = trees_to_json),
	{ 0 },
};
static const struct fields forest_table = { .name = "forest", .fields = forest_fields };

int forest_json(const struct forest *f, const struct schema *s, json_t **out)
{
	struct forest_saved saved = { .trees = json_array() };
	int ret = saved.trees ? 0 : -ENOMEM;

	*out = NULL;
	for (size_t t = 0; t < f->nr_trees && !ret; t++) {
		json_t *tree;

		ret = node_to_json(f, s, f->roots[t], &tree);
		if (!ret && json_array_append_new(saved.trees, tree))
			ret = -ENOMEM;
	}
	if (!ret)
		ret = fields_json_write(&forest_table, &saved, out);
	json_decref(saved.trees);
	return ret;
}

/* ---- reading ---- */

/* Takes the levels that go left into the forest. */
static int levels_take(struct fields_json *r, const struct node_saved *saved,
		       const struct variable *v, struct tree_node *node)
{
	const struct forest_reading *reading = r->context;
	uint8_t left[DATASET_LEVELS_MAX] = { 0 };
	int64_t at;

	for (size_t i = 0; i < saved->nr; i++) {
		if (saved->levels[i] >= v->nr_levels)
			return fields_json_error(r, "levels[%zu]: expected a number below %zu", i,
						 v->nr_levels);
		left[saved->levels[i]] = 1;
	}
	at = forest_add_levels(reading->forest, left, v->nr_levels);
	node->levels_at = (uint32_t)at;
	return at < 0 ? (int)at : 0;
}

/* Fills a node, which was added before its children, from what was read. */
static int node_take(struct fields_json *r, const struct node_saved *saved, bool is_split,
		     int64_t at)
{
	const struct forest_reading *reading = r->context;
	struct tree_node node = { .value = saved->value,
				  .nr_rows = saved->nr_rows,
				  .left = is_split ? saved->left : -1,
				  .right = is_split ? saved->right : -1,
				  .variable = saved->variable,
				  .cut = saved->cut };
	const struct variable *v = &reading->schema->variables[saved->variable];
	int ret = 0;

	if (is_split && v->factor)
		ret = levels_take(r, saved, v, &node);
	reading->forest->nodes[at] = node;
	return ret;
}

/* Chooses the table of a node, by its variable where it is a split. */
static int node_table(struct fields_json *r, const json_t *value, const struct fields **table)
{
	const struct forest_reading *reading = r->context;
	const json_t *variable = json_object_get(value, "variable");
	json_int_t number = json_integer_value(variable);

	*table = &leaf_table;
	if (!json_object_get(value, "left"))
		return 0;
	if (!json_is_integer(variable) || number < 0 || (uint64_t)number >= reading->schema->nr)
		return fields_json_error(r, "variable: expected a number below %zu",
					 reading->schema->nr);
	*table = reading->schema->variables[number].factor ? &levels_table : &cut_table;
	return 0;
}

/* Reads a node and all below it. Returns its index, or -errno. */
static int64_t node_from_json(struct fields_json *r, const json_t *value)
{
	const struct tree_node blank = { .left = -1, .right = -1 };
	struct forest_reading *reading = r->context;
	struct node_saved saved = { 0 };
	const struct fields *table;
	int ret = node_table(r, value, &table);
	int64_t at;

	if (ret)
		return ret;
	if (reading->depth > FOREST_DEPTH_MAX)
		return fields_json_error(r, "expected at most %d splits above each other",
					 FOREST_DEPTH_MAX);
	at = forest_add_node(reading->forest, &blank);
	if (at < 0)
		return at;
	reading->depth++;
	ret = fields_json_read(r, table, value, &saved);
	reading->depth--;
	if (!ret)
		ret = node_take(r, &saved, table != &leaf_table, at);
	free(saved.levels);
	return ret ? ret : at;
}

static int child_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			   void *to)
{
	int64_t child = node_from_json(r, value);
	struct node_saved *parent = to;

	if (child < 0)
		return (int)child;
	*(strcmp(f->name, "left") == 0 ? &parent->left : &parent->right) = (int32_t)child;
	return 0;
}

static int tree_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			  void *to)
{
	struct forest_reading *reading = r->context;
	int64_t root = node_from_json(r, value);

	(void)f;
	(void)to;
	return root < 0 ? (int)root : forest_add_root(reading->forest, (int32_t)root);
}

int forest_from_json(struct forest *f, struct fields_json *r, const json_t *value)
{
	void *schema = r->context;
	struct forest_reading reading = { .forest = f, .schema = schema };
	struct forest_saved saved = { 0 };
	int ret;

	forest_init(f);
	r->context = &reading;
	ret = fields_json_read(r, &forest_table, value, &saved);
	r->context = schema;
	return ret;
}
