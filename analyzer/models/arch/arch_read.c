// SPDX-License-Identifier: Apache-2.0
/*
 * The YAML form of a model. What others name is read before them: parameters, interfaces, file
 * sets, storages, components, containers, assembly, usage.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_reader.h"

int reader_error(const struct arch_reader *r, const struct yaml_node *at, const char *fmt, ...)
{
	char line[ERR_LINE_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	return yaml_tree_error(r->tree, at ? at : yaml_tree_root(r->tree), r->err, "%s", line);
}

int reader_no_memory(struct arch_reader *r)
{
	return err_set(r->err, ENOMEM, "%s: out of memory", yaml_tree_name(r->tree));
}

struct arch_place reader_place(const struct yaml_node *at)
{
	return (struct arch_place){ .file = 0, .line = at->line };
}

char *reader_copy(struct arch_reader *r, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		reader_no_memory(r);
	return copy;
}

const char *reader_text(struct arch_reader *r, const struct yaml_node *node, const char *what)
{
	if (node->kind == YAML_SCALAR && *node->text)
		return node->text;
	reader_error(r, node, "%s%sexpected %s", node->key ? node->key : "", node->key ? ": " : "",
		     what);
	return NULL;
}

const struct yaml_node *reader_need(struct arch_reader *r, const struct yaml_node *map,
				    const char *key)
{
	const struct yaml_node *node = yaml_node_get(map, key);

	if (!node)
		reader_error(r, map, "%s%sexpected \"%s\"", map->key ? map->key : "",
			     map->key ? ": " : "", key);
	return node;
}

int reader_names(struct arch_reader *r, const struct yaml_node *node)
{
	if (node && node->kind != YAML_MAP)
		return reader_error(r, node, "%s: expected names and what they are",
				    node->key ? node->key : "");
	for (size_t i = 0; node && i < node->nr; i++)
		if (!*node->items[i]->key || strpbrk(node->items[i]->key, ". "))
			return reader_error(r, node->items[i],
					    "\"%.60s\": expected a name without dot or blank",
					    node->items[i]->key);
	return 0;
}

static int note_use(struct arch_reader *r, const struct yaml_node *at, const struct stoex *e)
{
	struct reader_use *more;

	more = arch_grow(r->uses, &r->nr_uses, sizeof(*more));
	if (!more)
		return reader_no_memory(r);
	r->uses = more;
	more[r->nr_uses - 1] = (struct reader_use){ e, at };
	return 0;
}

int reader_expression(struct arch_reader *r, const struct yaml_node *node, double least,
		      struct stoex **out)
{
	struct err why = { 0 };
	double value;
	int error;

	if (node->kind != YAML_SCALAR)
		return reader_error(r, node, "%s: expected a number or an expression",
				    node->key ? node->key : "value");
	error = stoex_parse(out, node->text, STOEX_BLKCAST, &r->m->names, &why);
	if (error == -ENOMEM)
		return reader_no_memory(r);
	if (error)
		return reader_error(r, node, "%s%s%s", node->key ? node->key : "",
				    node->key ? ": " : "", why.line);
	if (stoex_is_constant(*out, &value) && !(value >= least))
		return reader_error(r, node, "%s: expected %g or more, got %g",
				    node->key ? node->key : "value", least, value);
	return note_use(r, node, *out);
}

int reader_number(struct arch_reader *r, const struct yaml_node *node, double least, double most,
		  double *value)
{
	const char *key = node->key ? node->key : "value";
	struct stoex *e = NULL;
	struct err why = { 0 };
	int ret = 0;

	if (!reader_text(r, node, "a number"))
		return -EINVAL;
	if (stoex_parse(&e, node->text, STOEX_BLKCAST, &r->m->names, &why))
		return reader_error(r, node, "%s: %s", key, why.line);
	if (!stoex_is_constant(e, value))
		ret = reader_error(r, node, "%s: \"%.60s\": expected a number that stays", key,
				   node->text);
	else if (!(*value >= least && *value <= most))
		ret = reader_error(r, node, "%s: expected %g to %g, got %g", key, least, most,
				   *value);
	stoex_free(e);
	return ret;
}

int reader_whole(struct arch_reader *r, const struct yaml_node *node, double least, double most,
		 uint32_t *value)
{
	double v;
	int ret = reader_number(r, node, least, most, &v);

	if (ret)
		return ret;
	if (v != floor(v))
		return reader_error(r, node, "%s: expected a whole number, got %g", node->key, v);
	*value = (uint32_t)v;
	return 0;
}

/* Marks a name as one that gets a value; a parameter of the model cannot. */
static int set_name(struct arch_reader *r, const struct yaml_node *at, uint32_t *name)
{
	*name = stoex_name(&r->m->names, at->key, strlen(at->key));
	if (*name == ARCH_NONE)
		return reader_no_memory(r);
	if (r->m->names.bound[*name])
		return reader_error(r, at,
				    "\"%.60s\" is a parameter of the model: it keeps its value",
				    at->key);
	if (*name >= r->nr_is_set) {
		uint32_t nr = *name * 2 + 16;
		bool *more = reallocarray(r->is_set, nr, sizeof(*more));

		if (!more)
			return reader_no_memory(r);
		memset(more + r->nr_is_set, 0, (nr - r->nr_is_set) * sizeof(*more));
		r->is_set = more;
		r->nr_is_set = nr;
	}
	r->is_set[*name] = true;
	return 0;
}

