// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/qpn/qpe_import.h"

#define XSI "http://www.w3.org/2001/XMLSchema-instance"

/* What an identifier of the file stands for. */
struct named {
	char *id; /* owned */
	uint32_t index;
};

struct names {
	struct named *items;
	uint32_t nr, cap;
};

struct importer {
	struct net *net;
	struct err *err;
	struct names colours, queues, places, slots;
};

static int fail(const struct importer *im, const xmlNode *at, const char *what, const char *detail)
{
	return err_set(im->err, EINVAL, "%s:%ld: %s: %s%s%s", im->net->file, xmlGetLineNo(at),
		       (const char *)at->name, what, detail ? ": " : "", detail ? detail : "");
}

static int out_of_memory(const struct importer *im)
{
	return err_set(im->err, ENOMEM, "%s: out of memory", im->net->file);
}

static void release_names(struct names *n)
{
	for (uint32_t i = 0; i < n->nr; i++)
		free(n->items[i].id);
	free(n->items);
}

static int add_name(struct importer *im, struct names *n, char *id, uint32_t index)
{
	if (n->nr == n->cap) {
		uint32_t cap = n->cap ? 2 * n->cap : 16;
		struct named *more = reallocarray(n->items, cap, sizeof(*more));

		if (!more) {
			free(id);
			return out_of_memory(im);
		}
		n->items = more;
		n->cap = cap;
	}
	n->items[n->nr++] = (struct named){ .id = id, .index = index };
	return 0;
}

static uint32_t find_name(const struct names *n, const char *id)
{
	for (uint32_t i = 0; i < n->nr; i++)
		if (!strcmp(n->items[i].id, id))
			return n->items[i].index;
	return NET_NONE;
}

/* A copy for free(), NULL where there is no such attribute. */
static char *attribute(const xmlNode *node, const char *name)
{
	xmlChar *value = xmlGetNoNsProp((xmlNode *)node, (const xmlChar *)name);
	char *copy = value ? strdup((const char *)value) : NULL;

	xmlFree(value);
	return copy;
}

/* An attribute that must be there. */
static int need(struct importer *im, const xmlNode *node, const char *name, char **value)
{
	*value = attribute(node, name);
	return *value ? 0 : fail(im, node, "missing attribute", name);
}

/* A number; fallback where the attribute is absent or empty. */
static int number(struct importer *im, const xmlNode *node, const char *name, double fallback,
		  double *value)
{
	char *text = attribute(node, name), *end;
	int err = 0;

	*value = fallback;
	if (text && *text) {
		*value = strtod(text, &end);
		if (*end || !isfinite(*value))
			err = fail(im, node, "expected a number in attribute", name);
	}
	free(text);
	return err;
}

static int count(struct importer *im, const xmlNode *node, const char *name, double fallback,
		 double high, uint32_t *value)
{
	double v;
	int err = number(im, node, name, fallback, &v);

	if (!err && (v < 0 || v > high || v != floor(v)))
		err = fail(im, node, "expected a whole number, not too large, in attribute", name);
	if (!err)
		*value = (uint32_t)v;
	return err;
}

static bool is(const xmlNode *node, const char *name)
{
	return !strcmp((const char *)node->name, name);
}

static const xmlNode *child(const xmlNode *node, const char *name)
{
	for (const xmlNode *c = node->children; c; c = c->next)
		if (c->type == XML_ELEMENT_NODE && is(c, name))
			return c;
	return NULL;
}

/* The next element from c on, of a container that may hold nothing but `name`. */
static int each(struct importer *im, const xmlNode *c, const char *name, const xmlNode **out)
{
	while (c && c->type != XML_ELEMENT_NODE)
		c = c->next;
	*out = c;
	return c && !is(c, name) ? fail(im, c, "unknown element, expected", name) : 0;
}

static int read_all(struct importer *im, const xmlNode *parent, const char *container,
		    const char *name, int (*read)(struct importer *, const xmlNode *))
{
	const xmlNode *box = child(parent, container), *c = box ? box->children : NULL;
	int err = each(im, c, name, &c);

	while (!err && c) {
		err = read(im, c);
		if (!err)
			err = each(im, c->next, name, &c);
	}
	return err;
}

