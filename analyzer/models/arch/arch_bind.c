// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/arch/arch_bind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_reader.h"

#define ENTRIES_MAX   1024
#define ENTRY(member) offsetof(struct bind_entry, member)
#define STANDARD_TYPE "hdd"
#define NESTED_MAX    64 /* bodies inside bodies */

/* This struct says which demands become requests, and what requests they are. */
struct bind_entry {
	char *container, *storage, *action, *resource, *size, *sequential, *file_set; /* owned */
	int request; /* index in bind_words */
	struct arch_place at;
	uint32_t container_index, type, file_set_index;
	bool of_container; /* the entry is not of a side file: all of the container's demands */
	bool used;
};

struct bind {
	struct arch_model *m;
	struct err *err;
	struct bind_entry *entries; /* owned */
	uint32_t nr;
};

static const char *const bind_words[] = { "any", "read", "write", NULL };

static void bind_entry_release(struct bind_entry *e)
{
	free(e->container);
	free(e->storage);
	free(e->action);
	free(e->resource);
	free(e->size);
	free(e->sequential);
	free(e->file_set);
}

static const struct field entry_fields[] = {
	FIELD(TEXT, "container", .offset = ENTRY(container), .required = true,
	      .help = "name of a container of the model"),
	FIELD(TEXT, "storage", .offset = ENTRY(storage), .required = true),
	FIELD(TEXT, "resource", .offset = ENTRY(resource),
	      .help = "the resource whose demands become requests; hdd unless given"),
	FIELD(TEXT, "action", .offset = ENTRY(action),
	      .help = "only demands of internal actions of this name"),
	FIELD(WORD, "request", .words = bind_words, .offset = ENTRY(request),
	      .help = "the type of requests where the demand does not say it"),
	FIELD(TEXT, "size", .offset = ENTRY(size),
	      .help = "bytes of a request; the amount of the demand unless given"),
	FIELD(TEXT, "sequential", .offset = ENTRY(sequential),
	      .help = "probability that a request continues the last one"),
	FIELD(TEXT, "file_set", .offset = ENTRY(file_set)),
	{ 0 },
};
static const struct fields entry_table = { .name = "binding", .fields = entry_fields };

/* Resolves the names of an entry, and gives its container the storage. */
static int bind_resolve(const struct fields_reader *r, struct arch_model *m, struct bind_entry *e,
			const struct yaml_node *n)
{
	uint32_t storage = arch_find_storage(m, e->storage);
	struct arch_container *c;

	e->container_index = arch_find_container(m, e->container);
	e->type = arch_find_type(m, e->resource ? e->resource : STANDARD_TYPE);
	if (e->container_index == ARCH_NONE)
		return reader_error(r, yaml_node_get(n, "container"),
				    "the model has no container '%.80s'", e->container);
	if (e->type == ARCH_NONE)
		return reader_error(r, yaml_node_get(n, "resource"),
				    "the model has no resource '%.80s'", e->resource);
	if (storage == ARCH_NONE)
		return reader_error(r, yaml_node_get(n, "storage"),
				    "'%.80s' is not among the storages", e->storage);
	e->file_set_index = e->file_set ? arch_find_file_set(m, e->file_set) : ARCH_NONE;
	if (e->file_set && e->file_set_index == ARCH_NONE)
		return reader_error(r, yaml_node_get(n, "file_set"),
				    "'%.80s' is not among the file sets", e->file_set);
	c = &m->containers[e->container_index];
	if (c->storage != ARCH_NONE && c->storage != storage)
		return reader_error(r, yaml_node_get(n, "storage"),
				    "%.80s has the storage %.80s already", e->container,
				    m->storages[c->storage].name);
	c->storage = storage;
	return 0;
}

static int bind_read_entry(const struct fields_reader *r, const struct field *f,
			   const struct yaml_node *n, void *to)
{
	struct bind *b = to;
	struct bind_entry *e = ARCH_ADD(b->entries, b->nr);
	int ret;

	if (!e)
		return fields_no_memory(r);
	*e = (struct bind_entry){ .at = reader_place(n) };
	ret = fields_read(r, f->of, n, e);
	return ret ? ret : bind_resolve(r, b->m, e, n);
}

static const struct field entry_item =
	FIELD(STRUCT, NULL, .of = &entry_table, .read = bind_read_entry);
static const struct field bind_fields[] = {
	FIELD_AS(&arch_storages, "storages", .required = true),
	FIELD_AS(&arch_file_sets, "file_sets"),
	FIELD(LIST, "requests", .item = &entry_item, .low = 1, .high = ENTRIES_MAX,
	      .required = true),
	{ 0 },
};
static const struct fields bind_table = { .title = "Storages of a Palladio model",
					  .fields = bind_fields };

/* ---- the demands of the model ---- */

/* Returns true if demands of this container are those of the entry's container. */
static bool bind_is_for(const struct bind *b, const struct bind_entry *e, uint32_t container)
{
	uint32_t resource;

	if (e->container_index == container || !e->of_container)
		return e->container_index == container;
	/* A container inside another one uses the resource of the outer container. */
	resource = arch_resource_for(b->m, container, e->type);
	return resource != ARCH_NONE && b->m->resources[resource].container == e->container_index;
}

