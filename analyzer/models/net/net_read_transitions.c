// SPDX-License-Identifier: Apache-2.0
/* Transitions, modes, arcs and probes of the YAML form. */
#include <errno.h>
#include <string.h>

#include "analyzer/models/net/net_dist.h"
#include "analyzer/models/net/net_read.h"

/* How a place of this name is called from outside: a subnet stands for its input or output. */
int net_read_resolve(struct net_reader *r, const struct yaml_node *at, const char *prefix,
		     const char *name, bool take, uint32_t *place)
{
	char full[NET_READ_NAME_BYTES];
	int ret = net_read_full_name(r, at, prefix, name, full);

	if (ret)
		return ret;
	for (size_t i = 0; i < r->nr_subnets; i++) {
		if (!strcmp(r->subnets[i].name, full)) {
			*place = take ? r->subnets[i].output : r->subnets[i].input;
			return 0;
		}
	}
	*place = net_find_place(r->net, full);
	if (*place == NET_NONE)
		return yaml_tree_error(r->tree, at, r->err, "no place \"%s\"", full);
	return 0;
}

static int read_arc(struct net_reader *r, const struct yaml_node *at, uint32_t place,
		    const char *colour_name, uint64_t count, struct net_arc **arcs, uint32_t *nr)
{
	uint32_t colour, slot;
	int ret = net_read_find_colour(r, at, colour_name, &colour);

	if (ret)
		return ret;
	slot = net_find_slot(r->net, place, colour);
	if (slot == NET_NONE)
		return yaml_tree_error(r->tree, at, r->err, "place \"%s\" knows no colour \"%s\"",
				       r->net->places[place].name, colour_name);
	return net_add_arc(arcs, nr, slot, (uint32_t)count) ? net_read_out_of_memory(r) : 0;
}

/* take or put: places to a colour, a list of colours, or colours with counts. */
static int read_arcs(struct net_reader *r, const struct yaml_node *map, const char *prefix,
		     bool take, struct net_arc **arcs, uint32_t *nr)
{
	if (map->kind != YAML_MAP)
		return yaml_tree_error(r->tree, map, r->err,
				       "%s: expected places and colours, as in {disk: request}",
				       map->key);
	for (size_t i = 0; i < map->nr; i++) {
		const struct yaml_node *item = map->items[i];
		uint32_t place;
		int ret = net_read_resolve(r, item, prefix, item->key, take, &place);

		if (!ret && item->kind == YAML_SCALAR)
			ret = read_arc(r, item, place, item->text, 1, arcs, nr);
		for (size_t k = 0; !ret && item->kind != YAML_SCALAR && k < item->nr; k++) {
			const struct yaml_node *c = item->items[k];
			uint64_t count = 1;

			if (item->kind == YAML_LIST && c->kind != YAML_SCALAR)
				ret = yaml_tree_error(r->tree, c, r->err, "expected a colour");
			else if (item->kind == YAML_MAP)
				ret = net_read_count(r, c, 1, NET_MAX_COUNT, &count);
			if (!ret)
				ret = read_arc(r, c, place, c->key ? c->key : c->text, count, arcs,
					       nr);
		}
		if (ret)
			return ret;
	}
	return 0;
}

static int read_mode(struct net_reader *r, const struct yaml_node *node, const char *prefix,
		     struct net_transition *t, const char *name)
{
	const struct yaml_node *n;
	struct net_mode *m = net_add_mode(t, name, node->line);
	int ret = 0;

	if (!m)
		return net_read_out_of_memory(r);
	if ((n = yaml_node_get(node, "take")))
		ret = read_arcs(r, n, prefix, true, &m->take, &m->nr_take);
	if (ret)
		return ret;
	if ((n = yaml_node_get(node, "put")))
		ret = read_arcs(r, n, prefix, false, &m->put, &m->nr_put);
	if (ret)
		return ret;
	if (!m->nr_take && !m->nr_put)
		ret = yaml_tree_error(r->tree, node, r->err,
				      "mode \"%s\" neither takes nor puts a token", name);
	return ret;
}

static int read_modes(struct net_reader *r, const struct yaml_node *node, const char *prefix,
		      struct net_transition *t)
{
	static const char *const keys[] = { "weight", "take", "put", NULL };

