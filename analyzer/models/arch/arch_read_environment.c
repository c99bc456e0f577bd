// SPDX-License-Identifier: Apache-2.0
/* File sets, containers with their resources, links; and who uses the system. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_reader.h"

#define MAX_SERVERS 1000000

static int read_file_set(struct arch_reader *r, const struct yaml_node *node)
{
	static const char *const keys[] = { "size", NULL };
	const struct yaml_node *size = node;
	struct arch_file_set *f = ARCH_ADD(r->m->file_sets, r->m->nr_file_sets);

	if (!f)
		return reader_no_memory(r);
	f->name = reader_copy(r, node->key);
	if (!f->name)
		return -ENOMEM;
	if (node->kind == YAML_MAP) {
		if (yaml_tree_keys(r->tree, node, keys, r->err))
			return -EINVAL;
		size = reader_need(r, node, "size");
	}
	return size ? reader_expression(r, size, 0, &f->size) : -EINVAL;
}

int reader_file_sets(struct arch_reader *r, const struct yaml_node *node)
{
	int ret = reader_names(r, node);

	if (ret)
		return ret;
	for (size_t i = 0; node && i < node->nr; i++) {
		ret = read_file_set(r, node->items[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_policy(struct arch_reader *r, const struct yaml_node *node,
		       enum arch_policy *policy)
{
	static const char *const names[] = { "ps", "fcfs", "delay" };
	const char *text = reader_text(r, node, "ps, fcfs or delay");

	for (size_t i = 0; text && i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(text, names[i])) {
			*policy = (enum arch_policy)i;
			return 0;
		}
	}
	return text ? reader_error(r, node, "policy: expected ps, fcfs or delay") : -EINVAL;
}

static struct arch_resource *add_resource(struct arch_reader *r, const struct yaml_node *at,
					  const char *name, uint32_t container)
{
	struct arch_resource *x = ARCH_ADD(r->m->resources, r->m->nr_resources);

	if (x) {
		x->at = reader_place(at);
		x->container = container;
		x->servers = 1;
		x->name = reader_copy(r, name);
	}
	if (!x || !x->name) {
		reader_no_memory(r);
		return NULL;
	}
	return x;
}

static int read_rate(struct arch_reader *r, const struct yaml_node *map, const char *key,
		     struct stoex **rate)
{
	const struct yaml_node *node = yaml_node_get(map, key);
	double value;
	int ret = node ? reader_expression(r, node, 0, rate) : 0;

	if (ret)
		return ret;
	if (node && stoex_is_constant(*rate, &value) && !(value > 0))
		return reader_error(r, node, "%s: expected more than 0", key);
	return 0;
}

/* A resource as a mapping; cpu may be its number of cores alone. */
static int read_resource(struct arch_reader *r, const struct yaml_node *node, uint32_t container)
{
	static const char *const keys[] = { "cores",	 "servers",    "rate", "policy",
					    "read_rate", "write_rate", NULL };
	const struct yaml_node *n, *cores = node;
	struct arch_resource *x = add_resource(r, node, node->key, container);
	int ret;

	if (!x)
		return -ENOMEM;
	x->type = reader_type(r, node->key);
	if (x->type == ARCH_NONE)
		return -ENOMEM;
	x->policy = strcmp(node->key, "cpu") ? ARCH_FCFS : ARCH_PS;
	if (node->kind == YAML_SCALAR)
		return reader_whole(r, node, 1, MAX_SERVERS, &x->servers);
	ret = yaml_tree_keys(r->tree, node, keys, r->err);
	if (ret)
		return ret;
	cores = yaml_node_get(node, "cores");
	if (cores && yaml_node_get(node, "servers"))
		return reader_error(r, cores,
				    "\"cores\" and \"servers\" are the same: expected one");
	cores = cores ? cores : yaml_node_get(node, "servers");
	if (cores)
		ret = reader_whole(r, cores, 1, MAX_SERVERS, &x->servers);
	if (!ret && (n = yaml_node_get(node, "policy")))
		ret = read_policy(r, n, &x->policy);
	if (!ret)
		ret = read_rate(r, node, "rate", &x->rate);
	if (!ret)
		ret = read_rate(r, node, "read_rate", &x->read_rate);
	return ret ? ret : read_rate(r, node, "write_rate", &x->write_rate);
}