static struct bind_entry *bind_entry_for(struct bind *b, uint32_t container,
					 const struct arch_action *a)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		struct bind_entry *e = &b->entries[i];

		if (e->type == a->demand.type && bind_is_for(b, e, container) &&
		    (!e->action || (a->name && !strcmp(e->action, a->name))))
			return e;
	}
	return NULL;
}

void arch_make_request(struct arch_action *a, enum arch_direction direction, struct stoex *size,
		       struct stoex *sequential, uint32_t file_set)
{
	struct stoex *amount = a->demand.amount;

	if (size)
		stoex_free(amount);
	a->kind = ARCH_IO;
	a->io.direction = direction;
	a->io.size = size ? size : amount;
	a->io.sequential = sequential;
	a->io.file_set = file_set;
	a->io.measure = 0;
}

static int bind_expression(struct bind *b, const struct bind_entry *e, const char *text,
			   struct stoex **out)
{
	struct err why = { 0 };

	*out = NULL;
	if (!text)
		return 0;
	if (stoex_parse(out, text, STOEX_PALLADIO, &b->m->names, &why))
		return arch_error(b->m, e->at, b->err, "%s", why.line);
	return 0;
}

/* Makes a request of a demand. The amount of the demand is its size, unless the entry has one. */
static int bind_action(struct bind *b, struct bind_entry *e, struct arch_action *a)
{
	struct stoex *size = NULL, *sequential = NULL;
	enum arch_direction direction =
		a->demand.direction ? a->demand.direction : (enum arch_direction)e->request;
	int ret;

	if (direction == ARCH_ANY && e->of_container)
		return arch_error(
			b->m, a->at, b->err,
			"a demand for the storage of %s neither reads nor writes; a "
			"stereotype StorageRequest of its action may say request=\"read\" "
			"or \"write\"",
			b->m->containers[e->container_index].name);
	if (direction == ARCH_ANY)
		return arch_error(b->m, a->at, b->err,
				  "a demand for the storage neither reads nor writes; the entry of "
				  "the side file on line %u may say 'request: read' or 'write'",
				  e->at.line);
	ret = bind_expression(b, e, e->size, &size);
	if (ret)
		return ret;
	ret = bind_expression(b, e, e->sequential, &sequential);
	if (ret) {
		stoex_free(size);
		return ret;
	}
	arch_make_request(a, direction, size, sequential, e->file_set_index);
	e->used = true;
	return 0;
}

