// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of a net's YAML, from which docs/qpn.schema.json is generated. Places are read before
 * transitions, so that every arc can be checked when it is read. Subnets are unfolded: "S" with
 * inner places becomes "S/inner".
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/expr.h"
#include "analyzer/models/net/net_dist.h"
#include "analyzer/models/net/net_read.h"

const struct field net_number = FIELD(
	NUMBER, "number", .low = -INFINITY, .computed = true,
	.expected = "a number or an expression",
	.help = "A number, or an expression over the parameters: 1e-3, 10ms, 4k, clients / 2, "
		"max(a, b).");

int net_read_full_name(const struct fields_reader *r, const struct yaml_node *at, const char *name,
		       char out[NET_READ_NAME_BYTES])
{
	const struct net_reader *reader = r->context;

	if (snprintf(out, NET_READ_NAME_BYTES, "%s%s", reader->prefix, name) >= NET_READ_NAME_BYTES)
		return yaml_tree_error(r->tree, at, r->err, "the name \"%.40s...\" is too long",
				       name);
	return 0;
}

static int net_read_parameter(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *n, void *to)
{
	struct net_reader *reader = r->context;
	double value = 0;
	bool set = false;
	int ret = 0;

	(void)to;
	/* If a parameter is set several times, the last setting is used, as for any option. */
	for (size_t k = 0; k < reader->nr_settings; k++)
		if (!strcmp(reader->settings[k].name, n->key)) {
			value = reader->settings[k].value;
			set = true;
		}
	if (!set)
		ret = fields_number(r, f, n, &value);
	if (ret)
		return ret;
	if (expr_set(&reader->scope, n->key, value))
		return yaml_tree_error(
			r->tree, n, r->err,
			"parameter \"%s\": expected a name of letters, digits and _ that "
			"is no function's",
			n->key);
	return 0;
}

static int net_check_settings(const struct fields_reader *r)
{
	const struct net_reader *reader = r->context;
	const struct yaml_node *parameters = yaml_node_get(yaml_tree_root(r->tree), "parameters");

	for (size_t k = 0; k < reader->nr_settings; k++)
		if (!yaml_node_get(parameters, reader->settings[k].name))
			return err_set(r->err, EINVAL, "%s: no parameter \"%s\" to set",
				       reader->net->file, reader->settings[k].name);
	return 0;
}

static int net_read_colour(const struct fields_reader *r, const struct field *f,
			   const struct yaml_node *n, void *to)
{
	struct net_reader *reader = r->context;

	(void)f;
	(void)to;
	if (net_find_colour(reader->net, n->text) != NET_NONE)
		return yaml_tree_error(r->tree, n, r->err, "colour \"%s\" stands there twice",
				       n->text);
	return net_add_colour(reader->net, n->text) == NET_NONE ? fields_no_memory(r) : 0;
}

/* This struct holds the contents of a queue's mapping. */
struct net_queue_said {
	enum net_strategy strategy;
	uint64_t servers;
	bool immediate;
};
#define QUEUE(member) offsetof(struct net_queue_said, member)

static const char *const strategies[] = { "fcfs",	"ps",	  "is", "priority",
					  "preemptive", "random", NULL };
static const struct field net_strategy =
	FIELD(WORD, "strategy", .words = strategies, .offset = QUEUE(strategy),
	      .expected = "a strategy: fcfs, ps, is, priority, preemptive or random");
static const struct field queue_fields[] = {
	FIELD_AS(&net_strategy, "strategy", .offset = QUEUE(strategy), .required = true),
	FIELD(COUNT, "servers", .computed = true, .offset = QUEUE(servers), .low = 1,
	      .high = NET_MAX_SERVERS, .standard = "1"),
	FIELD(FLAG, "immediate", .offset = QUEUE(immediate), .standard = "false",
	      .help = "serves in no time"),
	{ 0 },
};
static const struct fields queue_table = { .fields = queue_fields };
static const struct field queue_forms[] = {
	FIELD_AS(&net_strategy, NULL, .offset = QUEUE(strategy)),
	FIELD(STRUCT, NULL, .of = &queue_table),
	{ 0 },
};