/* Where some action is a delay, every container has it: as many servers as there are jobs. */
static int add_delay(struct arch_reader *r, const struct yaml_node *at, uint32_t container)
{
	uint32_t type = arch_find_type(r->m, "delay");
	struct arch_resource *x;

	if (type == ARCH_NONE)
		return 0;
	x = add_resource(r, at, "delay", container);
	if (!x)
		return -ENOMEM;
	x->type = type;
	x->policy = ARCH_DELAY;
	return 0;
}

static int container_storage(struct arch_reader *r, const struct yaml_node *node, uint32_t *storage)
{
	const char *name = reader_text(r, node, "the name of a storage");

	for (*storage = 0; name && *storage < r->m->nr_storages; ++*storage)
		if (!strcmp(r->m->storages[*storage].name, name))
			return 0;
	return name ? reader_error(r, node, "no storage \"%.60s\"", name) : -EINVAL;
}

static int container_parent(struct arch_reader *r, const struct yaml_node *node,
			    struct arch_container *c)
{
	const char *name = reader_text(r, node, "the name of a container");

	if (!name)
		return -EINVAL;
	c->parent = arch_find_container(r->m, name);
	if (c->parent == ARCH_NONE || &r->m->containers[c->parent] == c)
		return reader_error(r, node, "no container \"%.60s\" before this one", name);
	return 0;
}

static int read_container(struct arch_reader *r, const struct yaml_node *node)
{
	static const char *const keys[] = { "cpu", "resources", "storage", "in", NULL };
	struct arch_container *c = ARCH_ADD(r->m->containers, r->m->nr_containers);
	uint32_t index = r->m->nr_containers - 1;
	const struct yaml_node *n;
	int ret;

	if (!c)
		return reader_no_memory(r);
	c->parent = c->storage = ARCH_NONE;
	c->at = reader_place(node);
	c->name = reader_copy(r, node->key);
	if (!c->name)
		return -ENOMEM;
	ret = yaml_tree_keys(r->tree, node, keys, r->err);
	if (!ret && (n = yaml_node_get(node, "in")))
		ret = container_parent(r, n, c);
	if (!ret && (n = yaml_node_get(node, "storage")))
		ret = container_storage(r, n, &c->storage);
	if (!ret && (n = yaml_node_get(node, "cpu")))
		ret = read_resource(r, n, index);
	n = yaml_node_get(node, "resources");
	if (!ret)
		ret = reader_names(r, n);
	for (size_t i = 0; !ret && n && i < n->nr; i++) {
		if (!strcmp(n->items[i]->key, "cpu") || !strcmp(n->items[i]->key, "delay"))
			return reader_error(r, n->items[i], "%s: stands beside \"resources\"",
					    n->items[i]->key);
		ret = read_resource(r, n->items[i], index);
	}
	return ret ? ret : add_delay(r, node, index);
}

static int join_containers(struct arch_reader *r, const struct yaml_node *node, struct arch_link *l)
{
	if (node->kind != YAML_LIST || node->nr < 2)
		return reader_error(r, node, "joins: expected two containers or more");
	for (size_t i = 0; i < node->nr; i++) {
		const char *name = reader_text(r, node->items[i], "the name of a container");
		uint32_t index = name ? arch_find_container(r->m, name) : ARCH_NONE;
		uint32_t *more = index == ARCH_NONE ? NULL : ARCH_ADD(l->containers, l->nr);

		if (!name)
			return -EINVAL;
		if (index == ARCH_NONE)
			return reader_error(r, node->items[i], "no container \"%.60s\"", name);
		if (!more)
			return reader_no_memory(r);
		*more = index;
	}
	return 0;
}

