// SPDX-License-Identifier: Apache-2.0
/*
 * The YAML form of a net, docs/qpn.schema.json. Places are read before transitions, so that every
 * arc can be checked as it is read; subnets are unfolded: "S" with inner places becomes "S/inner".
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/expr.h"
#include "analyzer/models/net/net_dist.h"
#include "analyzer/models/net/net_read.h"

int net_read_value(struct net_reader *r, const struct yaml_node *node, double *value)
{
	struct err why = { 0 };

	if (node->kind != YAML_SCALAR)
		return yaml_tree_error(r->tree, node, r->err, "expected a number or an expression");
	if (expr_value(&r->scope, node->text, value, &why))
		return yaml_tree_error(r->tree, node, r->err, "%s%s%s", node->key ? node->key : "",
				       node->key ? ": " : "", why.line);
	return 0;
}

int net_read_count(struct net_reader *r, const struct yaml_node *node, uint64_t low, uint64_t high,
		   uint64_t *count)
{
	double value;
	int ret = net_read_value(r, node, &value);

	if (ret)
		return ret;
	if (value != floor(value) || value < (double)low || value > (double)high)
		return yaml_tree_error(r->tree, node, r->err,
				       "%s: expected a whole number from %llu to %llu, got %.15g",
				       node->key ? node->key : "value", (unsigned long long)low,
				       (unsigned long long)high, value);
	*count = (uint64_t)value;
	return 0;
}

int net_read_positive(struct net_reader *r, const struct yaml_node *node, double *value)
{
	int ret = net_read_value(r, node, value);

	if (ret)
		return ret;
	if (!(*value > 0))
		return yaml_tree_error(r->tree, node, r->err, "%s: expected more than 0, got %g",
				       node->key, *value);
	return 0;
}

static int read_flag(struct net_reader *r, const struct yaml_node *node, bool *flag)
{
	if (node->kind == YAML_SCALAR && !strcmp(node->text, "true"))
		*flag = true;
	else if (node->kind == YAML_SCALAR && !strcmp(node->text, "false"))
		*flag = false;
	else
		return yaml_tree_error(r->tree, node, r->err, "%s: expected true or false",
				       node->key);
	return 0;
}

int net_read_out_of_memory(struct net_reader *r)
{
	return err_set(r->err, ENOMEM, "%s: out of memory", r->net->file);
}

int net_read_full_name(struct net_reader *r, const struct yaml_node *at, const char *prefix,
		       const char *name, char out[NET_READ_NAME_BYTES])
{
	if (snprintf(out, NET_READ_NAME_BYTES, "%s%s", prefix, name) >= NET_READ_NAME_BYTES)
		return yaml_tree_error(r->tree, at, r->err, "the name \"%.40s...\" is too long",
				       name);
	return 0;
}

static const struct net_setting *find_setting(const struct net_reader *r, const char *name)
{
	/* The last of a name wins, as for any option given twice. */
	for (size_t k = r->nr_settings; k-- > 0;)
		if (!strcmp(r->settings[k].name, name))
			return &r->settings[k];
	return NULL;
}

static int read_parameters(struct net_reader *r, const struct yaml_node *node)
{
	if (!node)
		return 0;
	if (node->kind != YAML_MAP)
		return yaml_tree_error(r->tree, node, r->err, "expected names and values");
	for (size_t i = 0; i < node->nr; i++) {
		const struct yaml_node *item = node->items[i];
		const struct net_setting *set = find_setting(r, item->key);
		double value = set ? set->value : 0;
		int ret = set ? 0 : net_read_value(r, item, &value);

		if (ret)
			return ret;
		if (expr_set(&r->scope, item->key, value))
			return yaml_tree_error(r->tree, item, r->err,
					       "parameter \"%s\": expected a name of letters, "
					       "digits and _ that is no function's",
					       item->key);
	}
	return 0;
}

static int check_settings(struct net_reader *r)
{
	for (size_t k = 0; k < r->nr_settings; k++)
		if (!expr_find(&r->scope, r->settings[k].name))
			return err_set(r->err, EINVAL, "%s: no parameter \"%s\" to set",
				       r->net->file, r->settings[k].name);
	return 0;
}

static int read_colours(struct net_reader *r, const struct yaml_node *node)
{
	if (!node || node->kind != YAML_LIST || !node->nr)
		return yaml_tree_error(r->tree, node, r->err,
				       "colours: expected a list of names, as in [request]");
	for (size_t i = 0; i < node->nr; i++) {
		const struct yaml_node *item = node->items[i];

		if (item->kind != YAML_SCALAR)
			return yaml_tree_error(r->tree, item, r->err,
					       "expected the name of a colour");
		if (net_find_colour(r->net, item->text) != NET_NONE)
			return yaml_tree_error(r->tree, item, r->err,
					       "colour \"%s\" stands there twice", item->text);
		if (net_add_colour(r->net, item->text) == NET_NONE)
			return net_read_out_of_memory(r);
	}
	return 0;
}