int reader_sets(struct arch_reader *r, const struct yaml_node *node, struct arch_sets *sets)
{
	if (node && node->kind != YAML_MAP)
		return reader_error(r, node, "%s: expected names and values",
				    node->key ? node->key : "");
	for (size_t i = 0; node && i < node->nr; i++) {
		struct arch_set *x = arch_add_set(sets);
		int ret;

		if (!x)
			return reader_no_memory(r);
		ret = set_name(r, node->items[i], &x->name);
		if (!ret)
			ret = reader_expression(r, node->items[i], -INFINITY, &x->value);
		if (ret)
			return ret;
	}
	return 0;
}

uint32_t reader_type(struct arch_reader *r, const char *name)
{
	uint32_t i = arch_find_type(r->m, name);
	struct arch_type *t;

	if (i != ARCH_NONE)
		return i;
	t = ARCH_ADD(r->m->types, r->m->nr_types);
	if (t)
		t->name = reader_copy(r, name);
	if (!t || !t->name) {
		reader_no_memory(r);
		return ARCH_NONE;
	}
	return r->m->nr_types - 1;
}

/* The model's own words are no names of parameters. */
static int check_parameter(struct arch_reader *r, const struct yaml_node *node)
{
	const uint32_t *variables;
	struct stoex *e = NULL;
	bool good = !stoex_parse(&e, node->key, STOEX_BLKCAST, &r->m->names, NULL) &&
		    stoex_variables(e, &variables) == 1 && !strpbrk(node->key, " \t.()");

	stoex_free(e);
	return good ? 0
		    : reader_error(r, node,
				   "parameter \"%.60s\": expected a new name of letters, digits, _",
				   node->key);
}

/* The last of a name wins, as for any option given twice. */
static const struct arch_setting *find_setting(const struct arch_reader *r, const char *name)
{
	for (size_t k = r->nr_settings; k-- > 0;)
		if (!strcmp(r->settings[k].name, name))
			return &r->settings[k];
	return NULL;
}

static int read_parameter(struct arch_reader *r, const struct yaml_node *node)
{
	const struct arch_setting *set = find_setting(r, node->key);
	const uint32_t *variables;
	struct err why = { 0 };
	struct stoex *e = NULL;
	const char *text;
	int ret = check_parameter(r, node);

	if (ret)
		return ret;
	text = set ? set->value : reader_text(r, node, "a number or an expression");
	if (!text)
		return -EINVAL;
	ret = stoex_parse(&e, text, STOEX_BLKCAST, &r->m->names, &why);
	if (ret && set)
		ret = err_set(r->err, EINVAL, "--set %s: %s", node->key, why.line);
	else if (ret)
		ret = reader_error(r, node, "%s: %s", node->key, why.line);
	else if (stoex_variables(e, &variables))
		ret = reader_error(r, node, "%s: \"%.60s\": no parameter \"%.60s\" before it",
				   node->key, text, r->m->names.items[variables[0]]);
	else if (stoex_bind(&r->m->names, node->key, text))
		ret = reader_no_memory(r);
	stoex_free(e);
	return ret;
}

static int read_parameters(struct arch_reader *r, const struct yaml_node *node)
{
	if (node && node->kind != YAML_MAP)
		return reader_error(r, node, "parameters: expected names and values");
	for (size_t i = 0; node && i < node->nr; i++) {
		int ret = read_parameter(r, node->items[i]);

		if (ret)
			return ret;
	}
	for (size_t k = 0; k < r->nr_settings; k++)
		if (!yaml_node_get(node, r->settings[k].name))
			return err_set(r->err, EINVAL, "%s: no parameter \"%s\" to set",
				       yaml_tree_name(r->tree), r->settings[k].name);
	return 0;
}

static int read_interface(struct arch_reader *r, const struct yaml_node *node)
{
	if (node->kind != YAML_LIST || !node->nr)
		return reader_error(r, node, "interface %s: expected a list of operations",
				    node->key);
	for (size_t i = 0; i < node->nr; i++) {
		const char *name = reader_text(r, node->items[i], "the name of an operation");
		struct arch_signature *s;

		if (!name)
			return -EINVAL;
		if (strpbrk(name, ". "))
			return reader_error(r, node->items[i],
					    "\"%.60s\": expected a name without dot or blank",
					    name);
		if (arch_find_signature(r->m, node->key, name) != ARCH_NONE)
			return reader_error(r, node->items[i],
					    "operation \"%s\" stands there twice", name);
		s = ARCH_ADD(r->m->signatures, r->m->nr_signatures);
		if (!s)
			return reader_no_memory(r);
		s->name = reader_copy(r, name);
		s->interface = reader_copy(r, node->key);
		if (!s->name || !s->interface) {
			/* Half a signature is none. */
			free(s->name);
			free(s->interface);
			r->m->nr_signatures--;
			return -ENOMEM;
		}
	}
	return 0;
}

