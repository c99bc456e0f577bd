// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <libxml/parser.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/qpn/qpe_import.h"
#include "analyzer/qpn/qpe_xml.h"

static int read_colour(struct qpe_importer *im, const xmlNode *node)
{
	char *name = NULL, *id = NULL;
	uint32_t index = NET_NONE;
	int err = qpe_need(im, node, "name", &name);

	if (!err)
		err = qpe_need(im, node, "id", &id);
	if (!err && net_find_colour(im->net, name) != NET_NONE)
		err = qpe_fail(im, node, "a second colour of the name", name);
	if (!err && (index = net_add_colour(im->net, name)) == NET_NONE)
		err = qpe_out_of_memory(im);
	free(name);
	if (!err)
		return qpe_add_name(im, &im->colours, id, index);
	free(id);
	return err;
}

static int read_strategy(struct qpe_importer *im, const xmlNode *node, enum net_strategy *strategy)
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
	int err = qpe_need(im, node, "strategy", &text);
	size_t i = 0;

	if (err)
		return err;
	while (i < 5 && strcmp(known[i].name, text))
		i++;
	if (i < 5)
		*strategy = known[i].strategy;
	else
		err = qpe_fail(im, node, "unknown strategy", text);
	free(text);
	return err;
}

static int read_queue(struct qpe_importer *im, const xmlNode *node)
{
	enum net_strategy strategy = NET_FCFS;
	uint32_t index, servers = 1;
	char *name = NULL, *id = NULL;
	int err = qpe_need(im, node, "name", &name);

	if (!err)
		err = qpe_need(im, node, "id", &id);
	if (!err)
		err = read_strategy(im, node, &strategy);
	if (!err)
		err = qpe_count(im, node, "number-of-servers", 1, NET_MAX_SERVERS, &servers);
	if (!err && !servers && strategy != NET_IS)
		err = qpe_fail(im, node, "expected a server at least in attribute",
			       "number-of-servers");
	index = err ? NET_NONE : net_add_queue(im->net, name, (unsigned)xmlGetLineNo(node));
	if (!err && index == NET_NONE)
		err = qpe_out_of_memory(im);
	free(name);
	if (err) {
		free(id);
		return err;
	}
	im->net->queues[index].strategy = strategy;
	im->net->queues[index].servers = servers;
	return qpe_add_name(im, &im->queues, id, index);
}

static int make_dist(struct qpe_importer *im, const xmlNode *node, const char *kind, struct dist *d)
{
	double lambda, alpha, mean, sd, min, max, p1;
	struct err why = { 0 };
	int err = qpe_number(im, node, "lambda", 0, &lambda);

	if (!err)
		err = qpe_number(im, node, "alpha", 0, &alpha);
	if (!err)
		err = qpe_number(im, node, "mean", 0, &mean);
	if (!err)
		err = qpe_number(im, node, "stdDev", 0, &sd);
	if (!err)
		err = qpe_number(im, node, "min", 0, &min);
	if (!err)
		err = qpe_number(im, node, "max", 0, &max);
	if (!err)
		err = qpe_number(im, node, "p1", 0, &p1);
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
		return qpe_fail(im, node, "distribution-function that is not taken", kind);
	return err ? qpe_fail(im, node, "no such distribution", why.line) : 0;
}

/* Service, priority and the like of one colour in a queueing place. */
static int read_service(struct qpe_importer *im, const xmlNode *node, struct net_slot *s)
{
	uint32_t ranking = 0;
	char *kind = NULL;
	int err = qpe_count(im, node, "priority", 0, NET_MAX_PRIORITY, &s->priority);

	if (!err)
		err = qpe_count(im, node, "ranking", 0, UINT32_MAX, &ranking);
	if (!err && ranking)
		err = qpe_fail(im, node, "not taken: attribute", "ranking");
	if (!err)
		err = qpe_need(im, node, "distribution-function", &kind);
	if (!err)
		err = make_dist(im, node, kind, &s->service);
	free(kind);
	return err;
}

