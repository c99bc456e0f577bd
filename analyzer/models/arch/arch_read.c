// SPDX-License-Identifier: Apache-2.0
/*
 * The outermost table of a model's YAML, from which docs/arch.schema.json is generated. Items that
 * others name are read first: parameters, interfaces, file sets, components, storages, containers,
 * links, assembly, usage.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_reader.h"

#define MAX_SERVERS 1000000

int reader_error(const struct fields_reader *r, const struct yaml_node *at, const char *fmt, ...)
{
	char line[ERR_LINE_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	return yaml_tree_error(r->tree, at ? at : yaml_tree_root(r->tree), r->err, "%s", line);
}

struct arch_place reader_place(const struct yaml_node *at)
{
	return (struct arch_place){ .file = 0, .line = at->line };
}

char *reader_copy(const struct fields_reader *r, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		fields_no_memory(r);
	return copy;
}

int reader_later(const struct fields_reader *r, const struct field *f, const struct yaml_node *n,
		 void *to)
{
	(void)r;
	(void)f;
	(void)n;
	(void)to;
	return 0;
}

static int reader_note_use(const struct fields_reader *r, const struct yaml_node *at,
			   const struct stoex *e)
{
	struct arch_reader *reader = r->context;
	struct reader_use *more = arch_grow(reader->uses, &reader->nr_uses, sizeof(*more));

	if (!more)
		return fields_no_memory(r);
	reader->uses = more;
	more[reader->nr_uses - 1] = (struct reader_use){ e, at };
	return 0;
}

/* Checks a constant against the range of the field. */
static int reader_check_range(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *n, double value)
{
	const struct field *d = f->as ? f->as : f;

	if (d->above && !(value > d->low))
		return fields_error(r, n, "expected more than %g, got %g", d->low, value);
	if (!(value >= d->low))
		return fields_error(r, n, "expected %g or more, got %g", d->low, value);
	if (d->high && value > d->high)
		return fields_error(r, n, "expected %g to %g, got %g", d->low, d->high, value);
	if (d->type == FIELD_COUNT && value != floor(value))
		return fields_error(r, n, "expected a whole number, got %g", value);
	return 0;
}

static int reader_parse(const struct fields_reader *r, const struct yaml_node *n,
			struct stoex **out)
{
	struct arch_reader *reader = r->context;
	struct err why = { 0 };
	int ret = stoex_parse(out, n->text, STOEX_BLKCAST, &reader->m->names, &why);

	if (ret == -ENOMEM)
		return fields_no_memory(r);
	return ret ? fields_error(r, n, "%s", why.line) : 0;
}

int reader_expression(const struct fields_reader *r, const struct field *f,
		      const struct yaml_node *n, void *to)
{
	struct stoex **out = to;
	double value;
	int ret = reader_parse(r, n, out);

	if (ret)
		return ret;
	if (stoex_is_constant(*out, &value))
		ret = reader_check_range(r, f, n, value);
	return ret ? ret : reader_note_use(r, n, *out);
}

int reader_number(const struct fields_reader *r, const struct field *f, const struct yaml_node *n,
		  void *to)
{
	struct stoex *e = NULL;
	double *value = to;
	int ret = reader_parse(r, n, &e);

	if (ret)
		return ret;
	if (!stoex_is_constant(e, value))
		ret = fields_error(r, n, "\"%.60s\": expected a number that stays", n->text);
	else
		ret = reader_check_range(r, f, n, *value);
	stoex_free(e);
	return ret;
}

int reader_whole(const struct fields_reader *r, const struct field *f, const struct yaml_node *n,
		 void *to)
{
	double value;
	int ret = reader_number(r, f, n, &value);

	if (ret)
		return ret;
	*(uint32_t *)to = (uint32_t)value;
	return 0;
}

#define EXPRESSION_HELP \
	"A number or an expression: units (10ms, 4k), parameters, variables, distributions."
const struct field arch_expression =
	FIELD(NUMBER, "expression", .computed = true, .low = -INFINITY, .read = reader_expression,
	      .expected = "a number or an expression", .help = EXPRESSION_HELP);
const struct field arch_amount =
	FIELD(NUMBER, "amount", .computed = true, .read = reader_expression,
	      .expected = "a number or an expression", .help = EXPRESSION_HELP);
const struct field arch_positive =
	FIELD(NUMBER, "positive", .computed = true, .above = true, .read = reader_expression,
	      .expected = "a number or an expression", .help = EXPRESSION_HELP);
const struct field arch_servers = FIELD(COUNT, "servers", .computed = true, .low = 1,
					.high = MAX_SERVERS, .read = reader_whole);

