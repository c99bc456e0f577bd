// SPDX-License-Identifier: Apache-2.0
/* Actions of a behaviour. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_reader.h"

#define MAX_BODIES 1000

static int read_demand(struct arch_reader *r, const struct yaml_node *node, uint32_t component,
		       struct arch_action *a)
{
	(void)component;
	a->kind = ARCH_DEMAND;
	a->demand.type = reader_type(r, node->key);
	if (a->demand.type == ARCH_NONE)
		return -ENOMEM;
	return reader_expression(r, node, 0, &a->demand.amount);
}

static int read_direction(struct arch_reader *r, const struct yaml_node *node,
			  enum arch_direction *direction)
{
	const char *text = reader_text(r, node, "read or write");

	if (!text)
		return -EINVAL;
	*direction = !strcmp(text, "read")    ? ARCH_READ
		     : !strcmp(text, "write") ? ARCH_WRITE
					      : ARCH_ANY;
	return *direction == ARCH_ANY ? reader_error(r, node, "expected read or write") : 0;
}

/* Work for a resource that is neither cpu nor delay. */
static int read_resource_demand(struct arch_reader *r, const struct yaml_node *node,
				uint32_t component, struct arch_action *a)
{
	static const char *const keys[] = { "resource", "amount", "direction", NULL };
	const struct yaml_node *name, *amount, *direction;
	const char *text;

	(void)component;
	a->kind = ARCH_DEMAND;
	if (yaml_tree_keys(r->tree, node, keys, r->err))
		return -EINVAL;
	name = reader_need(r, node, "resource");
	amount = name ? reader_need(r, node, "amount") : NULL;
	text = amount ? reader_text(r, name, "the name of a resource") : NULL;
	if (!text)
		return -EINVAL;
	a->demand.type = reader_type(r, text);
	if (a->demand.type == ARCH_NONE)
		return -ENOMEM;
	direction = yaml_node_get(node, "direction");
	if (direction && read_direction(r, direction, &a->demand.direction))
		return -EINVAL;
	return reader_expression(r, amount, 0, &a->demand.amount);
}

static int find_file_set(struct arch_reader *r, const struct yaml_node *node, uint32_t *index)
{
	const char *name = reader_text(r, node, "the name of a file set");

	for (*index = 0; name && *index < r->m->nr_file_sets; ++*index)
		if (!strcmp(r->m->file_sets[*index].name, name))
			return 0;
	return name ? reader_error(r, node, "no file set \"%.60s\"", name) : -EINVAL;
}

static int read_io(struct arch_reader *r, const struct yaml_node *node, uint32_t component,
		   struct arch_action *a)
{
	static const char *const keys[] = { "read", "write", "sequential", "file_set", NULL };
	const struct yaml_node *n;
	double p;
	int ret = yaml_tree_keys(r->tree, node, keys, r->err);

	(void)component;
	a->kind = ARCH_IO;
	a->io.file_set = ARCH_NONE;
	if (ret)
		return ret;
	if (!yaml_node_get(node, "read") == !yaml_node_get(node, "write"))
		return reader_error(r, node,
				    "io: expected the size of a \"read\" or of a \"write\"");
	n = yaml_node_get(node, "read");
	a->io.direction = n ? ARCH_READ : ARCH_WRITE;
	n = n ? n : yaml_node_get(node, "write");
	ret = reader_expression(r, n, 0, &a->io.size);
	if (ret)
		return ret;
	if (stoex_is_constant(a->io.size, &p) && !(p > 0))
		return reader_error(r, n, "%s: expected more than 0 bytes", n->key);
	if ((n = yaml_node_get(node, "sequential"))) {
		ret = reader_expression(r, n, 0, &a->io.sequential);
		if (!ret && stoex_is_constant(a->io.sequential, &p) && p > 1)
			ret = reader_error(r, n, "sequential: expected a probability, got %g", p);
	}
	if (ret)
		return ret;
	if ((n = yaml_node_get(node, "file_set")))
		ret = find_file_set(r, n, &a->io.file_set);
	return ret;
}

/* "ROLE.OPERATION" of a component. */
static int call_of_role(struct arch_reader *r, const struct yaml_node *node, uint32_t component,
			const char *owner, const char *operation, struct arch_action *a)
{
	const struct arch_component *c = &r->m->components[component];
	const struct yaml_node *requires =
		yaml_node_get(r->components->items[component], "requires");

	for (uint32_t i = 0; i < c->nr_roles; i++) {
		const char *interface;

		if (strcmp(c->roles[i].name, owner))
			continue;
		interface = yaml_node_get(requires, owner)->text;
		a->call.role = i;
		a->call.signature = arch_find_signature(r->m, interface, operation);
		if (a->call.signature == ARCH_NONE)
			return reader_error(r, node, "interface %s has no operation \"%.60s\"",
					    interface, operation);
		return 0;
	}
	return reader_error(r, node, "component %s requires no \"%.60s\"", c->name, owner);
}

