// SPDX-License-Identifier: Apache-2.0
/*
 * This file holds the tables of components (what they provide, require and contain) and of the
 * instances made from them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_reader.h"

#define MAX_REPLICAS 10000

static struct arch_model *component_model(const struct fields_reader *r)
{
	return ((struct arch_reader *)r->context)->m;
}

/* Refuses the name of an interface that does not exist. */
static int interface_check(const struct fields_reader *r, const struct yaml_node *n)
{
	const struct arch_model *m = component_model(r);

	if (n->kind != YAML_SCALAR || !*n->text)
		return fields_error(r, n, "expected the name of an interface");
	for (uint32_t i = 0; i < m->nr_signatures; i++)
		if (!strcmp(m->signatures[i].interface, n->text))
			return 0;
	return reader_error(r, n, "no interface \"%.60s\"", n->text);
}

/* Returns the size of a list; a scalar counts as a list of one item. */
static size_t list_size(const struct yaml_node *node)
{
	return !node ? 0 : node->kind == YAML_LIST ? node->nr : 1;
}

static const struct yaml_node *list_item(const struct yaml_node *node, size_t i)
{
	return node->kind == YAML_LIST ? node->items[i] : node;
}

static bool arch_read_components_provides(const struct yaml_node *component, const char *interface)
{
	const struct yaml_node *list = yaml_node_get(component, "provides");

	for (size_t i = 0; i < list_size(list); i++)
		if (!strcmp(list_item(list, i)->text, interface))
			return true;
	return false;
}

/*
 * Returns the signature NAME or INTERFACE.NAME among the provided interfaces, or ARCH_NONE if
 * there is none. *ambiguous is set if there are several.
 */
static uint32_t find_provided(const struct arch_reader *reader, const struct yaml_node *component,
			      const char *name, bool *ambiguous)
{
	const char *dot = strchr(name, '.'), *last = dot ? dot + 1 : name;
	uint32_t found = ARCH_NONE;

	*ambiguous = false;
	for (uint32_t i = 0; i < reader->m->nr_signatures; i++) {
		const struct arch_signature *s = &reader->m->signatures[i];

		if (strcmp(s->name, last) ||
		    !arch_read_components_provides(component, s->interface))
			continue;
		if (dot && (strlen(s->interface) != (size_t)(dot - name) ||
			    strncmp(s->interface, name, (size_t)(dot - name))))
			continue;
		*ambiguous = found != ARCH_NONE;
		found = i;
	}
	return found;
}

uint32_t reader_operation(const struct arch_reader *reader, uint32_t component, const char *name)
{
	bool ambiguous;
	uint32_t i = find_provided(reader, reader->components->items[component], name, &ambiguous);

	return ambiguous ? ARCH_NONE : i;
}

static int component_read_provides(const struct fields_reader *r, const struct field *f,
				   const struct yaml_node *n, void *to)
{
	(void)f;
	(void)to;
	for (size_t i = 0; i < list_size(n); i++) {
		int ret = interface_check(r, list_item(n, i));

		if (ret)
			return ret;
	}
	return 0;
}

static int component_read_role(const struct fields_reader *r, const struct field *f,
			       const struct yaml_node *n, void *to)
{
	struct arch_component *c = to;
	struct arch_role *role = ARCH_ADD(c->roles, c->nr_roles);

	(void)f;
	if (!role)
		return fields_no_memory(r);
	role->name = reader_copy(r, n->key);
	return role->name ? interface_check(r, n) : -ENOMEM;
}

static int component_read_passive(const struct fields_reader *r, const struct field *f,
				  const struct yaml_node *n, void *to)
{
	struct arch_component *c = to;
	struct arch_passive *p = ARCH_ADD(c->passives, c->nr_passives);

	if (!p)
		return fields_no_memory(r);
	p->name = reader_copy(r, n->key);
	return p->name ? reader_expression(r, f, n, &p->capacity) : -ENOMEM;
}

