// SPDX-License-Identifier: Apache-2.0
/* Storages and the models inside: named in the file, or chosen out of a repository by features. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_reader.h"
#include "analyzer/models/arch/storage.h"
#include "analyzer/models/arch/storage_models.h"
#include "analyzer/models/arch/storage_qpn.h"

#define REPOSITORY_FILE "repository.yaml"
#define MAX_COLUMNS	64

static const char *const feature_names[] = { "system",	  "scheduler", "file_system",
					     "formalism", "technique", NULL };

/* A path in the YAML file FROM is relative to it. NULL without memory. */
static char *arch_read_storages_beside(const char *from, const char *path)
{
	const char *slash = strrchr(from, '/');
	char *full;

	if (*path == '/' || !slash)
		return strdup(path);
	if (asprintf(&full, "%.*s/%s", (int)(slash - from), from, path) < 0)
		return NULL;
	return full;
}

/* What the columns of the models are. */
static int read_columns(struct arch_reader *r, const struct yaml_node *node,
			struct storage_column columns[MAX_COLUMNS], size_t *nr)
{
	if (node && node->kind != YAML_MAP)
		return reader_error(r, node, "inputs: expected columns and what they are");
	for (*nr = 0; node && *nr < node->nr; ++*nr) {
		const struct yaml_node *n = node->items[*nr];

		if (*nr == MAX_COLUMNS)
			return reader_error(r, n, "inputs: more than %d columns", MAX_COLUMNS);
		columns[*nr].name = n->key;
		columns[*nr].expression = reader_text(r, n, "an expression over the inputs");
		if (!columns[*nr].expression)
			return -EINVAL;
	}
	return 0;
}

/* The text of an optional key; a path beside the file where it is one. */
static int arch_read_storages_optional(struct arch_reader *r, const struct yaml_node *map,
				       const char *key, bool path, char **out)
{
	const struct yaml_node *node = yaml_node_get(map, key);
	const char *text = node ? reader_text(r, node, "a text") : NULL;

	*out = NULL;
	if (!node)
		return 0;
	if (!text)
		return -EINVAL;
	*out = path ? arch_read_storages_beside(yaml_tree_name(r->tree), text) : strdup(text);
	return *out ? 0 : reader_no_memory(r);
}

/* The models of a mapping with read, write, inputs, unit; or formula: read and write. */
static int open_models(struct arch_reader *r, const struct yaml_node *node,
		       struct arch_storage_model **out)
{
	static const char *const formula_keys[] = { "read", "write", NULL };
	struct storage_column columns[MAX_COLUMNS];
	const struct yaml_node *formula = yaml_node_get(node, "formula");
	const struct yaml_node *unit = yaml_node_get(node, "unit"),
			       *from = formula ? formula : node;
	struct storage_model_spec spec = {
		.formula = formula, .columns = columns, .unit_s = 1, .names = &r->m->names
	};
	char *read = NULL, *write = NULL;
	struct err why = { 0 };
	int ret = formula ? yaml_tree_keys(r->tree, formula, formula_keys, r->err) : 0;

	if (!ret)
		ret = arch_read_storages_optional(r, from, "read", !formula, &read);
	if (!ret)
		ret = arch_read_storages_optional(r, from, "write", !formula, &write);
	if (!ret && !read && !write)
		ret = reader_error(r, from,
				   "storage %s has no I/O model: expected \"read\" and "
				   "\"write\", \"formula\", \"qpn\" or \"repository\"",
				   node->key ? node->key : "");
	if (!ret)
		ret = read_columns(r, yaml_node_get(node, "inputs"), columns, &spec.nr_columns);
	if (!ret && unit)
		ret = reader_number(r, unit, 0, 1e6, &spec.unit_s);
	spec.read = read;
	spec.write = write;
	if (ret)
		goto out;
	if (storage_model_open(out, &spec, &why))
		ret = reader_error(r, from, "%s", why.line);
out:
	free(read);
	free(write);
	return ret;
}

/* The file of a mapping with qpn, and nothing that is of regressions. */
static int open_net(struct arch_reader *r, const struct yaml_node *node,
		    struct arch_storage_model **out)
{
	static const char *const others[] = { "read", "write", "formula", "inputs", "unit", NULL };
	char *path = NULL;
	struct err why = { 0 };
	int ret;

	for (size_t i = 0; others[i]; i++)
		if (yaml_node_get(node, others[i]))
			return reader_error(r, yaml_node_get(node, others[i]),
					    "\"%s\" and \"qpn\": expected one of them", others[i]);
	ret = arch_read_storages_optional(r, node, "qpn", true, &path);
	if (ret)
		goto out;
	if (storage_qpn_open(out, path, &why))
		ret = reader_error(r, yaml_node_get(node, "qpn"), "%s", why.line);
out:
	free(path);
	return ret;
}

static int open_entry(struct arch_reader *r, const struct yaml_node *node,
		      struct arch_storage_model **out)
{
	return yaml_node_get(node, "qpn") ? open_net(r, node, out) : open_models(r, node, out);
}