/* Elements a parent may hold; the list ends with NULL. */
static int allow(struct importer *im, const xmlNode *parent, const char *const *names)
{
	for (const xmlNode *c = parent->children; c; c = c->next) {
		const char *const *n = names;

		while (c->type == XML_ELEMENT_NODE && *n && !is(c, *n))
			n++;
		if (c->type == XML_ELEMENT_NODE && !*n)
			return fail(im, c, "unknown element in", (const char *)parent->name);
	}
	return 0;
}

static int read_colour(struct importer *im, const xmlNode *node)
{
	char *name = NULL, *id = NULL;
	uint32_t index = NET_NONE;
	int err = need(im, node, "name", &name);

	if (!err)
		err = need(im, node, "id", &id);
	if (!err && net_find_colour(im->net, name) != NET_NONE)
		err = fail(im, node, "a second colour of the name", name);
	if (!err && (index = net_add_colour(im->net, name)) == NET_NONE)
		err = out_of_memory(im);
	free(name);
	if (!err)
		return add_name(im, &im->colours, id, index);
	free(id);
	return err;
}

static int read_strategy(struct importer *im, const xmlNode *node, enum net_strategy *strategy)
{
	static const struct {
		const char *name;
		enum net_strategy strategy;
	} known[] = { { "FCFS", NET_FCFS },
		      { "PS", NET_PS },
		      { "IS", NET_IS },
		      { "PRIO", NET_PRIORITY },
		      { "RANDOM", NET_RANDOM } };
	char *text;
	int err = need(im, node, "strategy", &text);
	size_t i = 0;

	if (err)
		return err;
	while (i < 5 && strcmp(known[i].name, text))
		i++;
	if (i < 5)
		*strategy = known[i].strategy;
	else
		err = fail(im, node, "unknown strategy", text);
	free(text);
	return err;
}

static int read_queue(struct importer *im, const xmlNode *node)
{
	enum net_strategy strategy = NET_FCFS;
	uint32_t index, servers = 1;
	char *name = NULL, *id = NULL;
	int err = need(im, node, "name", &name);

	if (!err)
		err = need(im, node, "id", &id);
	if (!err)
		err = read_strategy(im, node, &strategy);
	if (!err)
		err = count(im, node, "number-of-servers", 1, NET_MAX_SERVERS, &servers);
	if (!err && !servers && strategy != NET_IS)
		err = fail(im, node, "expected a server at least in attribute",
			   "number-of-servers");
	index = err ? NET_NONE : net_add_queue(im->net, name, (unsigned)xmlGetLineNo(node));
	if (!err && index == NET_NONE)
		err = out_of_memory(im);
	free(name);
	if (err) {
		free(id);
		return err;
	}
	im->net->queues[index].strategy = strategy;
	im->net->queues[index].servers = servers;
	return add_name(im, &im->queues, id, index);
}

static int make_dist(struct importer *im, const xmlNode *node, const char *kind, struct dist *d)
{
	double lambda, alpha, mean, sd, min, max, p1;
	struct err why = { 0 };
	int err = number(im, node, "lambda", 0, &lambda);

	if (!err)
		err = number(im, node, "alpha", 0, &alpha);
	if (!err)
		err = number(im, node, "mean", 0, &mean);
	if (!err)
		err = number(im, node, "stdDev", 0, &sd);
	if (!err)
		err = number(im, node, "min", 0, &min);
	if (!err)
		err = number(im, node, "max", 0, &max);
	if (!err)
		err = number(im, node, "p1", 0, &p1);
	if (err)
		return err;
	if (!strcmp(kind, "Exponential"))
		err = dist_exponential(d, 1 / lambda, &why);
	else if (!strcmp(kind, "Deterministic"))
		err = dist_deterministic(d, p1, &why);
	else if (!strcmp(kind, "Gamma"))
		err = dist_gamma(d, alpha, 1 / lambda, &why);
	else if (!strcmp(kind, "Normal"))
		err = dist_normal(d, mean, sd, &why);
	else if (!strcmp(kind, "Uniform"))
		err = dist_uniform(d, min, max, &why);
	else
		return fail(im, node, "distribution-function that is not taken", kind);
	return err ? fail(im, node, "no such distribution", why.line) : 0;
}