static int read_slot(struct qpe_importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "meta-attributes", NULL };
	struct net_place *p = &im->net->places[im->net->nr_places - 1];
	uint32_t colour, slot = NET_NONE, tokens = 0, capacity = 0;
	char *id = NULL, *colour_id = NULL;
	int err = qpe_allow(im, node, inner);

	if (!err)
		err = qpe_need(im, node, "color-id", &colour_id);
	if (!err) {
		colour = qpe_find_name(&im->colours, colour_id);
		if (colour == NET_NONE)
			err = qpe_fail(im, node, "no color of the id", colour_id);
		else if (net_find_slot(im->net, im->net->nr_places - 1, colour) != NET_NONE)
			err = qpe_fail(im, node, "a second reference to the color", colour_id);
		else if ((slot = net_add_slot(im->net, colour, (unsigned)xmlGetLineNo(node))) ==
			 NET_NONE)
			err = qpe_out_of_memory(im);
	}
	if (!err)
		err = qpe_count(im, node, "initial-population", 0, UINT32_MAX, &tokens);
	if (!err)
		err = qpe_count(im, node, "maximum-capacity", 0, UINT32_MAX, &capacity);
	if (!err) {
		im->net->slots[slot].tokens = tokens;
		im->net->slots[slot].capacity = capacity;
	}
	if (!err && p->queue != NET_NONE)
		err = read_service(im, node, &im->net->slots[slot]);
	if (!err)
		err = qpe_need(im, node, "id", &id);
	free(colour_id);
	return err ? err : qpe_add_name(im, &im->slots, id, slot);
}

static int place_queue(struct qpe_importer *im, const xmlNode *node, struct net_place *p)
{
	char *type = NULL, *ref = NULL;
	int err = qpe_need_type(im, node, &type);

	if (!err && !strcmp(type, "queueing-place")) {
		err = qpe_need(im, node, "queue-ref", &ref);
		if (!err && (p->queue = qpe_find_name(&im->queues, ref)) == NET_NONE)
			err = qpe_fail(im, node, "no queue of the id", ref);
	} else if (!err && strcmp(type, "ordinary-place")) {
		err = qpe_fail(im, node, "not taken: a place of the type", type);
	}
	free(ref);
	free(type);
	return err;
}

static int read_place(struct qpe_importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "color-refs", "meta-attributes", NULL };
	char *name = NULL, *id = NULL, *departure;
	uint32_t index = NET_NONE;
	int err = qpe_allow(im, node, inner);

	if (!err)
		err = qpe_need(im, node, "name", &name);
	if (!err &&
	    (index = net_add_place(im->net, name, (unsigned)xmlGetLineNo(node))) == NET_NONE)
		err = qpe_out_of_memory(im);
	free(name);
	if (!err)
		err = place_queue(im, node, &im->net->places[index]);
	if (!err && !(err = qpe_need(im, node, "departure-discipline", &departure))) {
		im->net->places[index].fifo = !strcmp(departure, "FIFO");
		if (strcmp(departure, "FIFO") && strcmp(departure, "NORMAL"))
			err = qpe_fail(im, node, "unknown departure-discipline", departure);
		free(departure);
	}
	if (!err)
		err = qpe_read_all(im, node, "color-refs", "color-ref", read_slot);
	if (!err)
		err = qpe_need(im, node, "id", &id);
	return err ? err : qpe_add_name(im, &im->places, id, index);
}

/* The arcs of one mode: connections that name it as source (put) or target (take). */
static int read_arcs(struct qpe_importer *im, const xmlNode *transition, const char *mode_id,
		     struct net_mode *m)
{
	const xmlNode *box = qpe_child(transition, "connections"), *c = box ? box->children : NULL;
	int err = qpe_each(im, c, "connection", &c);

