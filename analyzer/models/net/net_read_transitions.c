// SPDX-License-Identifier: Apache-2.0
/* This file holds the tables of transitions, modes, arcs and probes of a net's YAML. */
#include <errno.h>
#include <string.h>

#include "analyzer/models/net/net_dist.h"
#include "analyzer/models/net/net_read.h"

/*
 * Finds the place to which a name refers from outside: a subnet stands for its input or its
 * output.
 */
int net_read_resolve(const struct fields_reader *r, const struct yaml_node *at, const char *name,
		     bool take, uint32_t *place)
{
	const struct net_reader *reader = r->context;
	char full[NET_READ_NAME_BYTES];
	int ret = net_read_full_name(r, at, name, full);

	if (ret)
		return ret;
	for (size_t i = 0; i < reader->nr_subnets; i++) {
		if (!strcmp(reader->subnets[i].name, full)) {
			*place = take ? reader->subnets[i].output : reader->subnets[i].input;
			return 0;
		}
	}
	*place = net_find_place(reader->net, full);
	if (*place == NET_NONE)
		return yaml_tree_error(r->tree, at, r->err, "no place \"%s\"", full);
	return 0;
}

/* Reads a colour that the place must have. */
static int net_read_known_colour(const struct fields_reader *r, const struct yaml_node *at,
				 const char *name, uint32_t place, uint32_t *colour, uint32_t *slot)
{
	const struct net_reader *reader = r->context;
	int ret = net_read_find_colour(r, at, name, colour);

	if (ret)
		return ret;
	*slot = net_find_slot(reader->net, place, *colour);
	if (*slot == NET_NONE)
		return yaml_tree_error(r->tree, at, r->err, "place \"%s\" knows no colour \"%s\"",
				       reader->net->places[place].name, name);
	return 0;
}

static const struct field arc_colour = FIELD(TEXT, NULL, .expected = "the name of a colour");
static const struct field arc_count =
	FIELD(COUNT, NULL, .computed = true, .low = 1, .high = NET_MAX_COUNT);
static const struct field arc_forms[] = {
	FIELD(TEXT, NULL),
	FIELD(LIST, NULL, .item = &arc_colour, .low = 1),
	FIELD(MAP, NULL, .item = &arc_count),
	{ 0 },
};

/* This struct holds the arcs of a mode, as they are collected. */
struct mode_arcs {
	struct net_arc **arcs;
	uint32_t *nr;
};

static int mode_add_arc(const struct fields_reader *r, const struct yaml_node *at, uint32_t place,
			const struct mode_arcs *to)
{
	const char *name = at->kind == YAML_SCALAR && !at->key ? at->text : at->key;
	uint32_t colour, slot;
	double count = 1;
	int ret = 0;

	if (!name)
		return fields_expected(r, &arc_colour, at);
	if (at->key)
		ret = fields_number(r, &arc_count, at, &count);
	if (ret)
		return ret;
	ret = net_read_known_colour(r, at, name, place, &colour, &slot);
	if (ret)
		return ret;
	return net_add_arc(to->arcs, to->nr, slot, (uint32_t)count) ? fields_no_memory(r) : 0;
}

/* Reads the arcs of a place: a colour, a list of colours, or colours with counts. */
static int mode_read_arcs_of_place(const struct fields_reader *r, const struct yaml_node *n,
				   bool take, const struct mode_arcs *to)
{
	uint32_t place, colour, slot;
	int ret = net_read_resolve(r, n, n->key, take, &place);

	if (ret)
		return ret;
	if (n->kind == YAML_SCALAR) {
		ret = net_read_known_colour(r, n, n->text, place, &colour, &slot);
		if (ret)
			return ret;
		return net_add_arc(to->arcs, to->nr, slot, 1) ? fields_no_memory(r) : 0;
	}
	for (size_t k = 0; k < n->nr; k++) {
		ret = mode_add_arc(r, n->items[k], place, to);
		if (ret)
			return ret;
	}
	return 0;
}

/* This struct holds the contents of a transition's mapping; the mode is the one being read. */
struct net_transition_said {
	struct net_transition *t;
	struct net_mode *mode;
	unsigned line;
	double weight;
	uint64_t priority;
};
#define SAID(member) offsetof(struct net_transition_said, member)

