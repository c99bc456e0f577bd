// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/models/net/qpe_import.h"
#include "analyzer/models/net/qpe_xml.h"
#include "analyzer/models/net/xml_file.h"

int qpe_read_colour(struct qpe_importer *im, const xmlNode *node)
{
	char name[QPE_NAME_BYTES];
	uint32_t index;
	int ret = qpe_need_name(im, node, name);

	if (ret)
		return ret;
	if (net_find_colour(im->net, name) != NET_NONE)
		return qpe_fail(im, node, "a second colour of the name", name);
	index = net_add_colour(im->net, name);
	if (index == NET_NONE)
		return qpe_out_of_memory(im);
	return qpe_add_id(im, node, &im->colours, index, index);
}

int qpe_need_colour(struct qpe_importer *im, const xmlNode *node, uint32_t *colour)
{
	const char *id;
	int ret = qpe_need(im, node, "color-id", &id);

	if (ret)
		return ret;
	*colour = qpe_find_name(&im->colours, id);
	return *colour == NET_NONE ? qpe_fail(im, node, "no color of the id", id) : 0;
}

static int read_queue(struct qpe_importer *im, const xmlNode *node)
{
	static const char *const words[] = { "FCFS", "PS", "IS", "PRIO", "RANDOM", NULL };
	static const enum net_strategy strategies[] = { NET_FCFS, NET_PS, NET_IS, NET_PRIORITY,
							NET_RANDOM };
	uint32_t index, servers, strategy;
	const char *name;
	int ret = qpe_need(im, node, "name", &name);

	if (ret)
		return ret;
	ret = qpe_need_word(im, node, "strategy", words, &strategy);
	if (ret)
		return ret;
	qpe_path(im, "queue.%s", name);
	ret = qpe_count(im, node, "number-of-servers", 1, NET_MAX_SERVERS, &servers);
	qpe_path_end(im);
	if (ret)
		return ret;
	if (!servers && strategies[strategy] != NET_IS)
		return qpe_fail(im, node, "expected a server at least in attribute",
				"number-of-servers");
	index = net_add_queue(im->net, name, qpe_line(node));
	if (index == NET_NONE)
		return qpe_out_of_memory(im);
	im->net->queues[index].strategy = strategies[strategy];
	im->net->queues[index].servers = servers;
	return qpe_add_id(im, node, &im->queues, index, index);
}

static int probe_end(struct qpe_importer *im, const xmlNode *node, const char *place_key,
		     const char *trigger_key, uint32_t colour, uint32_t *place, bool *leave)
{
	static const char *const triggers[] = { "entry", "exit", NULL };
	const struct qpe_named *ends;
	uint32_t trigger;
	const char *id;
	int ret = qpe_need(im, node, place_key, &id);

	if (ret)
		return ret;
	ret = qpe_need_word(im, node, trigger_key, triggers, &trigger);
	if (ret)
		return ret;
	ends = qpe_find(&im->places, id);
	if (!ends)
		return qpe_fail(im, node, "no place of the id", id);
	*leave = trigger;
	*place = *leave ? ends->output : ends->index;
	if (net_find_slot(im->net, *place, colour) == NET_NONE)
		return qpe_fail(im, node, "a color that is not in the place", id);
	return 0;
}

/* Adds one probe of the net for each colour of a QPME probe. */
static int read_probe_colour(struct qpe_importer *im, const xmlNode *node)
{
	const xmlNode *probe = node->parent->parent;
	struct net_probe *p;
	uint32_t colour;
	const char *name;
	int ret = qpe_need(im, probe, "name", &name);

	if (ret)
		return ret;
	ret = qpe_need_colour(im, node, &colour);
	if (ret)
		return ret;
	p = net_add_probe(im->net, name, qpe_line(probe));
	if (!p)
		return qpe_out_of_memory(im);
	p->from_colour = p->to_colour = colour;
	ret = probe_end(im, probe, "start-place-id", "start-trigger", colour, &p->from_place,
			&p->from_leave);
	if (ret)
		return ret;
	return probe_end(im, probe, "end-place-id", "end-trigger", colour, &p->to_place,
			 &p->to_leave);
}

