// SPDX-License-Identifier: Apache-2.0
/* Transitions of a .qpe file, of the net itself or of a subnet: modes and their connections. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/qpe_xml.h"

/*
 * Reads the arcs of one mode: the connections that name it as their source (put) or target (take).
 */
static int read_arcs(struct qpe_importer *im, const xmlNode *transition, const char *mode_id,
		     struct net_mode *m)
{
	const xmlNode *box = qpe_child(transition, "connections"), *c = box ? box->children : NULL;
	int ret = qpe_each(im, c, "connection", &c);

	while (!ret && c) {
		char *source = NULL, *target = NULL;
		const struct qpe_named *ends = NULL;
		uint32_t nr = 1, slot = NET_NONE;
		bool take = false, put = false;

		ret = qpe_need(im, c, "source-id", &source);
		if (!ret)
			ret = qpe_need(im, c, "target-id", &target);
		if (!ret)
			ret = qpe_count(im, c, "count", 1, NET_MAX_COUNT, &nr);
		if (!ret) {
			take = !strcmp(target, mode_id);
			put = !strcmp(source, mode_id);
			ends = qpe_find(&im->slots, take ? source : target);
		}
		if (!ret && (take || put) && !ends)
			ret = qpe_fail(im, c, "no color-ref of the id", take ? source : target);
		if (!ret && (take || put))
			slot = take ? ends->output : ends->index;
		if (!ret && (take || put) && slot == NET_NONE)
			ret = qpe_fail(im, c, "against the direction of the color-ref",
				       take ? source : target);
		if (!ret && take && nr)
			ret = net_add_arc(&m->take, &m->nr_take, slot, nr) ? qpe_out_of_memory(im)
									   : 0;
		if (!ret && put && nr)
			ret = net_add_arc(&m->put, &m->nr_put, slot, nr) ? qpe_out_of_memory(im)
									 : 0;
		free(source);
		free(target);
		if (!ret)
			ret = qpe_each(im, c->next, "connection", &c);
	}
	return ret;
}

static int read_mode(struct qpe_importer *im, const xmlNode *node, struct net_transition *t)
{
	const xmlNode *transition = node->parent->parent;
	char *name = NULL, *id = NULL;
	struct net_mode *m = NULL;
	int ret = qpe_need(im, node, "name", &name);

	if (ret)
		goto out;
	ret = qpe_need(im, node, "id", &id);
	if (ret)
		goto out;
	if (!(m = net_add_mode(t, name, (unsigned)xmlGetLineNo(node))))
		ret = qpe_out_of_memory(im);
	if (ret)
		goto out;
	ret = qpe_number(im, node, "firing-weight", 1, &m->weight);
	if (ret)
		goto out;
	if (!(m->weight > 0))
		ret = qpe_fail(im, node, "expected a number above 0 in attribute", "firing-weight");
	if (ret)
		goto out;
	ret = read_arcs(im, transition, id, m);
out:
	free(name);
	free(id);
	return ret;
}

static int read_immediate(struct qpe_importer *im, const xmlNode *node, const char *name)
{
	struct net_transition *t = net_add_transition(im->net, name, (unsigned)xmlGetLineNo(node));
	const xmlNode *box = qpe_child(node, "modes"), *c = box ? box->children : NULL;
	int ret = t ? qpe_number(im, node, "weight", 1, &t->weight) : qpe_out_of_memory(im);

	if (!ret && !(t->weight > 0))
		ret = qpe_fail(im, node, "expected a number above 0 in attribute", "weight");
	if (!ret)
		ret = qpe_count(im, node, "priority", 0, NET_MAX_PRIORITY, &t->priority);
	if (!ret)
		ret = qpe_each(im, c, "mode", &c);
	while (!ret && c) {
		ret = read_mode(im, c, t);
		if (!ret)
			ret = qpe_each(im, c->next, "mode", &c);
	}
	return ret;
}

static int read_timed_mode(struct qpe_importer *im, const xmlNode *node, const char *name)
{
	struct net_transition *t;
	struct err why = { 0 };
	char full[2 * QPE_NAME_BYTES], *mode;
	double delay;
	int ret = qpe_need(im, node, "name", &mode);

	if (ret)
		return ret;
	snprintf(full, sizeof(full), "%s/%.200s", name, mode);
	free(mode);
	t = net_add_transition(im->net, full, (unsigned)xmlGetLineNo(node));
	if (!t)
		return qpe_out_of_memory(im);
	t->timed = true;
	ret = qpe_number(im, node, "mean-firing-delay", 0, &delay);
	if (!ret && dist_exponential(&t->time, delay, &why))
		ret = qpe_fail(im, node, "mean-firing-delay", why.line);
	return ret ? ret : read_mode(im, node, t);
}

int qpe_read_transition(struct qpe_importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "modes", "connections", "meta-attributes", NULL };
	char *type = NULL, name[QPE_NAME_BYTES];
	int ret = qpe_allow(im, node, inner);

	if (!ret)
		ret = qpe_need_type(im, node, &type);
	if (!ret)
		ret = qpe_need_name(im, node, name);
	if (!ret && !strcmp(type, "immediate-transition")) {
		ret = read_immediate(im, node, name);
	} else if (!ret && !strcmp(type, "timed-transition")) {
		const xmlNode *box = qpe_child(node, "modes"), *c = box ? box->children : NULL;

		ret = qpe_each(im, c, "mode", &c);
		while (!ret && c) {
			ret = read_timed_mode(im, c, name);
			if (!ret)
				ret = qpe_each(im, c->next, "mode", &c);
		}
	} else if (!ret) {
		ret = qpe_fail(im, node, "unknown transition type", type);
	}
	free(type);
	return ret;
}