/* Marks a name as one that gets a value. A parameter of the model cannot get another value. */
static int reader_set_name(const struct fields_reader *r, const struct yaml_node *at,
			   uint32_t *name)
{
	struct arch_reader *reader = r->context;

	*name = stoex_name(&reader->m->names, at->key, strlen(at->key));
	if (*name == ARCH_NONE)
		return fields_no_memory(r);
	if (reader->m->names.bound[*name])
		return reader_error(r, at,
				    "\"%.60s\" is a parameter of the model: it keeps its value",
				    at->key);
	if (*name >= reader->nr_is_set) {
		uint32_t nr = *name * 2 + 16;
		bool *more = reallocarray(reader->is_set, nr, sizeof(*more));

		if (!more)
			return fields_no_memory(r);
		memset(more + reader->nr_is_set, 0, (nr - reader->nr_is_set) * sizeof(*more));
		reader->is_set = more;
		reader->nr_is_set = nr;
	}
	reader->is_set[*name] = true;
	return 0;
}

static int reader_set(const struct fields_reader *r, const struct field *f,
		      const struct yaml_node *n, void *to)
{
	struct arch_set *set = arch_add_set(to);
	int ret;

	if (!set)
		return fields_no_memory(r);
	ret = reader_set_name(r, n, &set->name);
	return ret ? ret : reader_expression(r, f, n, &set->value);
}

static const struct field set_item = FIELD_AS(&arch_expression, NULL, .read = reader_set);
const struct field arch_sets_field =
	FIELD(MAP, "sets", .item = &set_item, .expected = "names and values",
	      .help = "variables and their values");

uint32_t reader_type(const struct fields_reader *r, const char *name)
{
	struct arch_reader *reader = r->context;
	struct arch_model *m = reader->m;
	uint32_t i = arch_find_type(m, name);
	struct arch_type *t;

	if (i != ARCH_NONE)
		return i;
	t = ARCH_ADD(m->types, m->nr_types);
	if (t)
		t->name = reader_copy(r, name);
	if (!t || !t->name) {
		fields_no_memory(r);
		return ARCH_NONE;
	}
	return m->nr_types - 1;
}

/* A parameter cannot have a name that is a word of the language. */
static int parameter_check(const struct fields_reader *r, const struct yaml_node *n)
{
	struct arch_reader *reader = r->context;
	const uint32_t *variables;
	struct stoex *e = NULL;
	bool good = !stoex_parse(&e, n->key, STOEX_BLKCAST, &reader->m->names, NULL) &&
		    stoex_variables(e, &variables) == 1 && !strpbrk(n->key, " \t.()");

	stoex_free(e);
	return good ? 0
		    : reader_error(r, n,
				   "parameter \"%.60s\": expected a new name of letters, digits, _",
				   n->key);
}

/* If a parameter is set several times, the last setting is used, as for any option. */
static const struct arch_setting *parameter_setting(const struct arch_reader *reader,
						    const char *name)
{
	for (size_t k = reader->nr_settings; k-- > 0;)
		if (!strcmp(reader->settings[k].name, name))
			return &reader->settings[k];
	return NULL;
}

static int parameter_read(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *n, void *to)
{
	struct arch_reader *reader = r->context;
	const struct arch_setting *set = parameter_setting(reader, n->key);
	const char *text = set ? set->value : n->text;
	const uint32_t *variables;
	struct err why = { 0 };
	struct stoex *e = NULL;
	int ret = parameter_check(r, n);

	(void)f;
	(void)to;
	if (ret)
		return ret;
	ret = stoex_parse(&e, text, STOEX_BLKCAST, &reader->m->names, &why);
	if (ret && set)
		ret = err_set(r->err, EINVAL, "%s: %s", n->key, why.line);
	else if (ret)
		ret = fields_error(r, n, "%s", why.line);
	else if (stoex_variables(e, &variables))
		ret = fields_error(r, n, "\"%.60s\": no parameter \"%.60s\" before it", text,
				   reader->m->names.items[variables[0]]);
	else if (stoex_bind(&reader->m->names, n->key, text))
		ret = fields_no_memory(r);
	stoex_free(e);
	return ret;
}

static int settings_check(const struct fields_reader *r)
{
	const struct arch_reader *reader = r->context;
	const struct yaml_node *parameters = yaml_node_get(yaml_tree_root(r->tree), "parameters");

	for (size_t k = 0; k < reader->nr_settings; k++)
		if (!yaml_node_get(parameters, reader->settings[k].name))
			return err_set(r->err, EINVAL, "%s: no parameter \"%s\" to set",
				       yaml_tree_name(r->tree), reader->settings[k].name);
	return 0;
}