/* Service, priority and the like of one colour in a queueing place. */
static int read_service(struct importer *im, const xmlNode *node, struct net_slot *s)
{
	uint32_t ranking = 0;
	char *kind = NULL;
	int err = count(im, node, "priority", 0, NET_MAX_PRIORITY, &s->priority);

	if (!err)
		err = count(im, node, "ranking", 0, UINT32_MAX, &ranking);
	if (!err && ranking)
		err = fail(im, node, "not taken: attribute", "ranking");
	if (!err)
		err = need(im, node, "distribution-function", &kind);
	if (!err)
		err = make_dist(im, node, kind, &s->service);
	free(kind);
	return err;
}

static int read_slot(struct importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "meta-attributes", NULL };
	struct net_place *p = &im->net->places[im->net->nr_places - 1];
	uint32_t colour, slot = NET_NONE, tokens = 0, capacity = 0;
	char *id = NULL, *colour_id = NULL;
	int err = allow(im, node, inner);

	if (!err)
		err = need(im, node, "color-id", &colour_id);
	if (!err) {
		colour = find_name(&im->colours, colour_id);
		if (colour == NET_NONE)
			err = fail(im, node, "no color of the id", colour_id);
		else if (net_find_slot(im->net, im->net->nr_places - 1, colour) != NET_NONE)
			err = fail(im, node, "a second reference to the color", colour_id);
		else if ((slot = net_add_slot(im->net, colour, (unsigned)xmlGetLineNo(node))) ==
			 NET_NONE)
			err = out_of_memory(im);
	}
	if (!err)
		err = count(im, node, "initial-population", 0, UINT32_MAX, &tokens);
	if (!err)
		err = count(im, node, "maximum-capacity", 0, UINT32_MAX, &capacity);
	if (!err) {
		im->net->slots[slot].tokens = tokens;
		im->net->slots[slot].capacity = capacity;
	}
	if (!err && p->queue != NET_NONE)
		err = read_service(im, node, &im->net->slots[slot]);
	if (!err)
		err = need(im, node, "id", &id);
	free(colour_id);
	return err ? err : add_name(im, &im->slots, id, slot);
}

/* xsi:type, for free(). */
static int need_type(struct importer *im, const xmlNode *node, char **type)
{
	xmlChar *value =
		xmlGetNsProp((xmlNode *)node, (const xmlChar *)"type", (const xmlChar *)XSI);

	*type = value ? strdup((const char *)value) : NULL;
	xmlFree(value);
	return *type ? 0 : fail(im, node, "missing attribute", "xsi:type");
}

static int place_queue(struct importer *im, const xmlNode *node, struct net_place *p)
{
	char *type = NULL, *ref = NULL;
	int err = need_type(im, node, &type);

	if (!err && !strcmp(type, "queueing-place")) {
		err = need(im, node, "queue-ref", &ref);
		if (!err && (p->queue = find_name(&im->queues, ref)) == NET_NONE)
			err = fail(im, node, "no queue of the id", ref);
	} else if (!err && strcmp(type, "ordinary-place")) {
		err = fail(im, node, "not taken: a place of the type", type);
	}
	free(ref);
	free(type);
	return err;
}

static int read_place(struct importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "color-refs", "meta-attributes", NULL };
	char *name = NULL, *id = NULL, *departure;
	uint32_t index = NET_NONE;
	int err = allow(im, node, inner);

	if (!err)
		err = need(im, node, "name", &name);
	if (!err &&
	    (index = net_add_place(im->net, name, (unsigned)xmlGetLineNo(node))) == NET_NONE)
		err = out_of_memory(im);
	free(name);
	if (!err)
		err = place_queue(im, node, &im->net->places[index]);
	if (!err && !(err = need(im, node, "departure-discipline", &departure))) {
		im->net->places[index].fifo = !strcmp(departure, "FIFO");
		if (strcmp(departure, "FIFO") && strcmp(departure, "NORMAL"))
			err = fail(im, node, "unknown departure-discipline", departure);
		free(departure);
	}
	if (!err)
		err = read_all(im, node, "color-refs", "color-ref", read_slot);
	if (!err)
		err = need(im, node, "id", &id);
	return err ? err : add_name(im, &im->places, id, index);
}

/* The arcs of one mode: connections that name it as source (put) or target (take). */
static int read_arcs(struct importer *im, const xmlNode *transition, const char *mode_id,
		     struct net_mode *m)
{
	const xmlNode *box = child(transition, "connections"), *c = box ? box->children : NULL;
	int err = each(im, c, "connection", &c);