	while (!err && c) {
		char *source = NULL, *target = NULL;
		uint32_t nr = 1, slot = NET_NONE;
		bool take = false, put = false;

		err = qpe_need(im, c, "source-id", &source);
		if (!err)
			err = qpe_need(im, c, "target-id", &target);
		if (!err)
			err = qpe_count(im, c, "count", 1, NET_MAX_COUNT, &nr);
		if (!err) {
			take = !strcmp(target, mode_id);
			put = !strcmp(source, mode_id);
			slot = qpe_find_name(&im->slots, take ? source : target);
		}
		if (!err && (take || put) && slot == NET_NONE)
			err = qpe_fail(im, c, "no color-ref of the id", take ? source : target);
		if (!err && take && nr)
			err = net_add_arc(&m->take, &m->nr_take, slot, nr) ? qpe_out_of_memory(im)
									   : 0;
		if (!err && put && nr)
			err = net_add_arc(&m->put, &m->nr_put, slot, nr) ? qpe_out_of_memory(im)
									 : 0;
		free(source);
		free(target);
		if (!err)
			err = qpe_each(im, c->next, "connection", &c);
	}
	return err;
}

static int read_mode(struct qpe_importer *im, const xmlNode *node, struct net_transition *t)
{
	const xmlNode *transition = node->parent->parent;
	char *name = NULL, *id = NULL;
	struct net_mode *m = NULL;
	int err = qpe_need(im, node, "name", &name);

	if (!err)
		err = qpe_need(im, node, "id", &id);
	if (!err && !(m = net_add_mode(t, name, (unsigned)xmlGetLineNo(node))))
		err = qpe_out_of_memory(im);
	if (!err)
		err = qpe_number(im, node, "firing-weight", 1, &m->weight);
	if (!err && !(m->weight > 0))
		err = qpe_fail(im, node, "expected a number above 0 in attribute", "firing-weight");
	if (!err)
		err = read_arcs(im, transition, id, m);
	free(name);
	free(id);
	return err;
}

static int read_immediate(struct qpe_importer *im, const xmlNode *node, const char *name)
{
	struct net_transition *t = net_add_transition(im->net, name, (unsigned)xmlGetLineNo(node));
	const xmlNode *box = qpe_child(node, "modes"), *c = box ? box->children : NULL;
	int err = t ? qpe_number(im, node, "weight", 1, &t->weight) : qpe_out_of_memory(im);

	if (!err && !(t->weight > 0))
		err = qpe_fail(im, node, "expected a number above 0 in attribute", "weight");
	if (!err)
		err = qpe_count(im, node, "priority", 0, NET_MAX_PRIORITY, &t->priority);
	if (!err)
		err = qpe_each(im, c, "mode", &c);
	while (!err && c) {
		err = read_mode(im, c, t);
		if (!err)
			err = qpe_each(im, c->next, "mode", &c);
	}
	return err;
}

static int read_timed_mode(struct qpe_importer *im, const xmlNode *node, const char *name)
{
	struct net_transition *t;
	struct err why = { 0 };
	char full[256], *mode;
	double delay;
	int err = qpe_need(im, node, "name", &mode);

	if (err)
		return err;
	snprintf(full, sizeof(full), "%.120s/%.120s", name, mode);
	free(mode);
	t = net_add_transition(im->net, full, (unsigned)xmlGetLineNo(node));
	if (!t)
		return qpe_out_of_memory(im);
	t->timed = true;
	err = qpe_number(im, node, "mean-firing-delay", 0, &delay);
	if (!err && dist_exponential(&t->time, delay, &why))
		err = qpe_fail(im, node, "mean-firing-delay", why.line);
	return err ? err : read_mode(im, node, t);
}