/* Adds a queue that is written out, for the place or key called name. */
static int net_add_said_queue(const struct fields_reader *r, const struct yaml_node *n,
			      const char *name, uint32_t *index)
{
	static const struct field written = FIELD(EITHER, NULL, .item = queue_forms);
	struct net_reader *reader = r->context;
	struct net_queue_said said = { .servers = 1 };
	int ret = fields_read_value(r, &written, n, &said);

	if (ret)
		return ret;
	*index = net_add_queue(reader->net, name, n->line);
	if (*index == NET_NONE)
		return fields_no_memory(r);
	reader->net->queues[*index].strategy = said.strategy;
	reader->net->queues[*index].servers = (uint32_t)said.servers;
	reader->net->queues[*index].immediate = said.immediate;
	return 0;
}

static int net_read_queue(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *n, void *to)
{
	uint32_t index;

	(void)f;
	(void)to;
	return net_add_said_queue(r, n, n->key, &index);
}

static const struct field net_queue =
	FIELD(EITHER, "queue", .item = queue_forms, .read = net_read_queue);

int net_read_find_colour(const struct fields_reader *r, const struct yaml_node *at,
			 const char *name, uint32_t *colour)
{
	const struct net_reader *reader = r->context;

	*colour = net_find_colour(reader->net, name);
	if (*colour == NET_NONE)
		return yaml_tree_error(r->tree, at, r->err, "no colour \"%s\"", name);
	return 0;
}

/* Returns the slot of a colour. Every colour that a place mentions gets a slot there. */
static int place_slot(const struct fields_reader *r, const struct yaml_node *at, const char *name,
		      struct net_slot **out)
{
	struct net *net = ((struct net_reader *)r->context)->net;
	uint32_t colour, slot;
	int ret = net_read_find_colour(r, at, name, &colour);

	if (ret)
		return ret;
	slot = net_find_slot(net, net->nr_places - 1, colour);
	if (slot == NET_NONE)
		slot = net_add_slot(net, colour, at->line);
	if (slot == NET_NONE)
		return fields_no_memory(r);
	*out = &net->slots[slot];
	return 0;
}

static int place_read_colour(const struct fields_reader *r, const struct field *f,
			     const struct yaml_node *n, void *to)
{
	struct net_slot *slot;

	(void)f;
	(void)to;
	return place_slot(r, n, n->text, &slot);
}

static int place_read_count(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to);
static int place_read_service(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *n, void *to);

/* These fields read the contents of one colour's mapping in a place. */
static const struct field place_tokens =
	FIELD(COUNT, NULL, .computed = true, .high = UINT32_MAX, .read = place_read_count);
static const struct field place_priority =
	FIELD(COUNT, NULL, .computed = true, .high = NET_MAX_PRIORITY, .read = place_read_count);
static const struct field place_capacity = FIELD(COUNT, NULL, .computed = true, .low = 1,
						 .high = UINT32_MAX, .read = place_read_count);
static const struct field place_service =
	FIELD_AS(&net_distribution, NULL, .read = place_read_service);
static const struct field place_colour =
	FIELD(TEXT, NULL, .read = place_read_colour, .expected = "the name of a colour");

static int place_read_count(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	struct net_slot *slot;
	double value;
	int ret = place_slot(r, n, n->key, &slot);

	(void)to;
	if (ret)
		return ret;
	ret = fields_number(r, f, n, &value);
	if (ret)
		return ret;
	if (f == &place_tokens)
		slot->tokens = (uint64_t)value;
	else if (f == &place_capacity)
		slot->capacity = (uint64_t)value;
	else
		slot->priority = (uint32_t)value;
	return 0;
}

static int place_read_service(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *n, void *to)
{
	struct net_slot *slot;
	int ret = place_slot(r, n, n->key, &slot);

	(void)f;
	(void)to;
	if (ret)
		return ret;
	slot->line = n->line;
	return fields_read_value(r, &net_distribution, n, &slot->service);
}

/* This struct holds the contents of a place's mapping except its colours. */
struct net_place_said {
	uint32_t queue;
	uint64_t capacity;
	enum { DEPART_NORMAL, DEPART_FIFO } departure;
};
#define PLACE(member) offsetof(struct net_place_said, member)

/* Reads the queue of a place: the name of a shared queue, or a queue of its own. */
static int place_read_queue(const struct fields_reader *r, const struct field *f,
			    const struct yaml_node *n, void *to)
{
	const struct net_reader *reader = r->context;
	const struct net *net = reader->net;
	uint32_t *index = to;

	(void)f;
	*index = n->kind == YAML_SCALAR ? net_find_queue(net, n->text) : NET_NONE;
	return *index != NET_NONE
		       ? 0
		       : net_add_said_queue(r, n, net->places[net->nr_places - 1].name, index);
}