static int bind_behaviour(struct bind *b, uint32_t container, uint32_t behaviour,
			  unsigned int nested)
{
	const struct arch_behaviour *x = &b->m->behaviours[behaviour];
	uint32_t body;

	for (uint32_t i = 0; i < x->nr && nested < NESTED_MAX; i++) {
		struct arch_action *a = &x->actions[i];
		struct bind_entry *e =
			a->kind == ARCH_DEMAND ? bind_entry_for(b, container, a) : NULL;
		int ret = e ? bind_action(b, e, a) : 0;

		if (ret)
			return ret;
		for (uint32_t k = 0; (body = arch_action_body(a, k)) != ARCH_NONE; k++) {
			ret = bind_behaviour(b, container, body, nested + 1);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/*
 * A component has one behaviour wherever it runs. What it asks of a storage in one container must
 * find a storage in the others; arch_finish() checks that.
 */
static int bind_demands(struct bind *b)
{
	for (uint32_t i = 0; i < b->m->nr_instances; i++) {
		const struct arch_instance *x = &b->m->instances[i];
		const struct arch_component *c = &b->m->components[x->component];

		for (uint32_t k = 0; k < c->nr_operations; k++) {
			int ret = bind_behaviour(b, x->container, c->operations[k].behaviour, 0);

			if (ret)
				return ret;
		}
	}
	for (uint32_t i = 0; i < b->nr; i++)
		if (!b->entries[i].used && !b->entries[i].of_container)
			return arch_error(
				b->m, b->entries[i].at, b->err,
				"no demand for %s in %s%s%s became a request by this entry",
				b->m->types[b->entries[i].type].name, b->entries[i].container,
				b->entries[i].action ? " by the action " : "",
				b->entries[i].action ? b->entries[i].action : "");
	return 0;
}

int arch_bind_containers(struct arch_model *m, const struct arch_binding *bindings, size_t nr,
			 struct err *err)
{
	struct bind b = { .m = m, .err = err };
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		struct bind_entry *e = ARCH_ADD(b.entries, b.nr);

		if (!e)
			ret = err_set(err, ENOMEM, "out of memory");
		else
			*e = (struct bind_entry){ .container_index = bindings[i].container,
						  .type = bindings[i].type,
						  .file_set_index = ARCH_NONE,
						  .of_container = true };
	}
	if (!ret)
		ret = bind_demands(&b);
	free(b.entries);
	return ret;
}

/* Makes the locations of what the side file adds lead to the side file. */
static int bind_place(struct bind *b, const char *path, uint32_t first_storage)
{
	char **file = ARCH_ADD(b->m->files, b->m->nr_files);

	if (!file)
		return -ENOMEM;
	*file = strdup(path);
	if (!*file)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->nr; i++)
		b->entries[i].at.file = b->m->nr_files - 1;
	for (uint32_t i = first_storage; i < b->m->nr_storages; i++)
		b->m->storages[i].at.file = b->m->nr_files - 1;
	return 0;
}

static const struct field declare_fields[] = {
	FIELD_AS(&arch_storages, "storages", .required = true),
	FIELD_AS(&arch_file_sets, "file_sets"),
	{ 0 },
};
static const struct fields declare_table = { .fields = declare_fields };

int arch_declare_storages(struct arch_model *m, const struct yaml_tree *tree, uint32_t file,
			  struct err *err)
{
	struct arch_reader reader = { .m = m };
	struct fields_reader r = { .err = err, .context = &reader, .tree = tree };
	uint32_t first = m->nr_storages;
	int ret = fields_read(&r, &declare_table, yaml_tree_root(tree), m);

	for (uint32_t i = first; i < m->nr_storages; i++)
		m->storages[i].at.file = file;
	free(reader.uses);
	free(reader.is_set);
	return ret;
}

int arch_bind(struct arch_model *m, const char *path, struct err *err)
{
	struct bind b = { .m = m, .err = err };
	struct arch_reader reader = { .m = m };
	struct fields_reader r = { .err = err, .context = &reader };
	uint32_t first_storage = m->nr_storages;
	struct yaml_tree *tree = NULL;
	int ret = yaml_tree_read(&tree, path, err);

	if (ret)
		return ret;
	r.tree = tree;
	ret = fields_read(&r, &bind_table, yaml_tree_root(tree), &b);
	if (ret)
		goto out;
	ret = bind_place(&b, path, first_storage);
	if (ret)
		goto out;
	ret = bind_demands(&b);
out:
	for (uint32_t i = 0; i < b.nr; i++)
		bind_entry_release(&b.entries[i]);
	free(b.entries);
	free(reader.uses);
	free(reader.is_set);
	yaml_tree_free(tree);
	return ret;
}

/* ---- changes by name ---- */

static struct stoex **change_scenario(struct arch_model *m, const char *name, size_t len,
				      const char *part)
{
	for (uint32_t i = 0; i < m->nr_scenarios; i++) {
		struct arch_scenario *x = &m->scenarios[i];

		if (strlen(x->name) != len || strncmp(x->name, name, len) != 0)
			continue;
		if (!strcmp(part, "population") && !x->open)
			return &x->population;
		if (!strcmp(part, "time"))
			return &x->time;
	}
	return NULL;
}

static struct stoex **change_resource(struct arch_model *m, const char *name, size_t len,
				      const char *part)
{
	for (uint32_t i = 0; i < m->nr_resources; i++) {
		struct arch_resource *x = &m->resources[i];
		const char *container =
			x->container == ARCH_NONE ? "" : m->containers[x->container].name;

		if (strlen(container) == len && !strncmp(container, name, len) &&
		    !strcmp(m->types[x->type].name, part))
			return &x->rate;
	}
	return NULL;
}

static struct stoex **change_variable(struct arch_model *m, const char *name)
{
	for (uint32_t i = 0; i < m->nr_instances; i++) {
		struct arch_instance *x = &m->instances[i];
		size_t len = strlen(x->name);

		if (strncmp(x->name, name, len) != 0 || name[len] != '.')
			continue;
		for (uint32_t k = 0; k < x->sets.nr; k++)
			if (!strcmp(m->names.items[x->sets.items[k].name], name + len + 1))
				return &x->sets.items[k].value;
	}
	return NULL;
}

int arch_change(struct arch_model *m, const char *path, const struct arch_setting *settings,
		size_t nr, struct err *err)
{
	for (size_t i = 0; i < nr; i++) {
		const char *name = settings[i].name, *dot = strrchr(name, '.');
		size_t len = dot ? (size_t)(dot - name) : 0;
		struct stoex **at = dot ? change_scenario(m, name, len, dot + 1) : NULL;
		struct stoex *value = NULL;
		struct err why = { 0 };

		if (dot && !at)
			at = change_resource(m, name, len, dot + 1);
		if (!at)
			at = change_variable(m, name);
		if (!at)
			return err_set(err, EINVAL,
				       "%s: %.80s: expected SCENARIO.population, SCENARIO.time, "
				       "CONTAINER.RESOURCE or INSTANCE.VARIABLE of this model",
				       path, name);
		if (stoex_parse(&value, settings[i].value, STOEX_PALLADIO, &m->names, &why))
			return err_set(err, EINVAL, "%s: %.80s=%.80s: %s", path, name,
				       settings[i].value, why.line);
		stoex_free(*at);
		*at = value;
	}
	return 0;
}