/* "INSTANCE.OPERATION" of a scenario. */
static int call_of_instance(struct arch_reader *r, const struct yaml_node *node, const char *owner,
			    const char *operation, struct arch_action *a)
{
	a->call.role = arch_find_instance(r->m, owner);
	if (a->call.role == ARCH_NONE)
		return reader_error(r, node, "no instance \"%.60s\" in the assembly", owner);
	a->call.signature = reader_operation(r, r->m->instances[a->call.role].component, operation);
	if (a->call.signature == ARCH_NONE)
		return reader_error(r, node, "%s has no operation \"%.60s\"", owner, operation);
	return 0;
}

static int read_call(struct arch_reader *r, const struct yaml_node *node, uint32_t component,
		     struct arch_action *a)
{
	const char *text = reader_text(r, node, "what is called, as in disk.read");
	const char *dot = text ? strchr(text, '.') : NULL;
	char *owner;
	int ret;

	a->kind = ARCH_CALL;
	if (!text)
		return -EINVAL;
	if (!dot)
		return reader_error(r, node, "call: expected %s and its operation, as in %s.read",
				    component == ARCH_NONE ? "an instance" : "a required role",
				    component == ARCH_NONE ? "server" : "disk");
	owner = strndup(text, (size_t)(dot - text));
	if (!owner)
		return reader_no_memory(r);
	ret = component == ARCH_NONE ? call_of_instance(r, node, owner, dot + 1, a)
				     : call_of_role(r, node, component, owner, dot + 1, a);
	free(owner);
	return ret;
}

static int read_loop(struct arch_reader *r, const struct yaml_node *node, uint32_t component,
		     struct arch_action *a)
{
	static const char *const keys[] = { "count", "do", NULL };
	const struct yaml_node *count, *body;
	int ret = yaml_tree_keys(r->tree, node, keys, r->err);

	a->kind = ARCH_LOOP;
	a->loop.collection = ARCH_NONE;
	if (ret)
		return ret;
	count = reader_need(r, node, "count");
	body = count ? reader_need(r, node, "do") : NULL;
	if (!body)
		return -EINVAL;
	ret = reader_expression(r, count, 0, &a->loop.count);
	return ret ? ret : reader_behaviour(r, body, component, &a->loop.body);
}

static int read_case(struct arch_reader *r, const struct yaml_node *node, uint32_t component,
		     struct arch_action *a)
{
	static const char *const keys[] = { "probability", "when", "do", NULL };
	const struct yaml_node *p, *when, *body;
	struct arch_case *c = ARCH_ADD(a->branch.cases, a->branch.nr);
	int ret;

	if (!c)
		return reader_no_memory(r);
	if (yaml_tree_keys(r->tree, node, keys, r->err) || !(body = reader_need(r, node, "do")))
		return -EINVAL;
	p = yaml_node_get(node, "probability");
	when = yaml_node_get(node, "when");
	if (!p == !when || (a->branch.nr > 1 && a->branch.guarded != !!when))
		return reader_error(r, node,
				    "expected either a \"probability\" in every case of the "
				    "branch, or a \"when\"");
	a->branch.guarded = when;
	ret = when ? reader_expression(r, when, -INFINITY, &c->guard)
		   : reader_number(r, p, 0, 1, &c->probability);
	return ret ? ret : reader_behaviour(r, body, component, &c->body);
}

static int read_branch(struct arch_reader *r, const struct yaml_node *node, uint32_t component,
		       struct arch_action *a)
{
	int ret = 0;

	a->kind = ARCH_BRANCH;
	if (node->kind != YAML_LIST || !node->nr)
		return reader_error(r, node, "branch: expected a list of cases");
	for (size_t i = 0; i < node->nr; i++) {
		ret = read_case(r, node->items[i], component, a);
		if (ret)
			return ret;
	}
	return 0;
}

/* Those of one list that follow the fork's others. */
static int read_bodies(struct arch_reader *r, const struct yaml_node *node, uint32_t component,
		       struct arch_action *a)
{
	if (node->kind != YAML_LIST || !node->nr || node->nr > MAX_BODIES)
		return reader_error(r, node, "%s: expected a list of lists of actions", node->key);
	for (size_t i = 0; i < node->nr; i++) {
		uint32_t index;
		int ret = reader_behaviour(r, node->items[i], component, &index);
		uint32_t *body = ret ? NULL : ARCH_ADD(a->fork.bodies, a->fork.nr);

		if (ret)
			return ret;
		if (!body)
			return reader_no_memory(r);
		*body = index;
	}
	return 0;
}

static int read_fork(struct arch_reader *r, const struct yaml_node *node, uint32_t component,
		     struct arch_action *a)
{
	static const char *const keys[] = { "join", "detach", NULL };
	const struct yaml_node *join, *detach;
	int ret = yaml_tree_keys(r->tree, node, keys, r->err);

	a->kind = ARCH_FORK;
	if (ret)
		return ret;
	join = yaml_node_get(node, "join");
	detach = yaml_node_get(node, "detach");
	if (!join && !detach)
		return reader_error(r, node, "fork: expected \"join\" or \"detach\"");
	if (join)
		ret = read_bodies(r, join, component, a);
	a->fork.nr_joined = a->fork.nr;
	return ret || !detach ? ret : read_bodies(r, detach, component, a);
}