static int read_probe(struct qpe_importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "color-refs", "meta-attributes", NULL };
	int ret = qpe_allow(im, node, inner);

	return ret ? ret : qpe_read_all(im, node, "color-refs", "color-ref", read_probe_colour);
}

/*
 * Reads the run length from the first SimQPN configuration in the file, in the net's unit of time.
 */
static int read_run_length(struct qpe_importer *im, const xmlNode *root)
{
	const xmlNode *box = qpe_child(root, "meta-attributes");

	for (const xmlNode *c = box ? box->children : NULL; c; c = c->next) {
		double length;
		int ret;

		if (c->type != XML_ELEMENT_NODE)
			continue;
		ret = qpe_number(im, c, "total-run-length", 0, &length);
		if (ret)
			return ret;
		if (length > 0) {
			im->net->run_length = length;
			return 0;
		}
	}
	return 0;
}

static int read_net(struct qpe_importer *im, const xmlNode *root)
{
	static const char *const inner[] = { "colors",		"queues",      "places",
					     "transitions",	"connections", "probes",
					     "meta-attributes", NULL };
	static const struct {
		const char *box, *element;
		int (*read)(struct qpe_importer *im, const xmlNode *node);
	} parts[] = {
		{ "colors", "color", qpe_read_colour },
		{ "queues", "queue", read_queue },
		{ "places", "place", qpe_read_place },
		{ "transitions", "transition", qpe_read_transition },
		{ "probes", "probe", read_probe },
	};
	int ret;

	if (!root || !qpe_is(root, "net"))
		return err_set(im->err, EINVAL, "%s: expected a QPME net, the element \"net\"",
			       im->net->file);
	ret = qpe_allow(im, root, inner);
	if (ret)
		return ret;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		ret = qpe_read_all(im, root, parts[i].box, parts[i].element, parts[i].read);
		if (ret)
			return ret;
	}
	ret = read_run_length(im, root);
	if (ret)
		return ret;
	ret = qpe_check_settings(im);
	return ret ? ret : net_validate(im->net, im->err);
}

/* Discards messages: libxml2 prints conversion errors itself, whatever its options are. */
static void keep_quiet(void *unused, xmlError *error)
{
	(void)unused;
	(void)error;
}

static int qpe_import_parse(struct qpe_importer *im, const char *path)
{
	xmlStructuredErrorFunc before = xmlStructuredError;
	void *before_context = xmlStructuredErrorContext;
	xmlParserCtxt *ctxt = xmlNewParserCtxt();
	xmlDoc *doc;
	int ret;

	if (!ctxt)
		return qpe_out_of_memory(im);
	xmlSetStructuredErrorFunc(NULL, keep_quiet);
	ret = xml_file_parse(ctxt, path, 0, &doc, im->err);
	xmlSetStructuredErrorFunc(before_context, before);
	if (ret == 0)
		ret = read_net(im, xmlDocGetRootElement(doc));
	xmlFreeDoc(doc);
	xmlFreeParserCtxt(ctxt);
	return ret;
}

int qpe_import(struct net **out, const char *path, const struct net_setting *settings,
	       size_t nr_settings, struct err *err)
{
	struct qpe_importer im = {
		.net = net_new(path), .err = err, .settings = settings, .nr_settings = nr_settings
	};
	int ret;

	if (!im.net)
		return err_set(err, ENOMEM, "%s: %s", path, strerror(ENOMEM));
	im.net->name = strdup("");
	ret = im.net->name ? qpe_import_parse(&im, path) : qpe_out_of_memory(&im);
	qpe_release(&im);
	if (ret)
		net_free(im.net);
	else
		*out = im.net;
	return ret;
}