static int read_interfaces(struct arch_reader *r, const struct yaml_node *node)
{
	int ret = reader_names(r, node);

	if (ret)
		return ret;
	for (size_t i = 0; node && i < node->nr; i++) {
		ret = read_interface(r, node->items[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/* A variable that nobody sets could have no value wherever it is asked for. */
static int check_variables(struct arch_reader *r)
{
	for (uint32_t i = 0; i < r->nr_uses; i++) {
		const uint32_t *names;
		size_t nr = stoex_variables(r->uses[i].e, &names);

		for (size_t k = 0; k < nr; k++) {
			if (names[k] < r->nr_is_set && r->is_set[names[k]])
				continue;
			return reader_error(r, r->uses[i].at,
					    "\"%.100s\": no parameter \"%s\", and nothing sets it",
					    stoex_text(r->uses[i].e), r->m->names.items[names[k]]);
		}
	}
	return 0;
}

/* Replicas are NAME#1, NAME#2...; until here the first was NAME. */
static int name_replicas(struct arch_reader *r)
{
	for (uint32_t i = 0; i < r->m->nr_instances; i++) {
		struct arch_instance *x = &r->m->instances[i];
		char *name;

		if (x->replicas < 2)
			continue;
		if (asprintf(&name, "%s#1", x->name) < 0)
			return reader_no_memory(r);
		free(x->name);
		x->name = name;
	}
	return 0;
}

static int read_model(struct arch_reader *r)
{
	static const char *const keys[] = { "architecture", "parameters", "interfaces",
					    "components",   "file_sets",  "storages",
					    "containers",   "links",	  "assembly",
					    "usage",	    NULL };
	const struct yaml_node *root = yaml_tree_root(r->tree);
	int ret = yaml_tree_keys(r->tree, root, keys, r->err);

	r->components = yaml_node_get(root, "components");
	r->assembly = yaml_node_get(root, "assembly");
	if (!ret && yaml_node_get(root, "architecture") &&
	    !reader_text(r, yaml_node_get(root, "architecture"), "a name"))
		ret = -EINVAL;
	if (!ret)
		ret = read_parameters(r, yaml_node_get(root, "parameters"));
	if (!ret)
		ret = read_interfaces(r, yaml_node_get(root, "interfaces"));
	if (!ret)
		ret = reader_file_sets(r, yaml_node_get(root, "file_sets"));
	if (!ret)
		ret = reader_components(r);
	if (!ret)
		ret = reader_storages(r, yaml_node_get(root, "storages"));
	if (!ret)
		ret = reader_environment(r, root);
	if (!ret)
		ret = reader_assembly(r);
	if (!ret)
		ret = reader_usage(r, yaml_node_get(root, "usage"));
	if (!ret)
		ret = check_variables(r);
	if (!ret)
		ret = name_replicas(r);
	return ret ? ret : arch_finish(r->m, r->err);
}

/* Takes the tree over. */
static int read_tree(struct arch_model *m, struct yaml_tree *tree,
		     const struct arch_setting *settings, size_t nr_settings, struct err *err)
{
	struct err own = { 0 };
	struct arch_reader r = { .tree = tree,
				 .m = m,
				 .settings = settings,
				 .nr_settings = nr_settings,
				 .err = err ? err : &own };
	char **file;
	int ret;

	*m = (struct arch_model){ 0 };
	file = ARCH_ADD(m->files, m->nr_files);
	if (file)
		*file = strdup(yaml_tree_name(tree));
	ret = file && *file ? read_model(&r) : reader_no_memory(&r);
	if (ret)
		arch_release(m);
	free(r.uses);
	free(r.is_set);
	yaml_tree_free(tree);
	return ret;
}

int arch_read(struct arch_model *m, const char *path, const struct arch_setting *settings,
	      size_t nr_settings, struct err *err)
{
	struct yaml_tree *tree;
	int ret = yaml_tree_read(&tree, path, err);

	return ret ? ret : read_tree(m, tree, settings, nr_settings, err);
}

int arch_parse(struct arch_model *m, const char *name, const void *data, size_t len,
	       const struct arch_setting *settings, size_t nr_settings, struct err *err)
{
	struct yaml_tree *tree;
	int ret = yaml_tree_parse(&tree, name, data, len, err);

	return ret ? ret : read_tree(m, tree, settings, nr_settings, err);
}
