// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <yaml.h>

#include "base/data/yaml_tree.h"
#include "base/memory/u64map.h"

struct yaml_tree {
	char *name;
	struct yaml_node *root;
	size_t nr_nodes;
};

/* The state of the loop that reads the parser's events. */
struct reading {
	yaml_parser_t parser;
	struct yaml_tree *tree;
	struct err *err;
	/*
	 * Maps the hash of a key and its mapping to the index of the item in that mapping. A
	 * hostile mapping may hold YAML_MAX_NODES keys, and a linear search would compare each of
	 * them with all others.
	 */
	struct u64map keys;
};

static void free_node(struct yaml_node *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->nr; i++)
		free_node(n->items[i]);
	free(n->items);
	free(n->key);
	free(n->text);
	free(n);
}

void yaml_tree_free(struct yaml_tree *t)
{
	if (!t)
		return;
	free_node(t->root);
	free(t->name);
	free(t);
}

const struct yaml_node *yaml_tree_root(const struct yaml_tree *t)
{
	return t->root;
}

const char *yaml_tree_name(const struct yaml_tree *t)
{
	return t->name;
}

const struct yaml_node *yaml_node_get(const struct yaml_node *map, const char *key)
{
	for (size_t i = 0; map && map->kind == YAML_MAP && i < map->nr; i++)
		if (!strcmp(map->items[i]->key, key))
			return map->items[i];
	return NULL;
}