static int mode_read_arcs(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *n, void *to)
{
	struct net_transition_said *said = to;
	bool take = !strcmp(f->name, "take");
	struct mode_arcs arcs;

	if (!said->mode)
		said->mode = net_add_mode(said->t, "only", said->line);
	if (!said->mode)
		return fields_no_memory(r);
	arcs.arcs = take ? &said->mode->take : &said->mode->put;
	arcs.nr = take ? &said->mode->nr_take : &said->mode->nr_put;
	for (size_t i = 0; i < n->nr; i++) {
		int ret = mode_read_arcs_of_place(r, n->items[i], take, &arcs);

		if (ret)
			return ret;
	}
	return 0;
}

static const struct field net_arc = FIELD(EITHER, NULL, .item = arc_forms);
static const struct field net_arcs = FIELD(
	MAP, "arcs", .item = &net_arc, .read = mode_read_arcs,
	.expected = "places and colours, as in {disk: request}",
	.help = "Places (a subnet stands for its output or input) to a colour, a list of colours, "
		"or colours with counts.");
static const struct field net_weight =
	FIELD(NUMBER, "weight", .above = true, .computed = true, .expected = "more than 0");

static const struct field mode_fields[] = {
	FIELD_AS(&net_weight, "weight", .offset = SAID(weight)),
	FIELD_AS(&net_arcs, "take"),
	FIELD_AS(&net_arcs, "put"),
	{ 0 },
};
static const struct fields mode_table = { .name = "mode", .fields = mode_fields };

static int mode_check(const struct fields_reader *r, const struct yaml_node *n,
		      const struct net_transition_said *said, const char *name)
{
	if (said->mode && (said->mode->nr_take || said->mode->nr_put))
		return 0;
	return yaml_tree_error(r->tree, n, r->err, "mode \"%s\" neither takes nor puts a token",
			       name);
}

static int transition_read_mode(const struct fields_reader *r, const struct field *f,
				const struct yaml_node *n, void *to)
{
	const struct net_transition_said *whole = to;
	struct net_transition_said said = { .t = whole->t, .weight = 1 };
	int ret;

	said.mode = net_add_mode(said.t, n->key, n->line);
	if (!said.mode)
		return fields_no_memory(r);
	ret = fields_read(r, f->of, n, &said);
	if (ret)
		return ret;
	said.mode->weight = said.weight;
	return mode_check(r, n, &said, n->key);
}

static int transition_read_time(const struct fields_reader *r, const struct field *f,
				const struct yaml_node *n, void *to)
{
	struct net_transition_said *said = to;

	(void)f;
	said->t->timed = true;
	return fields_read_value(r, &net_distribution, n, &said->t->time);
}

static const struct field mode_item =
	FIELD(STRUCT, NULL, .of = &mode_table, .read = transition_read_mode);
static const struct field transition_fields[] = {
	FIELD_AS(&net_weight, "weight", .offset = SAID(weight)),
	FIELD(COUNT, "priority", .computed = true, .high = NET_MAX_PRIORITY,
	      .offset = SAID(priority), .help = "Of immediate transitions: higher fires first."),
	FIELD_AS(&net_distribution, "time", .read = transition_read_time),
	FIELD(MAP, "modes", .item = &mode_item, .low = 1),
	FIELD_AS(&net_arcs, "take", .without = "modes"),
	FIELD_AS(&net_arcs, "put", .without = "modes"),
	{ 0 },
};
static const struct fields transition_table = { .name = "transition", .fields = transition_fields };

static int net_read_transition(const struct fields_reader *r, const struct field *f,
			       const struct yaml_node *n, void *to)
{
	struct net_reader *reader = r->context;
	struct net_transition_said said = { .weight = 1, .line = n->line };
	char name[NET_READ_NAME_BYTES];
	int ret = net_read_full_name(r, n, n->key, name);

	(void)to;
	if (ret)
		return ret;
	said.t = net_add_transition(reader->net, name, n->line);
	if (!said.t)
		return fields_no_memory(r);
	ret = fields_read(r, f->of, n, &said);
	if (ret)
		return ret;
	said.t->weight = said.weight;
	said.t->priority = (uint32_t)said.priority;
	if (said.t->timed && yaml_node_get(n, "priority"))
		return fields_error(
			r, yaml_node_get(n, "priority"),
			"a timed transition has none: immediate ones always fire first");
	return yaml_node_get(n, "modes") ? 0 : mode_check(r, n, &said, "only");
}

