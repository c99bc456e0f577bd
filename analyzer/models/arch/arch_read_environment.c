// SPDX-License-Identifier: Apache-2.0
/*
 * This file holds the tables of file sets, containers with their resources, links, and usage
 * scenarios.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/models/arch/arch_reader.h"

#define RESOURCE(member) offsetof(struct arch_resource, member)
#define SCENARIO(member) offsetof(struct arch_scenario, member)

static struct arch_model *environment_model(const struct fields_reader *r)
{
	return ((struct arch_reader *)r->context)->m;
}

static const struct field file_set_fields[] = {
	FIELD_AS(&arch_amount, "size", .offset = offsetof(struct arch_file_set, size),
		 .required = true),
	{ 0 },
};
static const struct fields file_set_table = { .fields = file_set_fields };
static const struct field file_set_forms[] = {
	FIELD_AS(&arch_amount, NULL, .offset = offsetof(struct arch_file_set, size)),
	FIELD(STRUCT, NULL, .of = &file_set_table),
	{ 0 },
};

static int file_set_read(const struct fields_reader *r, const struct field *f,
			 const struct yaml_node *n, void *to)
{
	static const struct field form =
		FIELD(EITHER, NULL, .item = file_set_forms, .expected = "its size");
	struct arch_model *m = environment_model(r);
	struct arch_file_set *set = ARCH_ADD(m->file_sets, m->nr_file_sets);

	(void)f;
	(void)to;
	if (!set)
		return fields_no_memory(r);
	set->name = reader_copy(r, n->key);
	return set->name ? fields_read_value(r, &form, n, set) : -ENOMEM;
}

static const struct field file_set_item =
	FIELD(EITHER, NULL, .item = file_set_forms, .read = file_set_read);
const struct field arch_file_sets =
	FIELD(MAP, "file_sets", .item = &file_set_item, .banned = ARCH_NOT_IN_NAMES);

static const char *const policies[] = { "ps", "fcfs", "delay", NULL };
static const struct field resource_fields[] = {
	FIELD_AS(&arch_servers, "cores", .offset = RESOURCE(servers), .without = "servers"),
	FIELD_AS(&arch_servers, "servers", .offset = RESOURCE(servers), .without = "cores"),
	FIELD(WORD, "policy", .words = policies, .offset = RESOURCE(policy)),
	FIELD_AS(&arch_positive, "rate", .offset = RESOURCE(rate),
		 .help = "units of work per second and server"),
	FIELD_AS(&arch_positive, "read_rate", .offset = RESOURCE(read_rate)),
	FIELD_AS(&arch_positive, "write_rate", .offset = RESOURCE(write_rate)),
	{ 0 },
};
static const struct fields resource_table = { .fields = resource_fields };
static const struct field resource_forms[] = {
	FIELD_AS(&arch_servers, NULL, .offset = RESOURCE(servers), .help = "its servers"),
	FIELD(STRUCT, NULL, .of = &resource_table),
	{ 0 },
};

static struct arch_resource *resource_add(const struct fields_reader *r, const struct yaml_node *at,
					  const char *name, uint32_t container)
{
	struct arch_model *m = environment_model(r);
	struct arch_resource *resource = ARCH_ADD(m->resources, m->nr_resources);

	if (resource) {
		resource->at = reader_place(at);
		resource->container = container;
		resource->servers = 1;
		resource->name = reader_copy(r, name);
	}
	if (!resource || !resource->name) {
		fields_no_memory(r);
		return NULL;
	}
	return resource;
}

/* Reads a resource, written as a mapping or as its number of servers only. */
static int resource_read(const struct fields_reader *r, const struct field *f,
			 const struct yaml_node *n, void *to)
{
	static const struct field form = FIELD(EITHER, NULL, .item = resource_forms,
					       .expected = "its servers, or what it is");
	const struct arch_reader *reader = r->context;
	struct arch_resource *resource;

	(void)to;
	if (!f->name && (!strcmp(n->key, "cpu") || !strcmp(n->key, "delay")))
		return fields_error(r, n, "stands beside \"resources\"");
	resource = resource_add(r, n, n->key, reader->container);
	if (!resource)
		return -ENOMEM;
	resource->type = reader_type(r, n->key);
	if (resource->type == ARCH_NONE)
		return -ENOMEM;
	resource->policy = strcmp(n->key, "cpu") ? ARCH_FCFS : ARCH_PS;
	return fields_read_value(r, &form, n, resource);
}