static const char *const departures[] = { "normal", "fifo", NULL };
static const struct field place_queue_forms[] = {
	FIELD_AS(&net_queue, NULL),
	FIELD(TEXT, NULL),
	{ 0 },
};
static const struct field place_fields[] = {
	FIELD(EITHER, "queue", .item = place_queue_forms, .offset = PLACE(queue),
	      .read = place_read_queue,
	      .help = "The name of a shared queue, or a queue of its own. Without it the place is "
		      "ordinary."),
	FIELD(LIST, "colours", .item = &place_colour, .low = 1),
	FIELD(MAP, "tokens", .item = &place_tokens, .help = "In the initial marking."),
	FIELD(MAP, "service", .item = &place_service,
	      .help = "For every colour, where there is a queue that takes time."),
	FIELD(MAP, "priority", .item = &place_priority, .help = "Higher is served first."),
	FIELD(MAP, "capacity", .item = &place_capacity, .help = "Per colour."),
	FIELD(COUNT, "place_capacity", .computed = true, .low = 1, .high = UINT32_MAX,
	      .offset = PLACE(capacity), .help = "Of all colours together."),
	FIELD(WORD, "departure", .words = departures, .offset = PLACE(departure),
	      .standard = "\"normal\""),
	{ 0 },
};
static const struct fields place_table = { .name = "place", .fields = place_fields };

static int net_read_place(const struct fields_reader *r, const struct yaml_node *n)
{
	struct net *net = ((struct net_reader *)r->context)->net;
	struct net_place_said said = { .queue = NET_NONE };
	char name[NET_READ_NAME_BYTES];
	struct net_place *place;
	uint32_t index;
	int ret = net_read_full_name(r, n, n->key, name);

	if (ret)
		return ret;
	if (net_find_place(net, name) != NET_NONE)
		return yaml_tree_error(r->tree, n, r->err, "place \"%s\" stands there twice", name);
	index = net_add_place(net, name, n->line);
	if (index == NET_NONE)
		return fields_no_memory(r);
	ret = fields_read(r, &place_table, n, &said);
	if (ret)
		return ret;
	place = &net->places[index];
	place->queue = said.queue;
	place->capacity = said.capacity;
	place->fifo = said.departure == DEPART_FIFO;
	if (!place->nr_slots)
		return yaml_tree_error(
			r->tree, n, r->err,
			"place \"%s\" knows no colour: expected colours, tokens or service", name);
	return 0;
}

/* Reads one end of a subnet: the place where tokens enter, or the place where they leave. */
static int subnet_read_end(const struct fields_reader *r, const struct field *f,
			   const struct yaml_node *n, void *to)
{
	return net_read_resolve(r, n, n->text, !strcmp(f->name, "output"), to);
}

static const struct field net_place;
static const struct field net_places =
	FIELD(MAP, "places", .item = &net_place, .low = 1, .expected = "names and places");
static const struct field subnet_fields[] = {
	FIELD_AS(&net_places, "places", .required = true),
	FIELD(TEXT, "input", .offset = offsetof(struct net_read_subnet, input),
	      .read = subnet_read_end, .required = true, .expected = "the name of a place inside"),
	FIELD(TEXT, "output", .offset = offsetof(struct net_read_subnet, output),
	      .read = subnet_read_end, .required = true, .expected = "the name of a place inside"),
	FIELD_AS(&net_transitions, "transitions"),
	{ 0 },
};
static const struct fields subnet_inner_table = { .fields = subnet_fields };
static const struct field subnet_outer_fields[] = {
	FIELD(STRUCT, "subnet", .of = &subnet_inner_table, .required = true),
	{ 0 },
};
static const struct fields subnet_table = { .name = "subnet", .fields = subnet_outer_fields };

/*
 * Reads a place that contains a net. The names of inner places begin with the name of this place.
 */
static int net_read_subnet(const struct fields_reader *r, const struct yaml_node *n)
{
	struct net_reader *reader = r->context;
	struct net_read_subnet s = { 0 };
	size_t outside = strlen(reader->prefix);
	char name[NET_READ_NAME_BYTES];
	int ret = net_read_full_name(r, n, n->key, name);

	if (ret)
		return ret;
	if (strlen(name) + 1 >= NET_READ_NAME_BYTES)
		return yaml_tree_error(r->tree, n, r->err, "the name \"%.40s...\" is too long",
				       name);
	snprintf(s.name, sizeof(s.name), "%s", name);
	snprintf(reader->prefix, sizeof(reader->prefix), "%.254s/", name);
	ret = fields_read(r, &subnet_table, n, &s);
	reader->prefix[outside] = 0;
	if (ret)
		return ret;
	if (reader->nr_subnets == NET_READ_MAX_SUBNETS)
		return yaml_tree_error(r->tree, n, r->err, "more than %d subnets",
				       NET_READ_MAX_SUBNETS);
	reader->subnets[reader->nr_subnets++] = s;
	return 0;
}

