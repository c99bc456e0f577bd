// SPDX-License-Identifier: Apache-2.0
/* Transitions of a .qpe, of the net itself or of a subnet: modes and their connections. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/qpe_xml.h"

/* The arcs of one mode: connections that name it as source (put) or target (take). */
static int read_arcs(struct qpe_importer *im, const xmlNode *transition, const char *mode_id,
		     struct net_mode *m)
{
	const xmlNode *box = qpe_child(transition, "connections"), *c = box ? box->children : NULL;
	int err = qpe_each(im, c, "connection", &c);

	while (!err && c) {
		char *source = NULL, *target = NULL;
		const struct qpe_named *ends = NULL;
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
			ends = qpe_find(&im->slots, take ? source : target);
		}
		if (!err && (take || put) && !ends)
			err = qpe_fail(im, c, "no color-ref of the id", take ? source : target);
		if (!err && (take || put))
			slot = take ? ends->output : ends->index;
		if (!err && (take || put) && slot == NET_NONE)
			err = qpe_fail(im, c, "against the direction of the color-ref",
				       take ? source : target);
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
	char full[2 * QPE_NAME_BYTES], *mode;
	double delay;
	int err = qpe_need(im, node, "name", &mode);

	if (err)
		return err;
	snprintf(full, sizeof(full), "%s/%.200s", name, mode);
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

int qpe_read_transition(struct qpe_importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "modes", "connections", "meta-attributes", NULL };
	char *type = NULL, name[QPE_NAME_BYTES];
	int err = qpe_allow(im, node, inner);

	if (!err)
		err = qpe_need_type(im, node, &type);
	if (!err)
		err = qpe_need_name(im, node, name);
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
	return err;
}