static int read_link(struct arch_reader *r, const struct yaml_node *node)
{
	static const char *const keys[] = { "joins", "throughput", "latency", NULL };
	struct arch_link *l = ARCH_ADD(r->m->links, r->m->nr_links);
	struct arch_resource *x = l ? add_resource(r, node, node->key, ARCH_NONE) : NULL;
	const struct yaml_node *joins, *latency;
	int ret;

	if (!x)
		return reader_no_memory(r);
	l->resource = r->m->nr_resources - 1;
	x->policy = ARCH_FCFS;
	x->type = ARCH_NONE;
	ret = yaml_tree_keys(r->tree, node, keys, r->err);
	joins = ret ? NULL : reader_need(r, node, "joins");
	if (!joins)
		return -EINVAL;
	latency = yaml_node_get(node, "latency");
	if (!latency && !yaml_node_get(node, "throughput"))
		return reader_error(r, node, "link %s: expected a throughput or a latency",
				    node->key);
	ret = join_containers(r, joins, l);
	if (!ret)
		ret = read_rate(r, node, "throughput", &x->rate);
	return ret || !latency ? ret : reader_expression(r, latency, 0, &l->latency);
}

int reader_environment(struct arch_reader *r, const struct yaml_node *root)
{
	const struct yaml_node *list = yaml_node_get(root, "containers");
	int ret = reader_names(r, list);

	if (!ret && (!list || !list->nr))
		ret = reader_error(r, list, "containers: expected one at least");
	for (size_t i = 0; !ret && i < list->nr; i++)
		ret = read_container(r, list->items[i]);
	list = yaml_node_get(root, "links");
	if (ret)
		return ret;
	ret = reader_names(r, list);
	if (ret)
		return ret;
	for (size_t i = 0; list && i < list->nr; i++) {
		ret = read_link(r, list->items[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/* closed: clients, think; open: interarrival */
static int read_load(struct arch_reader *r, const struct yaml_node *node, struct arch_scenario *s)
{
	const struct yaml_node *clients = yaml_node_get(node, "clients");
	const struct yaml_node *time = yaml_node_get(node, "interarrival");
	double value;
	int ret;

	s->open = time;
	if (!clients == !time)
		return reader_error(r, node,
				    "scenario %s: expected either \"clients\" or "
				    "\"interarrival\"",
				    node->key);
	if (s->open && yaml_node_get(node, "think"))
		return reader_error(r, yaml_node_get(node, "think"),
				    "think: only clients of a closed scenario do");
	if (s->open) {
		ret = reader_expression(r, time, 0, &s->time);
		if (!ret && stoex_is_constant(s->time, &value) && !(value > 0))
			ret = reader_error(r, time, "interarrival: expected more than 0");
		return ret;
	}
	ret = reader_expression(r, clients, 1, &s->population);
	if (!ret && stoex_is_constant(s->population, &value) && value != floor(value))
		ret = reader_error(r, clients, "clients: expected a whole number, got %g", value);
	if (ret)
		return ret;
	time = yaml_node_get(node, "think");
	if (time)
		return reader_expression(r, time, 0, &s->time);
	s->time = stoex_number(0, &r->m->names);
	return s->time ? 0 : reader_no_memory(r);
}

static int read_scenario(struct arch_reader *r, const struct yaml_node *node)
{
	static const char *const keys[] = { "clients", "think", "interarrival", "do", NULL };
	struct arch_scenario *s = ARCH_ADD(r->m->scenarios, r->m->nr_scenarios);
	const struct yaml_node *body;
	int ret;

	if (!s)
		return reader_no_memory(r);
	s->at = reader_place(node);
	s->name = reader_copy(r, node->key);
	if (!s->name)
		return -ENOMEM;
	ret = yaml_tree_keys(r->tree, node, keys, r->err);
	body = ret ? NULL : reader_need(r, node, "do");
	if (!body)
		return -EINVAL;
	ret = read_load(r, node, s);
	return ret ? ret : reader_behaviour(r, body, ARCH_NONE, &s->behaviour);
}

int reader_usage(struct arch_reader *r, const struct yaml_node *node)
{
	int ret = reader_names(r, node);

	if (ret)
		return ret;
	if (!node || !node->nr)
		ret = reader_error(r, node, "usage: expected one scenario at least");
	if (ret)
		return ret;
	for (size_t i = 0; i < node->nr; i++) {
		ret = read_scenario(r, node->items[i]);
		if (ret)
			return ret;
	}
	return 0;
}