static int net_read_place_or_subnet(const struct fields_reader *r, const struct field *f,
				    const struct yaml_node *n, void *to)
{
	(void)f;
	(void)to;
	return yaml_node_get(n, "subnet") ? net_read_subnet(r, n) : net_read_place(r, n);
}

static const struct field place_forms[] = {
	FIELD(STRUCT, NULL, .of = &place_table),
	FIELD(STRUCT, NULL, .of = &subnet_table),
	{ 0 },
};
static const struct field net_place =
	FIELD(EITHER, NULL, .item = place_forms, .read = net_read_place_or_subnet);

static const struct field net_parameter = FIELD_AS(&net_number, NULL, .read = net_read_parameter);
static const struct field colour_item =
	FIELD(TEXT, NULL, .read = net_read_colour, .expected = "the name of a colour");
static const struct field net_fields[] = {
	FIELD(TEXT, "net", .offset = offsetof(struct net, name), .expected = "a name",
	      .help = "a name"),
	FIELD(MAP, "parameters", .item = &net_parameter, .expected = "names and values",
	      .help = "Names and values, each an expression over those before it; settings change "
		      "them."),
	FIELD(LIST, "colours", .item = &colour_item, .required = true, .low = 1,
	      .expected = "a list of names, as in [request]"),
	FIELD(MAP, "queues", .item = &net_queue, .expected = "names and queues",
	      .help = "Queues that several places share."),
	FIELD_AS(&net_places, "places", .required = true),
	FIELD_AS(&net_transitions, "transitions"),
	FIELD_AS(&net_probes, "probes"),
	{ 0 },
};
const struct fields net_table = { .title = "A queueing Petri net of blkcast qpn",
				  .fields = net_fields };

static int net_read_number(const struct fields_reader *r, const char *text, double *value,
			   struct err *why)
{
	struct net_reader *reader = r->context;

	return expr_value(&reader->scope, text, value, why);
}

static int net_read_tree(struct net_reader *reader, const struct yaml_tree *tree, struct err *err)
{
	struct fields_reader r = {
		.tree = tree, .err = err, .context = reader, .number = net_read_number
	};
	int ret = net_check_settings(&r);

	if (ret)
		return ret;
	ret = fields_read(&r, &net_table, yaml_tree_root(tree), reader->net);
	if (ret)
		return ret;
	if (!reader->net->name && !(reader->net->name = strdup("")))
		return fields_no_memory(&r);
	return net_validate(reader->net, err);
}

/* Reads the tree and takes it over. */
static int net_read_owned(struct net **out, struct yaml_tree *tree,
			  const struct net_setting *settings, size_t nr_settings, struct err *err)
{
	struct net_reader *reader = calloc(1, sizeof(*reader));
	int ret;

	if (!reader || !(reader->net = net_new(yaml_tree_name(tree)))) {
		ret = err_set(err, ENOMEM, "%s: out of memory", yaml_tree_name(tree));
		goto out;
	}
	reader->settings = settings;
	reader->nr_settings = nr_settings;
	ret = net_read_tree(reader, tree, err);
	if (ret)
		net_free(reader->net);
	else
		*out = reader->net;
	expr_scope_release(&reader->scope);
out:
	yaml_tree_free(tree);
	free(reader);
	return ret;
}

int net_read(struct net **out, const char *path, const struct net_setting *settings,
	     size_t nr_settings, struct err *err)
{
	struct yaml_tree *tree;
	int ret = yaml_tree_read(&tree, path, err);

	return ret ? ret : net_read_owned(out, tree, settings, nr_settings, err);
}

int net_parse(struct net **out, const char *name, const char *text,
	      const struct net_setting *settings, size_t nr_settings, struct err *err)
{
	struct yaml_tree *tree;
	int ret = yaml_tree_parse(&tree, name, text, strlen(text), err);

	return ret ? ret : net_read_owned(out, tree, settings, nr_settings, err);
}