static int read_strategy(struct net_reader *r, const struct yaml_node *node,
			 enum net_strategy *strategy)
{
	static const char *const names[] = {
		"fcfs", "ps", "is", "priority", "preemptive", "random"
	};

	for (size_t i = 0; node->kind == YAML_SCALAR && i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(node->text, names[i])) {
			*strategy = (enum net_strategy)i;
			return 0;
		}
	}
	return yaml_tree_error(r->tree, node, r->err,
			       "expected a strategy: fcfs, ps, is, priority, preemptive or random");
}

/* A queue written out: its strategy alone, or a mapping. */
static int read_queue(struct net_reader *r, const struct yaml_node *node, const char *name,
		      uint32_t *index)
{
	static const char *const keys[] = { "strategy", "servers", "immediate", NULL };
	const struct yaml_node *strategy = node;
	struct net_queue q = { .servers = 1 };
	uint64_t servers = 1;
	int ret = 0;

	if (node->kind == YAML_MAP) {
		const struct yaml_node *n;

		ret = yaml_tree_keys(r->tree, node, keys, r->err);
		strategy = yaml_node_get(node, "strategy");
		if (!ret && !strategy)
			ret = yaml_tree_error(r->tree, node, r->err, "queue \"%s\" has no strategy",
					      name);
		if (!ret && (n = yaml_node_get(node, "servers")))
			ret = net_read_count(r, n, 1, NET_MAX_SERVERS, &servers);
		if (!ret && (n = yaml_node_get(node, "immediate")))
			ret = read_flag(r, n, &q.immediate);
	}
	if (!ret)
		ret = read_strategy(r, strategy, &q.strategy);
	if (ret)
		return ret;
	*index = net_add_queue(r->net, name, node->line);
	if (*index == NET_NONE)
		return net_read_out_of_memory(r);
	r->net->queues[*index].strategy = q.strategy;
	r->net->queues[*index].servers = (uint32_t)servers;
	r->net->queues[*index].immediate = q.immediate;
	return 0;
}

static int read_queues(struct net_reader *r, const struct yaml_node *node)
{
	uint32_t index;

	if (node && node->kind != YAML_MAP)
		return yaml_tree_error(r->tree, node, r->err, "expected names and queues");
	for (size_t i = 0; node && i < node->nr; i++) {
		int ret = read_queue(r, node->items[i], node->items[i]->key, &index);

		if (ret)
			return ret;
	}
	return 0;
}

/* The place's queue: one of the shared ones by name, or one of its own. */
static int place_queue(struct net_reader *r, const struct yaml_node *node, const char *place,
		       uint32_t *index)
{
	if (node->kind == YAML_SCALAR) {
		*index = net_find_queue(r->net, node->text);
		if (*index != NET_NONE)
			return 0;
	}
	return read_queue(r, node, place, index);
}

int net_read_find_colour(struct net_reader *r, const struct yaml_node *at, const char *name,
			 uint32_t *colour)
{
	*colour = net_find_colour(r->net, name);
	if (*colour == NET_NONE)
		return yaml_tree_error(r->tree, at, r->err, "no colour \"%s\"", name);
	return 0;
}

/* A colour that a place mentions anywhere gets a slot there. */
static int slot_of(struct net_reader *r, const struct yaml_node *at, const char *name,
		   uint32_t *slot)
{
	uint32_t colour;
	int ret = net_read_find_colour(r, at, name, &colour);

	if (ret)
		return ret;
	*slot = net_find_slot(r->net, r->net->nr_places - 1, colour);
	if (*slot == NET_NONE)
		*slot = net_add_slot(r->net, colour, at->line);
	return *slot == NET_NONE ? net_read_out_of_memory(r) : 0;
}