	while (!err && c) {
		char *source = NULL, *target = NULL;
		uint32_t nr = 1, slot = NET_NONE;
		bool take = false, put = false;

		err = need(im, c, "source-id", &source);
		if (!err)
			err = need(im, c, "target-id", &target);
		if (!err)
			err = count(im, c, "count", 1, NET_MAX_COUNT, &nr);
		if (!err) {
			take = !strcmp(target, mode_id);
			put = !strcmp(source, mode_id);
			slot = find_name(&im->slots, take ? source : target);
		}
		if (!err && (take || put) && slot == NET_NONE)
			err = fail(im, c, "no color-ref of the id", take ? source : target);
		if (!err && take && nr)
			err = net_add_arc(&m->take, &m->nr_take, slot, nr) ? out_of_memory(im) : 0;
		if (!err && put && nr)
			err = net_add_arc(&m->put, &m->nr_put, slot, nr) ? out_of_memory(im) : 0;
		free(source);
		free(target);
		if (!err)
			err = each(im, c->next, "connection", &c);
	}
	return err;
}

static int read_mode(struct importer *im, const xmlNode *node, struct net_transition *t)
{
	const xmlNode *transition = node->parent->parent;
	char *name = NULL, *id = NULL;
	struct net_mode *m = NULL;
	int err = need(im, node, "name", &name);

	if (!err)
		err = need(im, node, "id", &id);
	if (!err && !(m = net_add_mode(t, name, (unsigned)xmlGetLineNo(node))))
		err = out_of_memory(im);
	if (!err)
		err = number(im, node, "firing-weight", 1, &m->weight);
	if (!err && !(m->weight > 0))
		err = fail(im, node, "expected a number above 0 in attribute", "firing-weight");
	if (!err)
		err = read_arcs(im, transition, id, m);
	free(name);
	free(id);
	return err;
}

static int read_immediate(struct importer *im, const xmlNode *node, const char *name)
{
	struct net_transition *t = net_add_transition(im->net, name, (unsigned)xmlGetLineNo(node));
	const xmlNode *box = child(node, "modes"), *c = box ? box->children : NULL;
	int err = t ? number(im, node, "weight", 1, &t->weight) : out_of_memory(im);

	if (!err && !(t->weight > 0))
		err = fail(im, node, "expected a number above 0 in attribute", "weight");
	if (!err)
		err = count(im, node, "priority", 0, NET_MAX_PRIORITY, &t->priority);
	if (!err)
		err = each(im, c, "mode", &c);
	while (!err && c) {
		err = read_mode(im, c, t);
		if (!err)
			err = each(im, c->next, "mode", &c);
	}
	return err;
}

static int read_timed_mode(struct importer *im, const xmlNode *node, const char *name)
{
	struct net_transition *t;
	struct err why = { 0 };
	char full[256], *mode;
	double delay;
	int err = need(im, node, "name", &mode);

	if (err)
		return err;
	snprintf(full, sizeof(full), "%.120s/%.120s", name, mode);
	free(mode);
	t = net_add_transition(im->net, full, (unsigned)xmlGetLineNo(node));
	if (!t)
		return out_of_memory(im);
	t->timed = true;
	err = number(im, node, "mean-firing-delay", 0, &delay);
	if (!err && dist_exponential(&t->time, delay, &why))
		err = fail(im, node, "mean-firing-delay", why.line);
	return err ? err : read_mode(im, node, t);
}

static int read_transition(struct importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "modes", "connections", "meta-attributes", NULL };
	char *type = NULL, *name = NULL;
	int err = allow(im, node, inner);

	if (!err)
		err = need_type(im, node, &type);
	if (!err)
		err = need(im, node, "name", &name);
	if (!err && !strcmp(type, "immediate-transition")) {
		err = read_immediate(im, node, name);
	} else if (!err && !strcmp(type, "timed-transition")) {
		const xmlNode *box = child(node, "modes"), *c = box ? box->children : NULL;

		err = each(im, c, "mode", &c);
		while (!err && c) {
			err = read_timed_mode(im, c, name);
			if (!err)
				err = each(im, c->next, "mode", &c);
		}
	} else if (!err) {
		err = fail(im, node, "unknown transition type", type);
	}
	free(type);
	free(name);
	return err;
}