static int component_read_operation(const struct fields_reader *r, const struct field *f,
				    const struct yaml_node *n, void *to)
{
	const struct arch_reader *reader = r->context;
	struct arch_component *c = to;
	struct arch_operation *o;
	bool ambiguous;
	uint32_t behaviour,
		signature = find_provided(reader, reader->components->items[reader->component],
					  n->key, &ambiguous);
	int ret;

	(void)f;
	if (signature == ARCH_NONE)
		return reader_error(r, n, "component %s provides no operation \"%.60s\"", c->name,
				    n->key);
	if (ambiguous)
		return reader_error(r, n,
				    "operation \"%s\" is of several interfaces: expected "
				    "INTERFACE.OPERATION",
				    n->key);
	for (uint32_t i = 0; i < c->nr_operations; i++)
		if (c->operations[i].signature == signature)
			return reader_error(r, n, "operation \"%s\" stands there twice", n->key);
	ret = fields_read_value(r, &arch_actions, n, &behaviour);
	if (ret)
		return ret;
	o = ARCH_ADD(c->operations, c->nr_operations);
	if (!o)
		return fields_no_memory(r);
	*o = (struct arch_operation){ signature, behaviour };
	return 0;
}

/* Checks that the component has every operation of its interfaces. */
static int component_check_complete(const struct fields_reader *r, const struct yaml_node *n,
				    const struct arch_component *c)
{
	const struct arch_model *m = component_model(r);

	for (uint32_t i = 0; i < m->nr_signatures; i++) {
		const struct arch_signature *s = &m->signatures[i];
		bool there = !arch_read_components_provides(n, s->interface);

		for (uint32_t k = 0; !there && k < c->nr_operations; k++)
			there = c->operations[k].signature == i;
		if (!there)
			return reader_error(r, n,
					    "component %s provides %s, but says nothing of its "
					    "operation \"%s\"",
					    c->name, s->interface, s->name);
	}
	return 0;
}

static const struct field plain_text = FIELD(TEXT, NULL);
static const struct field text_or_texts[] = {
	FIELD(TEXT, NULL),
	FIELD(LIST, NULL, .item = &plain_text, .low = 1),
	{ 0 },
};
static const struct field role_item =
	FIELD(TEXT, NULL, .read = component_read_role, .expected = "the name of an interface");
static const struct field passive_item =
	FIELD(NUMBER, NULL, .computed = true, .low = 1, .read = component_read_passive,
	      .expected = "a number or an expression");
static const struct field operation_item =
	FIELD_AS(&arch_actions, NULL, .read = component_read_operation);
static const struct field component_fields[] = {
	FIELD(EITHER, "provides", .item = text_or_texts, .read = component_read_provides,
	      .required = true, .expected = "the name of an interface, or a list of some"),
	FIELD(MAP, "requires", .item = &role_item, .banned = ARCH_NOT_IN_NAMES,
	      .help = "roles, each with its interface"),
	FIELD(MAP, "passive", .item = &passive_item, .banned = ARCH_NOT_IN_NAMES,
	      .help = "passive resources and how many units each has"),
	FIELD(MAP, "operations", .item = &operation_item, .expected = "names and actions"),
	FIELD_AS(&arch_sets_field, "parameters", .read = reader_later),
	{ 0 },
};
static const struct fields component_table = { .fields = component_fields };

static int component_read(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *n, void *to)
{
	struct arch_reader *reader = r->context;
	struct arch_model *m = reader->m;
	struct arch_component *c = ARCH_ADD(m->components, m->nr_components);
	int ret;

	(void)to;
	if (!c)
		return fields_no_memory(r);
	reader->component = m->nr_components - 1;
	c->at = reader_place(n);
	c->name = reader_copy(r, n->key);
	if (!c->name)
		return -ENOMEM;
	ret = fields_read(r, f->of, n, c);
	return ret ? ret : component_check_complete(r, n, c);
}

static const struct field component_item =
	FIELD(STRUCT, NULL, .of = &component_table, .read = component_read);