/*
 * Adds a delay resource to every container if some action is a delay. The resource has as many
 * servers as there are jobs.
 */
static int resource_add_delay(const struct fields_reader *r, const struct yaml_node *at,
			      uint32_t container)
{
	uint32_t type = arch_find_type(environment_model(r), "delay");
	struct arch_resource *resource;

	if (type == ARCH_NONE)
		return 0;
	resource = resource_add(r, at, "delay", container);
	if (!resource)
		return -ENOMEM;
	resource->type = type;
	resource->policy = ARCH_DELAY;
	return 0;
}

static int container_read_storage(const struct fields_reader *r, const struct field *f,
				  const struct yaml_node *n, void *to)
{
	const struct arch_model *m = environment_model(r);
	uint32_t *storage = to;

	(void)f;
	*storage = arch_find_storage(m, n->text);
	return *storage == ARCH_NONE ? reader_error(r, n, "no storage \"%.60s\"", n->text) : 0;
}

static int container_read_parent(const struct fields_reader *r, const struct field *f,
				 const struct yaml_node *n, void *to)
{
	const struct arch_reader *reader = r->context;
	uint32_t *parent = to;

	(void)f;
	*parent = arch_find_container(reader->m, n->text);
	if (*parent == ARCH_NONE || *parent == reader->container)
		return reader_error(r, n, "no container \"%.60s\" before this one", n->text);
	return 0;
}

static const struct field arch_resource = FIELD(EITHER, "resource", .item = resource_forms);
static const struct field resource_item = FIELD_AS(&arch_resource, NULL, .read = resource_read);
static const struct field container_fields[] = {
	FIELD(TEXT, "in", .offset = offsetof(struct arch_container, parent),
	      .read = container_read_parent, .expected = "the name of a container",
	      .help = "a container before this one"),
	FIELD(TEXT, "storage", .offset = offsetof(struct arch_container, storage),
	      .read = container_read_storage, .expected = "the name of a storage"),
	FIELD_AS(&arch_resource, "cpu", .read = resource_read),
	FIELD(MAP, "resources", .item = &resource_item, .banned = ARCH_NOT_IN_NAMES),
	{ 0 },
};
static const struct fields container_table = { .fields = container_fields };

static int container_read(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *n, void *to)
{
	struct arch_reader *reader = r->context;
	struct arch_model *m = reader->m;
	struct arch_container *c = ARCH_ADD(m->containers, m->nr_containers);
	int ret;

	(void)to;
	if (!c)
		return fields_no_memory(r);
	reader->container = m->nr_containers - 1;
	c->parent = c->storage = ARCH_NONE;
	c->at = reader_place(n);
	c->name = reader_copy(r, n->key);
	if (!c->name)
		return -ENOMEM;
	ret = fields_read(r, f->of, n, c);
	return ret ? ret : resource_add_delay(r, n, reader->container);
}

static const struct field container_item =
	FIELD(STRUCT, NULL, .of = &container_table, .read = container_read);
const struct field arch_containers =
	FIELD(MAP, "containers", .item = &container_item, .low = 1, .banned = ARCH_NOT_IN_NAMES,
	      .expected = "one container at least");

static int link_join(const struct fields_reader *r, const struct field *f,
		     const struct yaml_node *n, void *to)
{
	struct arch_link *l = to;
	uint32_t index = arch_find_container(environment_model(r), n->text);
	uint32_t *more;

	(void)f;
	if (index == ARCH_NONE)
		return reader_error(r, n, "no container \"%.60s\"", n->text);
	more = ARCH_ADD(l->containers, l->nr);
	if (!more)
		return fields_no_memory(r);
	*more = index;
	return 0;
}

