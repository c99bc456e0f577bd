/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_tree: reads a YAML document as a tree that knows the line of every node.
 *
 * A file holds one document. Anchors, aliases and tags are refused, with their name in the error,
 * because they are not plain data. Keys are plain scalars and unique in their mapping. A tree has
 * at most YAML_MAX_NODES nodes and a depth of YAML_MAX_DEPTH. It is immutable once read, so any
 * number of threads may read it.
 */
#ifndef BASE_DATA_YAML_TREE_H
#define BASE_DATA_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/err.h"

#define YAML_MAX_NODES 1000000
#define YAML_MAX_DEPTH 64

enum yaml_kind {
	YAML_SCALAR,
	YAML_LIST,
	YAML_MAP,
};

struct yaml_node {
	enum yaml_kind kind;
	unsigned line;		  /* from 1 */
	char *key;		  /* in a mapping: this entry's key; else NULL */
	char *text;		  /* text of a scalar; else NULL */
	bool quoted;		  /* of a scalar: it is a string, whatever it looks like */
	struct yaml_node **items; /* items of a list or a mapping, in the file's order */
	size_t nr;
};

struct yaml_tree;

/*
 * Reads a file. Returns 0, or -errno with "PATH:LINE: what" in err. An empty file is an empty
 * mapping.
 */
int yaml_tree_read(struct yaml_tree **out, const char *path, struct err *err);
/* Does the same for data in memory. name stands for the path in errors. */
int yaml_tree_parse(struct yaml_tree **out, const char *name, const void *data, size_t len,
		    struct err *err);
void yaml_tree_free(struct yaml_tree *t);

const struct yaml_node *yaml_tree_root(const struct yaml_tree *t);
const char *yaml_tree_name(const struct yaml_tree *t);

/*
 * Returns the value of a key of a mapping. Returns NULL where the key is absent, or where map is
 * NULL or not a mapping.
 */
const struct yaml_node *yaml_node_get(const struct yaml_node *map, const char *key);

/* Puts "NAME:LINE: what" into err and returns -EINVAL. */
int yaml_tree_error(const struct yaml_tree *t, const struct yaml_node *at, struct err *err,
		    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
