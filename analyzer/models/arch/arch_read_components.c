// SPDX-License-Identifier: Apache-2.0
/* Components: what they offer, require and keep; and the instances made of them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_reader.h"

#define MAX_REPLICAS 10000

static bool has_interface(const struct arch_reader *r, const char *name)
{
	for (uint32_t i = 0; i < r->m->nr_signatures; i++)
		if (!strcmp(r->m->signatures[i].interface, name))
			return true;
	return false;
}

/* The name of an interface that there is. */
static const char *interface_name(struct arch_reader *r, const struct yaml_node *node)
{
	const char *name = reader_text(r, node, "the name of an interface");

	if (!name || has_interface(r, name))
		return name;
	reader_error(r, node, "no interface \"%.60s\"", name);
	return NULL;
}

/* A scalar is a list of one. */
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
 * The signature NAME or INTERFACE.NAME among the provided interfaces: ARCH_NONE where there is
 * none, *ambiguous where there are several.
 */
static uint32_t find_provided(const struct arch_reader *r, const struct yaml_node *component,
			      const char *name, bool *ambiguous)
{
	const char *dot = strchr(name, '.'), *last = dot ? dot + 1 : name;
	uint32_t found = ARCH_NONE;

	*ambiguous = false;
	for (uint32_t i = 0; i < r->m->nr_signatures; i++) {
		const struct arch_signature *s = &r->m->signatures[i];

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

uint32_t reader_operation(const struct arch_reader *r, uint32_t component, const char *name)
{
	bool ambiguous;
	uint32_t i = find_provided(r, r->components->items[component], name, &ambiguous);

	return ambiguous ? ARCH_NONE : i;
}

static int read_roles(struct arch_reader *r, const struct yaml_node *node, struct arch_component *c)
{
	int ret = reader_names(r, node);

	if (ret)
		return ret;
	for (size_t i = 0; node && i < node->nr; i++) {
		struct arch_role *role = ARCH_ADD(c->roles, c->nr_roles);

		if (!role)
			return reader_no_memory(r);
		role->name = reader_copy(r, node->items[i]->key);
		if (!role->name)
			return -ENOMEM;
		if (!interface_name(r, node->items[i]))
			return -EINVAL;
	}
	return 0;
}

static int read_passives(struct arch_reader *r, const struct yaml_node *node,
			 struct arch_component *c)
{
	int ret = reader_names(r, node);

	if (ret)
		return ret;
	for (size_t i = 0; node && i < node->nr; i++) {
		struct arch_passive *p = ARCH_ADD(c->passives, c->nr_passives);

		if (!p)
			return reader_no_memory(r);
		p->name = reader_copy(r, node->items[i]->key);
		if (!p->name)
			return -ENOMEM;
		ret = reader_expression(r, node->items[i], 1, &p->capacity);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_operation(struct arch_reader *r, const struct yaml_node *component,
			  const struct yaml_node *node, uint32_t index)
{
	struct arch_component *c = &r->m->components[index];
	struct arch_operation *o;
	bool ambiguous;
	uint32_t signature = find_provided(r, component, node->key, &ambiguous), behaviour;
	int ret;

	if (signature == ARCH_NONE)
		return reader_error(r, node, "component %s provides no operation \"%.60s\"",
				    c->name, node->key);
	if (ambiguous)
		return reader_error(r, node,
				    "operation \"%s\" is of several interfaces: expected "
				    "INTERFACE.OPERATION",
				    node->key);
	for (uint32_t i = 0; i < c->nr_operations; i++)
		if (c->operations[i].signature == signature)
			return reader_error(r, node, "operation \"%s\" stands there twice",
					    node->key);
	ret = reader_behaviour(r, node, index, &behaviour);
	if (ret)
		return ret;
	o = ARCH_ADD(c->operations, c->nr_operations);
	if (!o)
		return reader_no_memory(r);
	*o = (struct arch_operation){ signature, behaviour };
	return 0;
}

/* All that its interfaces promise. */
static int check_complete(struct arch_reader *r, const struct yaml_node *node,
			  const struct arch_component *c)
{
	for (uint32_t i = 0; i < r->m->nr_signatures; i++) {
		const struct arch_signature *s = &r->m->signatures[i];
		bool there = !arch_read_components_provides(node, s->interface);

		for (uint32_t k = 0; !there && k < c->nr_operations; k++)
			there = c->operations[k].signature == i;
		if (!there)
			return reader_error(r, node,
					    "component %s provides %s, but says nothing of its "
					    "operation \"%s\"",
					    c->name, s->interface, s->name);
	}
	return 0;
}

static int read_component(struct arch_reader *r, const struct yaml_node *node)
{
	static const char *const keys[] = { "provides",	  "requires",	"passive",
					    "operations", "parameters", NULL };
	uint32_t index = r->m->nr_components;
	struct arch_component *c = ARCH_ADD(r->m->components, r->m->nr_components);
	const struct yaml_node *operations, *list;
	int ret;

	if (!c)
		return reader_no_memory(r);
	c->at = reader_place(node);
	c->name = reader_copy(r, node->key);
	if (!c->name)
		return -ENOMEM;
	ret = yaml_tree_keys(r->tree, node, keys, r->err);
	list = ret ? NULL : reader_need(r, node, "provides");
	if (!list)
		return -EINVAL;
	for (size_t i = 0; i < list_size(list); i++)
		if (!interface_name(r, list_item(list, i)))
			return -EINVAL;
	ret = read_roles(r, yaml_node_get(node, "requires"), c);
	if (!ret)
		ret = read_passives(r, yaml_node_get(node, "passive"), c);
	operations = yaml_node_get(node, "operations");
	if (!ret && operations && operations->kind != YAML_MAP)
		ret = reader_error(r, operations, "operations: expected names and actions");
	for (size_t i = 0; !ret && operations && i < operations->nr; i++)
		ret = read_operation(r, node, operations->items[i], index);
	return ret ? ret : check_complete(r, node, c);
}

int reader_components(struct arch_reader *r)
{
	int ret;

	if (!r->components || !r->components->nr)
		return reader_error(r, r->components, "components: expected one at least");
	ret = reader_names(r, r->components);
	if (ret)
		return ret;
	for (size_t i = 0; i < r->components->nr; i++) {
		ret = read_component(r, r->components->items[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static uint32_t find_component(const struct arch_model *m, const char *name)
{
	for (uint32_t i = 0; i < m->nr_components; i++)
		if (!strcmp(m->components[i].name, name))
			return i;
	return ARCH_NONE;
}

static int container_of(struct arch_reader *r, const struct yaml_node *node, uint32_t *container)
{
	const char *name = reader_text(r, node, "the name of a container");

	if (!name)
		return -EINVAL;
	*container = arch_find_container(r->m, name);
	return *container == ARCH_NONE ? reader_error(r, node, "no container \"%.60s\"", name) : 0;
}

/* The component's own parameters, changed by those of the instance, which come later. */
static int instance_sets(struct arch_reader *r, const struct yaml_node *node,
			 struct arch_instance *x)
{
	const struct yaml_node *component = r->components->items[x->component];
	int ret = reader_sets(r, yaml_node_get(component, "parameters"), &x->sets);

	return ret ? ret : reader_sets(r, yaml_node_get(node, "parameters"), &x->sets);
}

static int add_instance(struct arch_reader *r, const struct yaml_node *node, uint32_t component,
			const char *name, const struct yaml_node *container)
{
	struct arch_instance *x = ARCH_ADD(r->m->instances, r->m->nr_instances);
	uint32_t nr_roles = r->m->components[component].nr_roles;

	if (!x)
		return reader_no_memory(r);
	x->at = reader_place(node);
	x->component = component;
	x->name = reader_copy(r, name);
	x->wires = malloc((nr_roles + 1) * sizeof(*x->wires));
	if (!x->name || !x->wires)
		return reader_no_memory(r);
	for (uint32_t i = 0; i < nr_roles; i++)
		x->wires[i] = ARCH_NONE;
	if (container_of(r, container, &x->container))
		return -EINVAL;
	return instance_sets(r, node, x);
}

static int replica_count(struct arch_reader *r, const struct yaml_node *node,
			 const struct yaml_node *containers, uint32_t *nr)
{
	const struct yaml_node *replicas = yaml_node_get(node, "replicas");

	*nr = (uint32_t)list_size(containers);
	if (!*nr)
		return reader_error(r, containers, "container: expected one at least");
	return replicas ? reader_whole(r, replicas, 1, MAX_REPLICAS, nr) : 0;
}

/* An instance, or as many of it as there are replicas: NAME, or NAME#1, NAME#2... */
static int read_instance(struct arch_reader *r, const struct yaml_node *node)
{
	static const char *const keys[] = { "component", "container",  "replicas",
					    "connects",	 "parameters", NULL };
	const struct yaml_node *component, *containers;
	const char *text;
	uint32_t c, nr, first = r->m->nr_instances;
	int ret = yaml_tree_keys(r->tree, node, keys, r->err);

	if (ret)
		return ret;
	component = reader_need(r, node, "component");
	containers = component ? reader_need(r, node, "container") : NULL;
	text = containers ? reader_text(r, component, "the name of a component") : NULL;
	if (!text)
		return -EINVAL;
	c = find_component(r->m, text);
	if (c == ARCH_NONE)
		return reader_error(r, component, "no component \"%.60s\"", text);
	ret = replica_count(r, node, containers, &nr);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < nr; i++) {
		char name[256];

		/* The first has the name that wires and calls look for, until all are read. */
		snprintf(name, sizeof(name), "%s#%u", node->key, i + 1);
		ret = add_instance(r, node, c, i ? name : node->key,
				   list_item(containers, i % list_size(containers)));
		if (ret)
			return ret;
	}
	if (nr > 1)
		r->m->instances[first].replicas = nr;
	return 0;
}

static int arch_read_components_connect(struct arch_reader *r, const struct yaml_node *node,
					uint32_t instance)
{
	const struct arch_instance *x = &r->m->instances[instance];
	const struct arch_component *c = &r->m->components[x->component];
	const struct yaml_node *requires =
		yaml_node_get(r->components->items[x->component], "requires");
	const struct yaml_node *other = yaml_node_get(requires, node->key);
	const char *name = reader_text(r, node, "the name of an instance");
	uint32_t target, role = 0;

	if (!name)
		return -EINVAL;
	if (!other)
		return reader_error(r, node, "component %s requires no \"%.60s\"", c->name,
				    node->key);
	target = arch_find_instance(r->m, name);
	if (target == ARCH_NONE)
		return reader_error(r, node, "no instance \"%.60s\" in the assembly", name);
	if (!arch_read_components_provides(r->components->items[r->m->instances[target].component],
					   other->text))
		return reader_error(r, node, "%s does not provide %s, which \"%s\" requires", name,
				    other->text, node->key);
	while (strcmp(c->roles[role].name, node->key))
		role++;
	x->wires[role] = target;
	return 0;
}

/* Wires of an instance and its replicas, which follow it. */
static int connect_instance(struct arch_reader *r, const struct yaml_node *node)
{
	const struct yaml_node *list = yaml_node_get(node, "connects");
	uint32_t first = arch_find_instance(r->m, node->key), nr;
	int ret = reader_names(r, list);

	nr = r->m->instances[first].replicas > 1 ? r->m->instances[first].replicas : 1;
	if (ret)
		return ret;
	for (uint32_t i = first; i < first + nr; i++) {
		for (size_t k = 0; !ret && list && k < list->nr; k++)
			ret = arch_read_components_connect(r, list->items[k], i);
		if (ret)
			return ret;
	}
	return 0;
}

int reader_assembly(struct arch_reader *r)
{
	int ret;

	if (!r->assembly || !r->assembly->nr)
		return reader_error(r, r->assembly, "assembly: expected one instance at least");
	ret = reader_names(r, r->assembly);
	if (ret)
		return ret;
	for (size_t i = 0; i < r->assembly->nr; i++) {
		ret = read_instance(r, r->assembly->items[i]);
		if (ret)
			return ret;
	}
	for (size_t i = 0; i < r->assembly->nr; i++) {
		ret = connect_instance(r, r->assembly->items[i]);
		if (ret)
			return ret;
	}
	return 0;
}