const struct field arch_components =
	FIELD(MAP, "components", .item = &component_item, .low = 1, .banned = ARCH_NOT_IN_NAMES,
	      .expected = "one component at least");

/* This struct holds the contents of an instance's mapping in the file. */
struct arch_instance_said {
	uint32_t component, replicas;
	const struct yaml_node *containers;
};
#define SAID(member) offsetof(struct arch_instance_said, member)

static int instance_read_component(const struct fields_reader *r, const struct field *f,
				   const struct yaml_node *n, void *to)
{
	const struct arch_model *m = component_model(r);
	uint32_t *index = to;

	(void)f;
	for (*index = 0; *index < m->nr_components; ++*index)
		if (!strcmp(m->components[*index].name, n->text))
			return 0;
	return reader_error(r, n, "no component \"%.60s\"", n->text);
}

static int instance_read_containers(const struct fields_reader *r, const struct field *f,
				    const struct yaml_node *n, void *to)
{
	struct arch_instance_said *said = to;

	if (n->kind == YAML_MAP || !list_size(n))
		return fields_expected(r, f, n);
	said->containers = n;
	said->replicas = (uint32_t)list_size(n);
	return 0;
}

static int container_of(const struct fields_reader *r, const struct yaml_node *n,
			uint32_t *container)
{
	if (n->kind != YAML_SCALAR || !*n->text)
		return fields_error(r, n, "expected the name of a container");
	*container = arch_find_container(component_model(r), n->text);
	return *container == ARCH_NONE ? reader_error(r, n, "no container \"%.60s\"", n->text) : 0;
}

/* Sets the component's own parameters, and then those of the instance, which override them. */
static int instance_sets(const struct fields_reader *r, const struct yaml_node *n,
			 struct arch_instance *instance)
{
	const struct arch_reader *reader = r->context;
	const struct yaml_node *component = reader->components->items[instance->component];
	const struct yaml_node *sets[] = { yaml_node_get(component, "parameters"),
					   yaml_node_get(n, "parameters") };

	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		int ret = sets[i] ? fields_read_value(r, &arch_sets_field, sets[i], &instance->sets)
				  : 0;

		if (ret)
			return ret;
	}
	return 0;
}

static int instance_add(const struct fields_reader *r, const struct yaml_node *n,
			uint32_t component, const char *name, const struct yaml_node *container)
{
	struct arch_model *m = component_model(r);
	struct arch_instance *instance = ARCH_ADD(m->instances, m->nr_instances);
	uint32_t nr_roles = m->components[component].nr_roles;
	int ret;

	if (!instance)
		return fields_no_memory(r);
	instance->at = reader_place(n);
	instance->component = component;
	instance->name = reader_copy(r, name);
	instance->wires = malloc((nr_roles + 1) * sizeof(*instance->wires));
	if (!instance->name || !instance->wires)
		return fields_no_memory(r);
	for (uint32_t i = 0; i < nr_roles; i++)
		instance->wires[i] = ARCH_NONE;
	ret = container_of(r, container, &instance->container);
	return ret ? ret : instance_sets(r, n, instance);
}

static const struct field instance_connect =
	FIELD(TEXT, NULL, .expected = "the name of an instance");
static const struct field instance_fields[] = {
	FIELD(TEXT, "component", .offset = SAID(component), .read = instance_read_component,
	      .required = true, .expected = "the name of a component"),
	FIELD(EITHER, "container", .item = text_or_texts, .read = instance_read_containers,
	      .required = true, .expected = "one container at least"),
	FIELD(COUNT, "replicas", .computed = true, .low = 1, .high = MAX_REPLICAS,
	      .offset = SAID(replicas), .read = reader_whole),
	FIELD(MAP, "connects", .item = &instance_connect, .banned = ARCH_NOT_IN_NAMES,
	      .read = reader_later, .help = "roles, each with an instance"),
	FIELD_AS(&arch_sets_field, "parameters", .read = reader_later),
	{ 0 },
};
static const struct fields instance_table = { .fields = instance_fields };