static int link_read_throughput(const struct fields_reader *r, const struct field *f,
				const struct yaml_node *n, void *to)
{
	const struct arch_link *l = to;

	return reader_expression(r, f, n, &environment_model(r)->resources[l->resource].rate);
}

static const struct field join_item =
	FIELD(TEXT, NULL, .read = link_join, .expected = "the name of a container");
static const struct field link_fields[] = {
	FIELD(LIST, "joins", .item = &join_item, .low = 2, .required = true,
	      .expected = "two containers or more"),
	FIELD_AS(&arch_positive, "throughput", .read = link_read_throughput, .some = 1,
		 .help = "bytes per second"),
	FIELD_AS(&arch_amount, "latency", .offset = offsetof(struct arch_link, latency), .some = 1,
		 .help = "seconds"),
	{ 0 },
};
static const struct fields link_table = { .fields = link_fields,
					  .expected = "a throughput or a latency" };

static int link_read(const struct fields_reader *r, const struct field *f,
		     const struct yaml_node *n, void *to)
{
	struct arch_model *m = environment_model(r);
	struct arch_link *l = ARCH_ADD(m->links, m->nr_links);
	struct arch_resource *resource = l ? resource_add(r, n, n->key, ARCH_NONE) : NULL;

	(void)to;
	if (!resource)
		return fields_no_memory(r);
	l->resource = m->nr_resources - 1;
	resource->policy = ARCH_FCFS;
	resource->type = ARCH_NONE;
	return fields_read(r, f->of, n, l);
}

static const struct field link_item = FIELD(STRUCT, NULL, .of = &link_table, .read = link_read);
const struct field arch_links =
	FIELD(MAP, "links", .item = &link_item, .banned = ARCH_NOT_IN_NAMES);

static const struct field scenario_fields[] = {
	FIELD(COUNT, "clients", .computed = true, .low = 1, .offset = SCENARIO(population),
	      .read = reader_expression, .choice = 1, .expected = "a number or an expression",
	      .help = "a closed scenario: so many users"),
	FIELD_AS(&arch_positive, "interarrival", .offset = SCENARIO(time), .choice = 1,
		 .help = "an open scenario: seconds between two arrivals"),
	FIELD_AS(&arch_amount, "think", .offset = SCENARIO(time), .with = "clients",
		 .help = "seconds between two rounds of a client"),
	FIELD_AS(&arch_actions, "do", .offset = SCENARIO(behaviour), .required = true),
	{ 0 },
};
static const struct fields scenario_table = {
	.fields = scenario_fields,
	.expected = "either \"clients\" or \"interarrival\"",
};

static int scenario_read(const struct fields_reader *r, const struct field *f,
			 const struct yaml_node *n, void *to)
{
	struct arch_reader *reader = r->context;
	struct arch_model *m = reader->m;
	struct arch_scenario *s = ARCH_ADD(m->scenarios, m->nr_scenarios);
	int ret;

	(void)to;
	if (!s)
		return fields_no_memory(r);
	s->at = reader_place(n);
	s->name = reader_copy(r, n->key);
	if (!s->name)
		return -ENOMEM;
	s->open = yaml_node_get(n, "interarrival") != NULL;
	reader->component = ARCH_NONE;
	ret = fields_read(r, f->of, n, s);
	if (ret || s->time)
		return ret;
	s->time = stoex_number(0, &m->names);
	return s->time ? 0 : fields_no_memory(r);
}

static const struct field scenario_item =
	FIELD(STRUCT, NULL, .of = &scenario_table, .read = scenario_read);
const struct field arch_usage =
	FIELD(MAP, "usage", .item = &scenario_item, .low = 1, .banned = ARCH_NOT_IN_NAMES,
	      .expected = "one scenario at least");