static const struct field transition_item =
	FIELD(STRUCT, NULL, .of = &transition_table, .read = net_read_transition);
const struct field net_transitions =
	FIELD(MAP, "transitions", .item = &transition_item, .expected = "names and transitions");

/*
 * This struct holds the contents of one event of a probe: the place, and whether the token leaves
 * it.
 */
struct net_event_said {
	uint32_t place;
	bool leave;
};

static int event_read(const struct fields_reader *r, const struct field *f,
		      const struct yaml_node *n, void *to)
{
	struct net_event_said *event = to;

	event->leave = !strcmp(f->name, "leave");
	return net_read_resolve(r, n, n->text, event->leave, &event->place);
}

static const struct field event_fields[] = {
	FIELD(TEXT, "enter", .read = event_read),
	FIELD(TEXT, "leave", .read = event_read),
	{ 0 },
};
static const struct fields event_table = { .name = "event",
					   .fields = event_fields,
					   .one_key = true,
					   .expected = "{enter: PLACE} or {leave: PLACE}" };

struct net_probe_said {
	struct net_event_said from, to;
	uint32_t from_colour, to_colour;
};
#define PROBE(member) offsetof(struct net_probe_said, member)

/* Reads one colour, or two if the colour changes on the way. */
static int probe_read_colour(const struct fields_reader *r, const struct field *f,
			     const struct yaml_node *n, void *to)
{
	struct net_probe_said *said = to;
	bool two = n->kind == YAML_LIST && n->nr == 2;
	const struct yaml_node *first = two ? n->items[0] : n, *last = two ? n->items[1] : n;
	uint32_t slot;
	int ret;

	if (first->kind != YAML_SCALAR || last->kind != YAML_SCALAR)
		return fields_expected(r, f, n);
	ret = net_read_known_colour(r, first, first->text, said->from.place, &said->from_colour,
				    &slot);
	return ret ? ret
		   : net_read_known_colour(r, last, last->text, said->to.place, &said->to_colour,
					   &slot);
}

static const struct field probe_colours[] = {
	FIELD(TEXT, NULL),
	FIELD(LIST, NULL, .item = &arc_colour, .low = 2, .high = 2),
	{ 0 },
};
static const struct field probe_fields[] = {
	FIELD(STRUCT, "from", .of = &event_table, .offset = PROBE(from), .required = true,
	      .expected = "{enter: PLACE} or {leave: PLACE}"),
	FIELD(STRUCT, "to", .of = &event_table, .offset = PROBE(to), .required = true,
	      .expected = "{enter: PLACE} or {leave: PLACE}"),
	FIELD(EITHER, "colour", .item = probe_colours, .read = probe_read_colour, .required = true,
	      .expected = "a colour, or two where it changes on the way",
	      .help = "One colour, or two where it changes on the way."),
	{ 0 },
};
static const struct fields probe_table = { .fields = probe_fields };

static int net_read_probe(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *n, void *to)
{
	struct net_reader *reader = r->context;
	struct net_probe_said said = { 0 };
	struct net_probe *p;
	int ret = fields_read(r, f->of, n, &said);

	(void)to;
	if (ret)
		return ret;
	p = net_add_probe(reader->net, n->key, n->line);
	if (!p)
		return fields_no_memory(r);
	p->from_place = said.from.place;
	p->from_leave = said.from.leave;
	p->to_place = said.to.place;
	p->to_leave = said.to.leave;
	p->from_colour = said.from_colour;
	p->to_colour = said.to_colour;
	return 0;
}

static const struct field probe_item =
	FIELD(STRUCT, NULL, .of = &probe_table, .read = net_read_probe);
const struct field net_probes =
	FIELD(MAP, "probes", .item = &probe_item, .expected = "names and probes");