	if (node->kind != YAML_MAP || !node->nr)
		return yaml_tree_error(r->tree, node, r->err, "modes: expected names and modes");
	for (size_t i = 0; i < node->nr; i++) {
		const struct yaml_node *item = node->items[i], *weight;
		int ret = yaml_tree_keys(r->tree, item, keys, r->err);

		if (!ret)
			ret = read_mode(r, item, prefix, t, item->key);
		if (!ret && (weight = yaml_node_get(item, "weight")))
			ret = net_read_positive(r, weight, &t->modes[t->nr_modes - 1].weight);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_transition(struct net_reader *r, const struct yaml_node *node, const char *prefix)
{
	static const char *const keys[] = { "priority", "weight", "time", "modes",
					    "take",	"put",	  NULL };
	const struct yaml_node *n, *modes;
	struct net_transition *t;
	char name[NET_READ_NAME_BYTES];
	uint64_t priority = 0;
	int ret = yaml_tree_keys(r->tree, node, keys, r->err);

	if (!ret)
		ret = net_read_full_name(r, node, prefix, node->key, name);
	if (ret)
		return ret;
	t = net_add_transition(r->net, name, node->line);
	if (!t)
		return net_read_out_of_memory(r);
	if ((n = yaml_node_get(node, "weight")))
		ret = net_read_positive(r, n, &t->weight);
	if (!ret && (n = yaml_node_get(node, "priority")))
		ret = net_read_count(r, n, 0, NET_MAX_PRIORITY, &priority);
	t->priority = (uint32_t)priority;
	if (!ret && (n = yaml_node_get(node, "time"))) {
		t->timed = true;
		ret = net_read_dist(r, n, &t->time);
	}
	if (!ret && t->timed && yaml_node_get(node, "priority"))
		ret = yaml_tree_error(r->tree, yaml_node_get(node, "priority"), r->err,
				      "a timed transition has no priority: immediate ones always "
				      "fire first");
	modes = yaml_node_get(node, "modes");
	if (ret)
		return ret;
	if (modes && (yaml_node_get(node, "take") || yaml_node_get(node, "put")))
		return yaml_tree_error(r->tree, modes, r->err,
				       "expected either modes, or take and put");
	return modes ? read_modes(r, modes, prefix, t) : read_mode(r, node, prefix, t, "only");
}

int net_read_transitions(struct net_reader *r, const struct yaml_node *node, const char *prefix)
{
	if (node && node->kind != YAML_MAP)
		return yaml_tree_error(r->tree, node, r->err,
				       "transitions: expected names and transitions");
	for (size_t i = 0; node && i < node->nr; i++) {
		int ret = read_transition(r, node->items[i], prefix);

		if (ret)
			return ret;
	}
	return 0;
}

/* {enter: PLACE} or {leave: PLACE}. */
static int read_event(struct net_reader *r, const struct yaml_node *probe, const char *key,
		      uint32_t *place, bool *leave)
{
	static const char *const keys[] = { "enter", "leave", NULL };
	const struct yaml_node *node = yaml_node_get(probe, key), *name;
	int ret;

	if (!node)
		return yaml_tree_error(r->tree, probe, r->err, "probe \"%s\" has no \"%s\"",
				       probe->key, key);
	ret = yaml_tree_keys(r->tree, node, keys, r->err);
	if (ret)
		return ret;
	if (node->nr != 1 || node->items[0]->kind != YAML_SCALAR)
		return yaml_tree_error(r->tree, node, r->err,
				       "%s: expected {enter: PLACE} or {leave: PLACE}", key);
	name = node->items[0];
	*leave = !strcmp(name->key, "leave");
	return net_read_resolve(r, name, "", name->text, *leave, place);
}

static int probe_colour(struct net_reader *r, const struct yaml_node *at, uint32_t place,
			uint32_t *colour)
{
	int ret;

	if (!at || at->kind != YAML_SCALAR)
		return yaml_tree_error(r->tree, at, r->err,
				       "expected a colour, or two where it changes on the way");
	ret = net_read_find_colour(r, at, at->text, colour);
	if (ret)
		return ret;
	if (net_find_slot(r->net, place, *colour) == NET_NONE)
		ret = yaml_tree_error(r->tree, at, r->err, "place \"%s\" knows no colour \"%s\"",
				      r->net->places[place].name, at->text);
	return ret;
}

static int read_probe(struct net_reader *r, const struct yaml_node *node)
{
	static const char *const keys[] = { "from", "to", "colour", NULL };
	const struct yaml_node *colour = yaml_node_get(node, "colour");
	struct net_probe *p;
	bool two = colour && colour->kind == YAML_LIST && colour->nr == 2;
	int ret = yaml_tree_keys(r->tree, node, keys, r->err);

	if (ret)
		return ret;
	if (!colour)
		return yaml_tree_error(r->tree, node, r->err, "probe \"%s\" has no \"colour\"",
				       node->key);
	p = net_add_probe(r->net, node->key, node->line);
	if (!p)
		return net_read_out_of_memory(r);
	ret = read_event(r, node, "from", &p->from_place, &p->from_leave);
	if (ret)
		return ret;
	ret = read_event(r, node, "to", &p->to_place, &p->to_leave);
	if (ret)
		return ret;
	ret = probe_colour(r, two ? colour->items[0] : colour, p->from_place, &p->from_colour);
	if (ret)
		return ret;
	return probe_colour(r, two ? colour->items[1] : colour, p->to_place, &p->to_colour);
}

int net_read_probes(struct net_reader *r, const struct yaml_node *node)
{
	if (node && node->kind != YAML_MAP)
		return yaml_tree_error(r->tree, node, r->err, "probes: expected names and probes");
	for (size_t i = 0; node && i < node->nr; i++) {
		int ret = read_probe(r, node->items[i]);

		if (ret)
			return ret;
	}
	return 0;
}