/* All features asked for are those of the entry. */
static bool has_features(const struct yaml_node *entry, const struct yaml_node *asked)
{
	const struct yaml_node *its = yaml_node_get(entry, "features");

	for (size_t i = 0; asked && i < asked->nr; i++) {
		const struct yaml_node *n = yaml_node_get(its, asked->items[i]->key);

		if (!n || strcmp(n->text, asked->items[i]->text))
			return false;
	}
	return true;
}

static int check_features(struct arch_reader *r, const struct yaml_node *node)
{
	if (!node)
		return 0;
	if (yaml_tree_keys(r->tree, node, feature_names, r->err))
		return -EINVAL;
	for (size_t i = 0; i < node->nr; i++)
		if (!reader_text(r, node->items[i], "a text"))
			return -EINVAL;
	return 0;
}

/* The one entry with these features. */
static int arch_read_storages_choose(struct arch_reader *r, const struct yaml_node *node,
				     struct arch_reader *repository, const struct yaml_node **entry)
{
	static const char *const keys[] = { "models", NULL };
	static const char *const entry_keys[] = { "features", "read", "write", "inputs",
						  "unit",     "qpn",  NULL };
	const struct yaml_node *root = yaml_tree_root(repository->tree);
	const struct yaml_node *list = yaml_node_get(root, "models");
	const struct yaml_node *asked = yaml_node_get(node, "features");
	size_t nr = 0;

	if (yaml_tree_keys(repository->tree, root, keys, r->err))
		return -EINVAL;
	if (!list || list->kind != YAML_LIST)
		return reader_error(repository, root, "models: expected a list");
	for (size_t i = 0; i < list->nr; i++) {
		if (yaml_tree_keys(repository->tree, list->items[i], entry_keys, r->err) ||
		    check_features(repository, yaml_node_get(list->items[i], "features")))
			return -EINVAL;
		if (!has_features(list->items[i], asked))
			continue;
		*entry = list->items[i];
		nr++;
	}
	return nr == 1 ? 0
		       : reader_error(r, asked ? asked : node,
				      "%zu of the models in %s have these features: expected one",
				      nr, yaml_tree_name(repository->tree));
}

static int open_from_repository(struct arch_reader *r, const struct yaml_node *node,
				struct arch_storage_model **out)
{
	struct arch_reader other = { .m = r->m, .err = r->err };
	const struct yaml_node *entry = NULL;
	struct err why = { 0 };
	char *dir = NULL, *path = NULL;
	int ret = arch_read_storages_optional(r, node, "repository", true, &dir);

	if (ret)
		goto out;
	ret = check_features(r, yaml_node_get(node, "features"));
	if (ret)
		goto out;
	if (asprintf(&path, "%s/" REPOSITORY_FILE, dir) < 0)
		ret = reader_no_memory(r);
	if (ret)
		goto out;
	if (yaml_tree_read(&other.tree, path, &why))
		ret = reader_error(r, yaml_node_get(node, "repository"), "%s", why.line);
	if (ret)
		goto out;
	ret = arch_read_storages_choose(r, node, &other, &entry);
	if (!ret)
		ret = open_entry(&other, entry, out);
	yaml_tree_free(other.tree);
out:
	free(dir);
	free(path);
	return ret;
}

static int read_storage(struct arch_reader *r, const struct yaml_node *node)
{
	static const char *const keys[] = { "read",	   "write",	  "formula",	"inputs",
					    "unit",	   "qpn",	  "repository", "features",
					    "list_length", "concurrency", NULL };
	struct arch_storage *s = ARCH_ADD(r->m->storages, r->m->nr_storages);
	const struct yaml_node *n;
	int ret;

	if (!s)
		return reader_no_memory(r);
	s->at = reader_place(node);
	s->concurrency = 1;
	s->name = reader_copy(r, node->key);
	if (!s->name)
		return -ENOMEM;
	ret = yaml_tree_keys(r->tree, node, keys, r->err);
	if (!ret && (n = yaml_node_get(node, "list_length")))
		ret = reader_number(r, n, 0, STORAGE_MAX_LIST, &s->list_length);
	if (!ret && (n = yaml_node_get(node, "concurrency")))
		ret = reader_number(r, n, 1e-6, 1e6, &s->concurrency);
	if (ret)
		return ret;
	if (!yaml_node_get(node, "repository"))
		return open_entry(r, node, &s->model);
	for (size_t i = 0; i < 6; i++)
		if (yaml_node_get(node, keys[i]))
			return reader_error(r, yaml_node_get(node, keys[i]),
					    "\"%s\" and \"repository\": expected one of them",
					    keys[i]);
	return open_from_repository(r, node, &s->model);
}

int reader_storages(struct arch_reader *r, const struct yaml_node *node)
{
	int ret = reader_names(r, node);

	if (ret)
		return ret;
	for (size_t i = 0; node && i < node->nr; i++) {
		ret = read_storage(r, node->items[i]);
		if (ret)
			return ret;
	}
	return 0;
}