int yaml_tree_error(const struct yaml_tree *t, const struct yaml_node *at, struct err *err,
		    const char *fmt, ...)
{
	char what[ERR_LINE_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_set(err, EINVAL, "%s:%u: %.400s", t->name, at ? at->line : 1, what);
}

static int yaml_tree_fail(struct reading *r, const yaml_mark_t *at, const char *what)
{
	return err_set(r->err, EINVAL, "%s:%zu: %s", r->tree->name, at->line + 1, what);
}

static int next_event(struct reading *r, yaml_event_t *e)
{
	const yaml_parser_t *p = &r->parser;

	if (yaml_parser_parse(&r->parser, e))
		return 0;
	if (p->error == YAML_MEMORY_ERROR)
		return err_set(r->err, ENOMEM, "%s: out of memory", r->tree->name);
	return err_set(r->err, EINVAL, "%s:%zu: not YAML: %s%s%s", r->tree->name,
		       p->problem_mark.line + 1, p->problem ? p->problem : "cannot be read",
		       p->context ? ", " : "", p->context ? p->context : "");
}

static struct yaml_node *new_node(struct reading *r, const yaml_event_t *e)
{
	struct yaml_node *n = r->tree->nr_nodes < YAML_MAX_NODES ? calloc(1, sizeof(*n)) : NULL;

	if (!n) {
		err_set(r->err, ENOMEM, "%s:%zu: more nodes than fit (%d at most)", r->tree->name,
			e->start_mark.line + 1, YAML_MAX_NODES);
		return NULL;
	}
	r->tree->nr_nodes++;
	n->line = (unsigned)e->start_mark.line + 1;
	return n;
}

static int add_item(struct yaml_node *to, struct yaml_node *item)
{
	struct yaml_node **items = to->items;

	if (!(to->nr & (to->nr - 1))) {
		items = reallocarray(items, to->nr ? 2 * to->nr : 1, sizeof(*items));
		if (!items)
			return -ENOMEM;
		to->items = items;
	}
	items[to->nr++] = item;
	return 0;
}

/* Returns the bytes of a scalar. A NUL is refused, because it would hide the bytes behind it. */
static char *scalar_text(struct reading *r, const yaml_event_t *e)
{
	const char *value = (const char *)e->data.scalar.value;
	char *text;

	if (strlen(value) != e->data.scalar.length) {
		yaml_tree_fail(r, &e->start_mark, "a scalar holds a zero byte");
		return NULL;
	}
	text = strdup(value);
	if (!text)
		err_set(r->err, ENOMEM, "out of memory");
	return text;
}

static int read_node(struct reading *r, yaml_event_t *e, unsigned depth, struct yaml_node **out);

/*
 * Finds the item that has the key already. Where there is none, *found is NULL and the next item of
 * the mapping is entered under the key.
 */
static int read_find_key(struct reading *r, const struct yaml_node *map, const char *key,
			 const struct yaml_node **found)
{
	uint64_t hash = XXH3_64bits_withSeed(key, strlen(key), (uint64_t)(uintptr_t)map);
	uint32_t index = u64map_find(&r->keys, hash);

	*found = NULL;
	if (index == U64MAP_NONE)
		return u64map_put(&r->keys, hash, (uint32_t)map->nr);
	/*
	 * The entry is of another mapping or of another key with the same hash, so this key is
	 * searched for linearly.
	 */
	if (index < map->nr && !strcmp(map->items[index]->key, key))
		*found = map->items[index];
	else
		*found = yaml_node_get(map, key);
	return 0;
}

static int read_key(struct reading *r, const yaml_event_t *e, const struct yaml_node *map,
		    char **key)
{
	const struct yaml_node *first;

	if (e->type != YAML_SCALAR_EVENT)
		return yaml_tree_fail(r, &e->start_mark, "expected a plain key");
	*key = scalar_text(r, e);
	if (!*key)
		return -EINVAL;
	if (read_find_key(r, map, *key, &first)) {
		free(*key);
		*key = NULL;
		return err_set(r->err, ENOMEM, "%s: out of memory", r->tree->name);
	}
	if (!first)
		return 0;
	err_set(r->err, EINVAL, "%s:%zu: key \"%s\" stands there twice, first in line %u",
		r->tree->name, e->start_mark.line + 1, *key, first->line);
	free(*key);
	*key = NULL;
	return -EINVAL;
}

/* Reads items up to the event that ends the list or mapping. */
static int read_items(struct reading *r, struct yaml_node *n, unsigned depth)
{
	int end = n->kind == YAML_MAP ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;

	for (;;) {
		struct yaml_node *item = NULL;
		char *key = NULL;
		yaml_event_t e;
		int ret = next_event(r, &e);

		if (ret)
			return ret;
		if ((int)e.type == end) {
			yaml_event_delete(&e);
			return 0;
		}
		if (n->kind == YAML_MAP) {
			unsigned line = (unsigned)e.start_mark.line + 1;

			ret = read_key(r, &e, n, &key);
			yaml_event_delete(&e);
			if (!ret)
				ret = next_event(r, &e);
			if (!ret)
				ret = read_node(r, &e, depth + 1, &item);
			if (!ret) {
				item->key = key;
				item->line = line;
				key = NULL;
			}
		} else {
			ret = read_node(r, &e, depth + 1, &item);
		}
		free(key);
		if (!ret)
			ret = add_item(n, item);
		if (ret) {
			free_node(item);
			return ret;
		}
	}
}

/* Takes over the event in every case. */
static int read_node(struct reading *r, yaml_event_t *e, unsigned depth, struct yaml_node **out)
{
	struct yaml_node *n = NULL;
	int ret = 0;

	if (e->type == YAML_ALIAS_EVENT)
		ret = yaml_tree_fail(r, &e->start_mark, "aliases (*name) are not taken");
	else if (depth > YAML_MAX_DEPTH)
		ret = yaml_tree_fail(r, &e->start_mark, "nested too deeply");
	else if (!(n = new_node(r, e)))
		ret = -ENOMEM;
	else if (e->type == YAML_SCALAR_EVENT) {
		n->kind = YAML_SCALAR;
		n->quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
		n->text = scalar_text(r, e);
		if (e->data.scalar.anchor || (e->data.scalar.tag && !n->quoted))
			ret = yaml_tree_fail(r, &e->start_mark, "anchors and tags are not taken");
		else if (!n->text)
			ret = -EINVAL;
	} else if (e->type == YAML_SEQUENCE_START_EVENT) {
		n->kind = YAML_LIST;
		ret = read_items(r, n, depth);
	} else {
		n->kind = YAML_MAP;
		ret = read_items(r, n, depth);
	}
	yaml_event_delete(e);
	if (ret)
		free_node(n);
	else
		*out = n;
	return ret;
}

static int read_document(struct reading *r)
{
	int ret;

	for (;;) {
		yaml_event_t e;
		int type;

		ret = next_event(r, &e);
		if (ret)
			return ret;
		type = e.type;
		if (type == YAML_SCALAR_EVENT || type == YAML_SEQUENCE_START_EVENT ||
		    type == YAML_MAPPING_START_EVENT || type == YAML_ALIAS_EVENT) {
			ret = read_node(r, &e, 0, &r->tree->root);
		} else {
			if (type == YAML_DOCUMENT_START_EVENT && r->tree->root)
				ret = yaml_tree_fail(r, &e.start_mark,
						     "a second document: one per file is taken");
			yaml_event_delete(&e);
		}
		if (ret || type == YAML_STREAM_END_EVENT)
			return ret;
	}
}

static int read_tree(struct yaml_tree **out, const char *name, FILE *file, const void *data,
		     size_t len, struct err *err)
{
	struct reading r = { .err = err, .tree = calloc(1, sizeof(*r.tree)) };
	int ret = -ENOMEM;

	if (!r.tree || !(r.tree->name = strdup(name)) || !yaml_parser_initialize(&r.parser)) {
		yaml_tree_free(r.tree);
		return err_set(err, ENOMEM, "%s: out of memory", name);
	}
	if (file)
		yaml_parser_set_input_file(&r.parser, file);
	else
		yaml_parser_set_input_string(&r.parser, data, len);
	ret = read_document(&r);
	yaml_parser_delete(&r.parser);
	u64map_release(&r.keys);
	if (ret)
		goto out;
	if (!r.tree->root) {
		r.tree->root = calloc(1, sizeof(*r.tree->root));
		if (!r.tree->root)
			ret = err_set(err, ENOMEM, "%s: out of memory", name);
		else
			*r.tree->root = (struct yaml_node){ .kind = YAML_MAP, .line = 1 };
	}
out:
	if (ret)
		yaml_tree_free(r.tree);
	else
		*out = r.tree;
	return ret;
}

int yaml_tree_parse(struct yaml_tree **out, const char *name, const void *data, size_t len,
		    struct err *err)
{
	return read_tree(out, name, NULL, data, len, err);
}

int yaml_tree_read(struct yaml_tree **out, const char *path, struct err *err)
{
	FILE *file = fopen(path, "re");
	int ret;

	if (!file) {
		ret = errno;
		return err_set(err, ret, "%s: %s", path, strerror(ret));
	}
	ret = read_tree(out, path, file, NULL, 0, err);
	fclose(file);
	return ret;
}