static int signature_read(const struct fields_reader *r, const char *interface,
			  const struct yaml_node *n)
{
	struct arch_model *m = ((struct arch_reader *)r->context)->m;
	struct arch_signature *s;

	if (n->kind != YAML_SCALAR || !*n->text || strpbrk(n->text, ARCH_NOT_IN_NAMES))
		return reader_error(r, n, "\"%.60s\": expected a name without dot or blank",
				    n->text ? n->text : "");
	if (arch_find_signature(m, interface, n->text) != ARCH_NONE)
		return reader_error(r, n, "operation \"%s\" stands there twice", n->text);
	s = ARCH_ADD(m->signatures, m->nr_signatures);
	if (!s)
		return fields_no_memory(r);
	s->name = reader_copy(r, n->text);
	s->interface = reader_copy(r, interface);
	if (s->name && s->interface)
		return 0;
	/* Removes a signature that could not be added completely. */
	free(s->name);
	free(s->interface);
	m->nr_signatures--;
	return -ENOMEM;
}

static int interface_read(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *n, void *to)
{
	(void)f;
	(void)to;
	for (size_t i = 0; i < n->nr; i++) {
		int ret = signature_read(r, n->key, n->items[i]);

		if (ret)
			return ret;
	}
	return 0;
}

/* Refuses variables that nothing sets, because they could not have a value where they are used. */
static int variables_check(const struct fields_reader *r)
{
	const struct arch_reader *reader = r->context;

	for (uint32_t i = 0; i < reader->nr_uses; i++) {
		const uint32_t *names;
		size_t nr = stoex_variables(reader->uses[i].e, &names);

		for (size_t k = 0; k < nr; k++) {
			if (names[k] < reader->nr_is_set && reader->is_set[names[k]])
				continue;
			return reader_error(r, reader->uses[i].at,
					    "\"%.100s\": no parameter \"%s\", and nothing sets it",
					    stoex_text(reader->uses[i].e),
					    reader->m->names.items[names[k]]);
		}
	}
	return 0;
}

/*
 * Renames the first of several replicas to NAME#1; the others are NAME#2 and so on. Until now the
 * first was called NAME.
 */
static int replicas_name(const struct fields_reader *r)
{
	struct arch_model *m = ((struct arch_reader *)r->context)->m;

	for (uint32_t i = 0; i < m->nr_instances; i++) {
		struct arch_instance *instance = &m->instances[i];
		char *name;

		if (instance->replicas < 2)
			continue;
		if (asprintf(&name, "%s#1", instance->name) < 0)
			return fields_no_memory(r);
		free(instance->name);
		instance->name = name;
	}
	return 0;
}

static const struct field parameter_item = FIELD_AS(&arch_expression, NULL, .read = parameter_read);
static const struct field operation_name = FIELD(TEXT, NULL, .pattern = "^[^. ]+$");
static const struct field interface_item =
	FIELD(LIST, NULL, .item = &operation_name, .low = 1, .read = interface_read,
	      .expected = "a list of operations");
static const struct field model_fields[] = {
	FIELD(TEXT, "architecture", .read = reader_later, .help = "a name"),
	FIELD(MAP, "parameters", .item = &parameter_item, .expected = "names and values",
	      .help = "Names and what they stand for, over those before them; settings change them."),
	FIELD(MAP, "interfaces", .item = &interface_item, .banned = ARCH_NOT_IN_NAMES,
	      .required = true, .help = "interfaces and their operations"),
	FIELD_AS(&arch_file_sets, "file_sets"),
	FIELD_AS(&arch_components, "components", .required = true),
	FIELD_AS(&arch_storages, "storages"),
	FIELD_AS(&arch_containers, "containers", .required = true),
	FIELD_AS(&arch_links, "links"),
	FIELD_AS(&arch_assembly, "assembly", .required = true),
	FIELD_AS(&arch_usage, "usage", .required = true),
	{ 0 },
};
const struct fields arch_table = { .title = "A software system of blkcast arch",
				   .fields = model_fields };

static int model_read(const struct fields_reader *r)
{
	struct arch_reader *reader = r->context;
	const struct yaml_node *root = yaml_tree_root(r->tree);
	int ret = settings_check(r);

	reader->components = yaml_node_get(root, "components");
	reader->assembly = yaml_node_get(root, "assembly");
	if (ret)
		return ret;
	ret = fields_read(r, &arch_table, root, reader->m);
	if (ret)
		return ret;
	ret = variables_check(r);
	if (ret)
		return ret;
	ret = replicas_name(r);
	return ret ? ret : arch_finish(reader->m, r->err);
}

/* Reads the tree and takes it over. */
static int read_tree(struct arch_model *m, struct yaml_tree *tree,
		     const struct arch_setting *settings, size_t nr_settings, struct err *err)
{
	struct err own = { 0 };
	struct arch_reader reader = { .m = m, .settings = settings, .nr_settings = nr_settings };
	struct fields_reader r = { .tree = tree, .err = err ? err : &own, .context = &reader };
	char **file;
	int ret;

	*m = (struct arch_model){ 0 };
	file = ARCH_ADD(m->files, m->nr_files);
	if (file)
		*file = strdup(yaml_tree_name(tree));
	ret = file && *file ? model_read(&r) : fields_no_memory(&r);
	if (ret)
		arch_release(m);
	free(reader.uses);
	free(reader.is_set);
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