static int read_transition(struct qpe_importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "modes", "connections", "meta-attributes", NULL };
	char *type = NULL, *name = NULL;
	int err = qpe_allow(im, node, inner);

	if (!err)
		err = qpe_need_type(im, node, &type);
	if (!err)
		err = qpe_need(im, node, "name", &name);
	if (!err && !strcmp(type, "immediate-transition")) {
		err = read_immediate(im, node, name);
	} else if (!err && !strcmp(type, "timed-transition")) {
		const xmlNode *box = qpe_child(node, "modes"), *c = box ? box->children : NULL;

		err = qpe_each(im, c, "mode", &c);
		while (!err && c) {
			err = read_timed_mode(im, c, name);
			if (!err)
				err = qpe_each(im, c->next, "mode", &c);
		}
	} else if (!err) {
		err = qpe_fail(im, node, "unknown transition type", type);
	}
	free(type);
	free(name);
	return err;
}

static int probe_end(struct qpe_importer *im, const xmlNode *node, const char *place_key,
		     const char *trigger_key, uint32_t *place, bool *leave)
{
	char *id = NULL, *trigger = NULL;
	int err = qpe_need(im, node, place_key, &id);

	if (!err)
		err = qpe_need(im, node, trigger_key, &trigger);
	if (!err && (*place = qpe_find_name(&im->places, id)) == NET_NONE)
		err = qpe_fail(im, node, "no place of the id", id);
	if (!err)
		*leave = !strcmp(trigger, "exit");
	if (!err && !*leave && strcmp(trigger, "entry"))
		err = qpe_fail(im, node, "expected entry or exit in attribute", trigger_key);
	free(id);
	free(trigger);
	return err;
}

/* One probe of ours per colour of theirs. */
static int read_probe_colour(struct qpe_importer *im, const xmlNode *node)
{
	const xmlNode *probe = node->parent->parent;
	char *name = NULL, *colour_id = NULL;
	struct net_probe *p = NULL;
	uint32_t colour = NET_NONE;
	int err = qpe_need(im, probe, "name", &name);

	if (!err)
		err = qpe_need(im, node, "color-id", &colour_id);
	if (!err && (colour = qpe_find_name(&im->colours, colour_id)) == NET_NONE)
		err = qpe_fail(im, node, "no color of the id", colour_id);
	if (!err && !(p = net_add_probe(im->net, name, (unsigned)xmlGetLineNo(probe))))
		err = qpe_out_of_memory(im);
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

static int read_probe(struct qpe_importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "color-refs", "meta-attributes", NULL };
	int err = qpe_allow(im, node, inner);

	return err ? err : qpe_read_all(im, node, "color-refs", "color-ref", read_probe_colour);
}

static int read_net(struct qpe_importer *im, const xmlNode *root)
{
	static const char *const inner[] = { "colors",		"queues",      "places",
					     "transitions",	"connections", "probes",
					     "meta-attributes", NULL };
	int err;

	if (!root || !qpe_is(root, "net"))
		return err_set(im->err, EINVAL, "%s: expected a QPME net, the element \"net\"",
			       im->net->file);
	err = qpe_allow(im, root, inner);
	if (!err)
		err = qpe_read_all(im, root, "colors", "color", read_colour);
	if (!err)
		err = qpe_read_all(im, root, "queues", "queue", read_queue);
	if (!err)
		err = qpe_read_all(im, root, "places", "place", read_place);
	if (!err)
		err = qpe_read_all(im, root, "transitions", "transition", read_transition);
	if (!err)
		err = qpe_read_all(im, root, "probes", "probe", read_probe);
	return err ? err : net_validate(im->net, im->err);
}

static int parse(struct qpe_importer *im, const char *path)
{
	xmlParserCtxt *ctxt = xmlNewParserCtxt();
	xmlDoc *doc;
	int err;

	if (!ctxt)
		return qpe_out_of_memory(im);
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
	struct qpe_importer im = { .net = net_new(path), .err = err };
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
	error = im.net->name ? parse(&im, path) : qpe_out_of_memory(&im);
	qpe_release_names(&im.colours);
	qpe_release_names(&im.queues);
	qpe_release_names(&im.places);
	qpe_release_names(&im.slots);
	if (error)
		net_free(im.net);
	else
		*out = im.net;
	return error;
}
