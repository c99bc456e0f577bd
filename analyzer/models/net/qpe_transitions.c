// SPDX-License-Identifier: Apache-2.0
/*
 * This file imports the transitions of a .qpe file, of the net itself or of a subnet: modes and
 * their connections.
 */
#include <stdio.h>
#include <string.h>

#include "analyzer/models/net/qpe_xml.h"

/* Adds one end of a connection, at the color-ref id, to the arcs of a mode. */
static int read_arc(struct qpe_importer *im, const xmlNode *node, const char *id, bool take,
		    uint32_t nr, struct net_mode *m)
{
	const struct qpe_named *ends = qpe_find(&im->slots, id);
	uint32_t slot;
	int ret;

	if (!ends)
		return qpe_fail(im, node, "no color-ref of the id", id);
	slot = take ? ends->output : ends->index;
	if (slot == NET_NONE)
		return qpe_fail(im, node, "against the direction of the color-ref", id);
	if (!nr)
		return 0;
	ret = take ? net_add_arc(&m->take, &m->nr_take, slot, nr)
		   : net_add_arc(&m->put, &m->nr_put, slot, nr);
	return ret ? qpe_out_of_memory(im) : 0;
}

/* Reads a connection if it names the mode as its source (put) or target (take). */
static int read_connection(struct qpe_importer *im, const xmlNode *node, const char *mode_id,
			   struct net_mode *m)
{
	const char *source, *target;
	uint32_t nr;
	int ret = qpe_need(im, node, "source-id", &source);

	if (ret)
		return ret;
	ret = qpe_need(im, node, "target-id", &target);
	if (ret)
		return ret;
	ret = qpe_count(im, node, "count", 1, NET_MAX_COUNT, &nr);
	if (ret)
		return ret;
	if (!strcmp(target, mode_id))
		return read_arc(im, node, source, true, nr, m);
	return strcmp(source, mode_id) ? 0 : read_arc(im, node, target, false, nr, m);
}

static int read_arcs(struct qpe_importer *im, const xmlNode *transition, const char *mode_id,
		     struct net_mode *m)
{
	const xmlNode *box = qpe_child(transition, "connections"), *c = box ? box->children : NULL;

	for (;; c = c->next) {
		int ret = qpe_each(im, c, "connection", &c);

		if (ret || !c)
			return ret;
		ret = read_connection(im, c, mode_id, m);
		if (ret)
			return ret;
	}
}

static int qpe_need_weight(struct qpe_importer *im, const xmlNode *node, const char *name,
			   double *weight)
{
	int ret = qpe_number(im, node, name, 1, weight);

	if (ret || *weight > 0)
		return ret;
	return qpe_fail(im, node, "expected a number above 0 in attribute", name);
}

static int read_mode(struct qpe_importer *im, const xmlNode *node, struct net_transition *t)
{
	const char *name, *id;
	struct net_mode *m;
	int ret = qpe_need(im, node, "name", &name);

	if (ret)
		return ret;
	ret = qpe_need(im, node, "id", &id);
	if (ret)
		return ret;
	m = net_add_mode(t, name, qpe_line(node));
	if (!m)
		return qpe_out_of_memory(im);
	ret = qpe_need_weight(im, node, "firing-weight", &m->weight);
	qpe_path_end(im);
	return ret ? ret : read_arcs(im, node->parent->parent, id, m);
}

static int read_timed_mode(struct qpe_importer *im, const xmlNode *node, const char *name)
{
	struct net_transition *t;
	struct err why = { 0 };
	char full[2 * QPE_NAME_BYTES];
	const char *mode;
	double delay;
	int ret = qpe_need(im, node, "name", &mode);

	if (ret)
		return ret;
	snprintf(full, sizeof(full), "%s/%.200s", name, mode);
	t = net_add_transition(im->net, full, qpe_line(node));
	if (!t)
		return qpe_out_of_memory(im);
	t->timed = true;
	ret = qpe_number(im, node, "mean-firing-delay", 0, &delay);
	if (ret)
		return ret;
	if (dist_exponential(&t->time, delay, &why))
		return qpe_fail(im, node, "mean-firing-delay", why.line);
	return read_mode(im, node, t);
}

/* Reads the modes of an immediate transition t, or each mode as a timed transition of its own. */
static int read_modes(struct qpe_importer *im, const xmlNode *node, const char *name,
		      struct net_transition *t)
{
	const xmlNode *box = qpe_child(node, "modes"), *c = box ? box->children : NULL;
	const char *mode;

	for (;; c = c->next) {
		int ret = qpe_each(im, c, "mode", &c);

		if (ret || !c)
			return ret;
		ret = qpe_need(im, c, "name", &mode);
		if (ret)
			return ret;
		qpe_path(im, "transition.%s.mode.%s", name, mode);
		ret = t ? read_mode(im, c, t) : read_timed_mode(im, c, name);
		if (ret)
			return ret;
	}
}

static int read_immediate(struct qpe_importer *im, const xmlNode *node, const char *name)
{
	struct net_transition *t = net_add_transition(im->net, name, qpe_line(node));
	int ret;

	if (!t)
		return qpe_out_of_memory(im);
	qpe_path(im, "transition.%s", name);
	ret = qpe_need_weight(im, node, "weight", &t->weight);
	if (ret)
		return ret;
	ret = qpe_count(im, node, "priority", 0, NET_MAX_PRIORITY, &t->priority);
	qpe_path_end(im);
	return ret ? ret : read_modes(im, node, name, t);
}

int qpe_read_transition(struct qpe_importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "modes", "connections", "meta-attributes", NULL };
	char name[QPE_NAME_BYTES];
	const char *type;
	int ret = qpe_allow(im, node, inner);

	if (ret)
		return ret;
	ret = qpe_need_type(im, node, &type);
	if (ret)
		return ret;
	ret = qpe_need_name(im, node, name);
	if (ret)
		return ret;
	if (!strcmp(type, "immediate-transition"))
		return read_immediate(im, node, name);
	if (!strcmp(type, "timed-transition"))
		return read_modes(im, node, name, NULL);
	return qpe_fail(im, node, "unknown transition type", type);
}