/* What a place says of its colours, key by key. */
static int read_slot_key(struct net_reader *r, const struct yaml_node *map)
{
	if (map->kind != YAML_MAP)
		return yaml_tree_error(r->tree, map, r->err, "%s: expected colours and values",
				       map->key);
	for (size_t i = 0; i < map->nr; i++) {
		const struct yaml_node *item = map->items[i];
		struct net_slot *s;
		uint64_t count = 0;
		uint32_t slot;
		int ret = slot_of(r, item, item->key, &slot);

		if (ret)
			return ret;
		s = &r->net->slots[slot];
		if (!strcmp(map->key, "tokens")) {
			ret = net_read_count(r, item, 0, UINT32_MAX, &count);
			s->tokens = count;
		} else if (!strcmp(map->key, "capacity")) {
			ret = net_read_count(r, item, 1, UINT32_MAX, &count);
			s->capacity = count;
		} else if (!strcmp(map->key, "priority")) {
			ret = net_read_count(r, item, 0, NET_MAX_PRIORITY, &count);
			s->priority = (uint32_t)count;
		} else {
			ret = net_read_dist(r, item, &s->service);
			s->line = item->line;
		}
		if (ret)
			return ret;
	}
	return 0;
}

static int read_colour_list(struct net_reader *r, const struct yaml_node *list)
{
	uint32_t slot;

	if (list->kind != YAML_LIST)
		return yaml_tree_error(r->tree, list, r->err, "colours: expected a list of names");
	for (size_t i = 0; i < list->nr; i++) {
		const struct yaml_node *item = list->items[i];
		int ret;

		if (item->kind != YAML_SCALAR)
			return yaml_tree_error(r->tree, item, r->err,
					       "expected the name of a colour");
		ret = slot_of(r, item, item->text, &slot);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_departure(struct net_reader *r, const struct yaml_node *node, bool *fifo)
{
	*fifo = node->kind == YAML_SCALAR && !strcmp(node->text, "fifo");
	if (*fifo || (node->kind == YAML_SCALAR && !strcmp(node->text, "normal")))
		return 0;
	return yaml_tree_error(r->tree, node, r->err, "departure: expected normal or fifo");
}

static int read_place(struct net_reader *r, const struct yaml_node *node, const char *prefix)
{
	static const char *const keys[] = { "queue",	      "colours",   "tokens",
					    "service",	      "priority",  "capacity",
					    "place_capacity", "departure", NULL };
	const struct yaml_node *n;
	char name[NET_READ_NAME_BYTES];
	uint32_t place, queue;
	int ret = yaml_tree_keys(r->tree, node, keys, r->err);

	if (!ret)
		ret = net_read_full_name(r, node, prefix, node->key, name);
	if (ret)
		return ret;
	if (net_find_place(r->net, name) != NET_NONE)
		return yaml_tree_error(r->tree, node, r->err, "place \"%s\" stands there twice",
				       name);
	place = net_add_place(r->net, name, node->line);
	if (place == NET_NONE)
		return net_read_out_of_memory(r);
	if ((n = yaml_node_get(node, "queue"))) {
		ret = place_queue(r, n, name, &queue);
		if (ret)
			return ret;
		r->net->places[place].queue = queue;
	}
	if ((n = yaml_node_get(node, "colours")))
		ret = read_colour_list(r, n);
	if (ret)
		return ret;
	for (size_t i = 2; i < 6; i++) {
		if ((n = yaml_node_get(node, keys[i])))
			ret = read_slot_key(r, n);
		if (ret)
			return ret;
	}
	if ((n = yaml_node_get(node, "place_capacity")))
		ret = net_read_count(r, n, 1, UINT32_MAX, &r->net->places[place].capacity);
	if (ret)
		return ret;
	if ((n = yaml_node_get(node, "departure")))
		ret = read_departure(r, n, &r->net->places[place].fifo);
	if (ret)
		return ret;
	if (!r->net->places[place].nr_slots)
		ret = yaml_tree_error(r->tree, node, r->err,
				      "place \"%s\" knows no colour: expected colours, tokens or "
				      "service",
				      name);
	return ret;
}

/* A place that is a net of its own, with the places where tokens come in and go out. */
static int read_subnet(struct net_reader *r, const struct yaml_node *node, const char *prefix);

static int read_places(struct net_reader *r, const struct yaml_node *node, const char *prefix)
{
	if (!node || node->kind != YAML_MAP || !node->nr)
		return yaml_tree_error(r->tree, node, r->err, "places: expected names and places");
	for (size_t i = 0; i < node->nr; i++) {
		const struct yaml_node *item = node->items[i];
		int ret = yaml_node_get(item, "subnet") ? read_subnet(r, item, prefix)
							: read_place(r, item, prefix);

		if (ret)
			return ret;
	}
	return 0;
}

/* One of the two ends of a subnet. */
static int read_end(struct net_reader *r, const struct yaml_node *subnet, const char *key,
		    const char *prefix, bool take, uint32_t *place)
{
	const struct yaml_node *node = yaml_node_get(subnet, key);

	if (!node || node->kind != YAML_SCALAR)
		return yaml_tree_error(r->tree, node ? node : subnet, r->err,
				       "%s: expected the name of a place inside", key);
	return net_read_resolve(r, node, prefix, node->text, take, place);
}

static int read_subnet(struct net_reader *r, const struct yaml_node *node, const char *prefix)
{
	static const char *const outer[] = { "subnet", NULL };
	static const char *const keys[] = { "places", "transitions", "input", "output", NULL };
	const struct yaml_node *subnet = yaml_node_get(node, "subnet");
	char name[NET_READ_NAME_BYTES], inner[NET_READ_NAME_BYTES];
	struct net_read_subnet s;
	int ret = yaml_tree_keys(r->tree, node, outer, r->err);

	if (!ret)
		ret = yaml_tree_keys(r->tree, subnet, keys, r->err);
	if (!ret)
		ret = net_read_full_name(r, node, prefix, node->key, name);
	if (!ret)
		ret = net_read_full_name(r, node, name, "/", inner);
	if (!ret && r->nr_subnets == NET_READ_MAX_SUBNETS)
		ret = yaml_tree_error(r->tree, node, r->err, "more than %d subnets",
				      NET_READ_MAX_SUBNETS);
	if (!ret)
		ret = read_places(r, yaml_node_get(subnet, "places"), inner);
	if (!ret)
		ret = read_end(r, subnet, "input", inner, false, &s.input);
	if (!ret)
		ret = read_end(r, subnet, "output", inner, true, &s.output);
	if (!ret)
		ret = net_read_transitions(r, yaml_node_get(subnet, "transitions"), inner);
	if (ret)
		return ret;
	memcpy(s.name, name, sizeof(name));
	r->subnets[r->nr_subnets++] = s;
	return 0;
}

static int read_net(struct net_reader *r)
{
	static const char *const keys[] = { "net",    "parameters",  "colours", "queues",
					    "places", "transitions", "probes",	NULL };
	const struct yaml_node *root = yaml_tree_root(r->tree);
	const struct yaml_node *name = yaml_node_get(root, "net");
	int ret = yaml_tree_keys(r->tree, root, keys, r->err);

	if (ret)
		return ret;
	if (name && name->kind != YAML_SCALAR)
		return yaml_tree_error(r->tree, name, r->err, "net: expected a name");
	r->net->name = strdup(name ? name->text : "");
	if (!r->net->name)
		return net_read_out_of_memory(r);
	ret = read_parameters(r, yaml_node_get(root, "parameters"));
	if (!ret)
		ret = check_settings(r);
	if (!ret)
		ret = read_colours(r, yaml_node_get(root, "colours"));
	if (!ret)
		ret = read_queues(r, yaml_node_get(root, "queues"));
	if (!ret)
		ret = read_places(r, yaml_node_get(root, "places"), "");
	if (!ret)
		ret = net_read_transitions(r, yaml_node_get(root, "transitions"), "");
	if (!ret)
		ret = net_read_probes(r, yaml_node_get(root, "probes"));
	return ret ? ret : net_validate(r->net, r->err);
}

/* Takes the tree over. */
static int read_tree(struct net **out, struct yaml_tree *tree, const struct net_setting *settings,
		     size_t nr_settings, struct err *err)
{
	struct net_reader *r = calloc(1, sizeof(*r));
	int ret;

	if (!r || !(r->net = net_new(yaml_tree_name(tree)))) {
		ret = err_set(err, ENOMEM, "%s: out of memory", yaml_tree_name(tree));
		free(r);
		yaml_tree_free(tree);
		return ret;
	}
	r->tree = tree;
	r->settings = settings;
	r->nr_settings = nr_settings;
	r->err = err;
	ret = read_net(r);
	if (ret)
		net_free(r->net);
	else
		*out = r->net;
	yaml_tree_free(tree);
	expr_scope_release(&r->scope);
	free(r);
	return ret;
}

int net_read(struct net **out, const char *path, const struct net_setting *settings,
	     size_t nr_settings, struct err *err)
{
	struct yaml_tree *tree;
	int ret = yaml_tree_read(&tree, path, err);

	return ret ? ret : read_tree(out, tree, settings, nr_settings, err);
}

int net_parse(struct net **out, const char *name, const char *text,
	      const struct net_setting *settings, size_t nr_settings, struct err *err)
{
	struct yaml_tree *tree;
	int ret = yaml_tree_parse(&tree, name, text, strlen(text), err);

	return ret ? ret : read_tree(out, tree, settings, nr_settings, err);
}