static int probe_end(struct importer *im, const xmlNode *node, const char *place_key,
		     const char *trigger_key, uint32_t *place, bool *leave)
{
	char *id = NULL, *trigger = NULL;
	int err = need(im, node, place_key, &id);

	if (!err)
		err = need(im, node, trigger_key, &trigger);
	if (!err && (*place = find_name(&im->places, id)) == NET_NONE)
		err = fail(im, node, "no place of the id", id);
	if (!err)
		*leave = !strcmp(trigger, "exit");
	if (!err && !*leave && strcmp(trigger, "entry"))
		err = fail(im, node, "expected entry or exit in attribute", trigger_key);
	free(id);
	free(trigger);
	return err;
}

/* One probe of ours per colour of theirs. */
static int read_probe_colour(struct importer *im, const xmlNode *node)
{
	const xmlNode *probe = node->parent->parent;
	char *name = NULL, *colour_id = NULL;
	struct net_probe *p = NULL;
	uint32_t colour = NET_NONE;
	int err = need(im, probe, "name", &name);

	if (!err)
		err = need(im, node, "color-id", &colour_id);
	if (!err && (colour = find_name(&im->colours, colour_id)) == NET_NONE)
		err = fail(im, node, "no color of the id", colour_id);
	if (!err && !(p = net_add_probe(im->net, name, (unsigned)xmlGetLineNo(probe))))
		err = out_of_memory(im);
	if (!err) {
		p->from_colour = p->to_colour = colour;
		err = probe_end(im, probe, "start-place-id", "start-trigger", &p->from_place,
				&p->from_leave);
	}
	if (!err)
		err = probe_end(im, probe, "end-place-id", "end-trigger", &p->to_place,
				&p->to_leave);
	free(name);
	free(colour_id);
	return err;
}

static int read_probe(struct importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "color-refs", "meta-attributes", NULL };
	int err = allow(im, node, inner);

	return err ? err : read_all(im, node, "color-refs", "color-ref", read_probe_colour);
}

static int read_net(struct importer *im, const xmlNode *root)
{
	static const char *const inner[] = { "colors",		"queues",      "places",
					     "transitions",	"connections", "probes",
					     "meta-attributes", NULL };
	int err;

	if (!root || !is(root, "net"))
		return err_set(im->err, EINVAL, "%s: expected a QPME net, the element \"net\"",
			       im->net->file);
	err = allow(im, root, inner);
	if (!err)
		err = read_all(im, root, "colors", "color", read_colour);
	if (!err)
		err = read_all(im, root, "queues", "queue", read_queue);
	if (!err)
		err = read_all(im, root, "places", "place", read_place);
	if (!err)
		err = read_all(im, root, "transitions", "transition", read_transition);
	if (!err)
		err = read_all(im, root, "probes", "probe", read_probe);
	return err ? err : net_validate(im->net, im->err);
}

static int parse(struct importer *im, const char *path)
{
	xmlParserCtxt *ctxt = xmlNewParserCtxt();
	xmlDoc *doc;
	int err;

	if (!ctxt)
		return out_of_memory(im);
	doc = xmlCtxtReadFile(ctxt, path, NULL,
			      XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
				      XML_PARSE_BIG_LINES);
	if (!doc) {
		const xmlError *e = xmlCtxtGetLastError(ctxt);

		err = err_set(im->err, EINVAL, "%s:%d: not XML: %.200s", path, e ? e->line : 0,
			      e && e->message ? e->message : "cannot be read");
	} else {
		err = read_net(im, xmlDocGetRootElement(doc));
	}
	xmlFreeDoc(doc);
	xmlFreeParserCtxt(ctxt);
	return err;
}

int qpe_import(struct net **out, const char *path, struct err *err)
{
	struct importer im = { .net = net_new(path), .err = err };
	FILE *file = fopen(path, "re");
	int error;

	if (!file || !im.net) {
		error = file ? ENOMEM : errno;
		net_free(im.net);
		if (file)
			fclose(file);
		return err_set(err, error, "%s: %s", path, strerror(error));
	}
	fclose(file);
	im.net->name = strdup("");
	error = im.net->name ? parse(&im, path) : out_of_memory(&im);
	release_names(&im.colours);
	release_names(&im.queues);
	release_names(&im.places);
	release_names(&im.slots);
	if (error)
		net_free(im.net);
	else
		*out = im.net;
	return error;
}