static int read_passive_use(struct arch_reader *r, const struct yaml_node *node, uint32_t component,
			    struct arch_action *a)
{
	const char *name = reader_text(r, node, "the name of a passive resource");
	const struct arch_component *c;

	a->kind = strcmp(node->key, "acquire") ? ARCH_RELEASE : ARCH_ACQUIRE;
	if (!name)
		return -EINVAL;
	if (component == ARCH_NONE)
		return reader_error(r, node, "%s: a scenario has no passive resources", node->key);
	c = &r->m->components[component];
	for (a->passive = 0; a->passive < c->nr_passives; a->passive++)
		if (!strcmp(c->passives[a->passive].name, name))
			return 0;
	return reader_error(r, node, "component %s has no passive resource \"%.60s\"", c->name,
			    name);
}

static int read_set(struct arch_reader *r, const struct yaml_node *node, uint32_t component,
		    struct arch_action *a)
{
	(void)component;
	a->kind = ARCH_SET;
	return reader_sets(r, node, &a->set);
}

static const struct form {
	const char *key;
	int (*read)(struct arch_reader *r, const struct yaml_node *node, uint32_t component,
		    struct arch_action *a);
} forms[] = {
	{ "cpu", read_demand },
	{ "delay", read_demand },
	{ "demand", read_resource_demand },
	{ "io", read_io },
	{ "call", read_call },
	{ "loop", read_loop },
	{ "branch", read_branch },
	{ "fork", read_fork },
	{ "acquire", read_passive_use },
	{ "release", read_passive_use },
	{ "set", read_set },
};

#define NR_FORMS (sizeof(forms) / sizeof(*forms))

/* What stands beside the one key that says what the action is. */
static int read_beside(struct arch_reader *r, const struct yaml_node *node, struct arch_action *a)
{
	for (size_t i = 0; i < node->nr; i++) {
		const struct yaml_node *n = node->items[i];
		int ret = 0;

		if (!strcmp(n->key, "name")) {
			const char *name = reader_text(r, n, "a name");

			a->name = name ? reader_copy(r, name) : NULL;
			ret = a->name ? 0 : -r->err->code;
		} else if (a->kind == ARCH_CALL && !strcmp(n->key, "with")) {
			ret = reader_sets(r, n, &a->call.in);
		} else if (a->kind == ARCH_CALL && !strcmp(n->key, "returns")) {
			ret = reader_sets(r, n, &a->call.out);
		}
		if (ret)
			return ret;
	}
	return 0;
}

static const struct form *find_form(const char *key)
{
	for (size_t k = 0; k < NR_FORMS; k++)
		if (!strcmp(forms[k].key, key))
			return &forms[k];
	return NULL;
}

/* The one key of an action that says what it is. */
static int action_form(struct arch_reader *r, const struct yaml_node *node,
		       const struct form **form, const struct yaml_node **value)
{
	*form = NULL;
	if (node->kind != YAML_MAP)
		return reader_error(r, node, "expected an action, as in {cpu: 5ms}");
	for (size_t i = 0; i < node->nr; i++) {
		const char *key = node->items[i]->key;
		const struct form *f = find_form(key);

		if (f && *form)
			return reader_error(r, node->items[i], "\"%s\" and \"%s\" in one action",
					    (*form)->key, key);
		if (f) {
			*form = f;
			*value = node->items[i];
		} else if (strcmp(key, "name") && strcmp(key, "with") && strcmp(key, "returns")) {
			return reader_error(r, node->items[i],
					    "unknown action \"%.60s\": expected cpu, delay, "
					    "demand, io, call, loop, branch, fork, acquire, "
					    "release or set",
					    key);
		}
	}
	if (!*form)
		return reader_error(r, node, "expected an action, as in {cpu: 5ms}");
	if ((*form)->read != read_call &&
	    (yaml_node_get(node, "with") || yaml_node_get(node, "returns")))
		return reader_error(r, node, "\"with\" and \"returns\" belong to a call");
	return 0;
}

int reader_behaviour(struct arch_reader *r, const struct yaml_node *list, uint32_t component,
		     uint32_t *index)
{
	if (list->kind != YAML_LIST)
		return reader_error(r, list, "%s%sexpected a list of actions",
				    list->key ? list->key : "", list->key ? ": " : "");
	*index = r->m->nr_behaviours;
	if (!ARCH_ADD(r->m->behaviours, r->m->nr_behaviours))
		return reader_no_memory(r);
	for (size_t i = 0; i < list->nr; i++) {
		const struct yaml_node *value = NULL;
		const struct form *form;
		struct arch_action *a;
		int ret = action_form(r, list->items[i], &form, &value);

		if (ret)
			return ret;
		/* Its place does not move while bodies inside it are read. */
		a = arch_add_action(&r->m->behaviours[*index]);
		if (!a)
			return reader_no_memory(r);
		a->at = reader_place(list->items[i]);
		ret = form->read(r, value, component, a);
		if (!ret)
			ret = read_beside(r, list->items[i], a);
		if (ret)
			return ret;
	}
	return 0;
}