/* Reads an instance, or one instance per replica: NAME, or NAME#1, NAME#2 and so on. */
static int instance_read(const struct fields_reader *r, const struct field *f,
			 const struct yaml_node *n, void *to)
{
	struct arch_model *m = component_model(r);
	struct arch_instance_said said = { 0 };
	uint32_t first = m->nr_instances;
	int ret = fields_read(r, f->of, n, &said);

	(void)to;
	if (ret)
		return ret;
	for (uint32_t i = 0; i < said.replicas; i++) {
		char name[256];

		/*
		 * The first replica keeps the name that wires and calls look for, until everything
		 * is read.
		 */
		snprintf(name, sizeof(name), "%s#%u", n->key, i + 1);
		ret = instance_add(r, n, said.component, i ? name : n->key,
				   list_item(said.containers, i % list_size(said.containers)));
		if (ret)
			return ret;
	}
	if (said.replicas > 1)
		m->instances[first].replicas = said.replicas;
	return 0;
}

static int instance_connect_role(const struct fields_reader *r, const struct yaml_node *n,
				 uint32_t index)
{
	const struct arch_reader *reader = r->context;
	const struct arch_instance *instance = &reader->m->instances[index];
	const struct arch_component *c = &reader->m->components[instance->component];
	const struct yaml_node *const *all =
		(const struct yaml_node *const *)reader->components->items;
	const struct yaml_node *other =
		yaml_node_get(yaml_node_get(all[instance->component], "requires"), n->key);
	uint32_t target, role = 0;

	if (n->kind != YAML_SCALAR || !*n->text)
		return fields_expected(r, &instance_connect, n);
	if (!other)
		return reader_error(r, n, "component %s requires no \"%.60s\"", c->name, n->key);
	target = arch_find_instance(reader->m, n->text);
	if (target == ARCH_NONE)
		return reader_error(r, n, "no instance \"%.60s\" in the assembly", n->text);
	if (!arch_read_components_provides(all[reader->m->instances[target].component],
					   other->text))
		return reader_error(r, n, "%s does not provide %s, which \"%s\" requires", n->text,
				    other->text, n->key);
	while (strcmp(c->roles[role].name, n->key))
		role++;
	instance->wires[role] = target;
	return 0;
}

/* Connects the wires of an instance and of its replicas, which follow it. */
static int instance_connect_all(const struct fields_reader *r, const struct yaml_node *n)
{
	const struct arch_model *m = component_model(r);
	const struct yaml_node *list = yaml_node_get(n, "connects");
	uint32_t first = arch_find_instance(m, n->key);
	uint32_t nr = m->instances[first].replicas > 1 ? m->instances[first].replicas : 1;

	for (uint32_t i = first; i < first + nr; i++) {
		for (size_t k = 0; list && k < list->nr; k++) {
			int ret = instance_connect_role(r, list->items[k], i);

			if (ret)
				return ret;
		}
	}
	return 0;
}

static const struct field instance_item =
	FIELD(STRUCT, NULL, .of = &instance_table, .read = instance_read);

static int assembly_read(const struct fields_reader *r, const struct field *f,
			 const struct yaml_node *n, void *to)
{
	(void)f;
	for (size_t i = 0; i < n->nr; i++) {
		int ret = fields_read_value(r, &instance_item, n->items[i], to);

		if (ret)
			return ret;
	}
	for (size_t i = 0; i < n->nr; i++) {
		int ret = instance_connect_all(r, n->items[i]);

		if (ret)
			return ret;
	}
	return 0;
}

const struct field arch_assembly =
	FIELD(MAP, "assembly", .item = &instance_item, .read = assembly_read, .low = 1,
	      .banned = ARCH_NOT_IN_NAMES, .expected = "one instance at least",
	      .help = "instances; calls of a replicated one are spread at random, each replica as "
		      "likely");
