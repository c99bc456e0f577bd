// SPDX-License-Identifier: Apache-2.0
/*
 * Places of a .qpe file. A subnet place is unfolded: its places become places "subnet/place" of
 * the net. Tokens that are put into it arrive at its place "input-place", and tokens that are
 * taken from it come from its "output-place". "actual population" becomes an ordinary place.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/dist_law.h"
#include "analyzer/models/net/number_file.h"
#include "analyzer/models/net/qpe_xml.h"

/* Makes a histogram of equal bins from offset to offset + scale, whose shares are in a file. */
static int make_empirical(struct qpe_importer *im, const xmlNode *node, struct dist *d)
{
	double offset, scale, *shares = NULL, *edges = NULL;
	char *name = NULL, path[4096];
	struct err why = { 0 };
	size_t nr = 0;
	int ret = qpe_number(im, node, "offset", 0, &offset);

	if (!ret)
		ret = qpe_number(im, node, "scale", 1, &scale);
	if (!ret && !(scale > 0 && offset >= 0))
		ret = qpe_fail(im, node, "expected a scale above 0 and an offset at or above 0",
			       NULL);
	/* The older name of the attribute is tried first. */
	if (!ret && !(name = qpe_attribute(node, "input-file")))
		ret = qpe_need(im, node, "pdf_filename", &name);
	if (!ret && number_file_path(path, sizeof(path), im->net->file, name))
		ret = qpe_fail(im, node, "the path is too long", NULL);
	free(name);
	if (ret)
		goto out;
	if (number_file_read(&shares, &nr, path, &why))
		ret = qpe_fail(im, node, "its file of shares", why.line);
	if (ret)
		goto out;
	if (!(edges = calloc(nr + 1, sizeof(*edges))))
		ret = qpe_out_of_memory(im);
	if (ret)
		goto out;
	for (size_t i = 0; i <= nr; i++)
		edges[i] = offset + scale * (double)i / (double)nr;
	if (dist_histogram(d, edges, shares, nr, &why))
		ret = qpe_fail(im, node, "no such distribution", why.line);
out:
	free(edges);
	free(shares);
	return ret;
}

static int make_dist(struct qpe_importer *im, const xmlNode *node, const char *kind, struct dist *d)
{
	const struct dist_law *law = dist_law_find_qpme(kind);
	double v[DIST_LAW_MAX_NUMBERS] = { 0 };
	struct err why = { 0 };
	int ret = 0;

	if (!strcmp(kind, "Empirical"))
		return make_empirical(im, node, d);
	if (!law)
		return qpe_fail(im, node, "distribution-function that is not taken", kind);
	for (int i = 0; law->attributes[i]; i++) {
		ret = qpe_need_number(im, node, law->attributes[i], &v[i]);
		if (ret)
			return ret;
	}
	if (law->make(d, v, &why))
		ret = qpe_fail(im, node, "no such distribution", why.line);
	return ret;
}

/* Reads service, priority and other properties of one colour in a queueing place. */
static int read_service(struct qpe_importer *im, const xmlNode *node, struct net_slot *s)
{
	uint32_t ranking = 0;
	char *kind = NULL;
	int ret = qpe_count(im, node, "priority", 0, NET_MAX_PRIORITY, &s->priority);

	if (ret)
		goto out;
	ret = qpe_count(im, node, "ranking", 0, UINT32_MAX, &ranking);
	if (ret)
		goto out;
	if (ranking)
		ret = qpe_fail(im, node, "not taken: attribute", "ranking");
	if (ret)
		goto out;
	ret = qpe_need(im, node, "distribution-function", &kind);
	if (ret)
		goto out;
	ret = make_dist(im, node, kind, &s->service);
out:
	free(kind);
	return ret;
}

static int read_slot(struct qpe_importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "meta-attributes", NULL };
	struct net_place *p = &im->net->places[im->net->nr_places - 1];
	uint32_t colour, slot = NET_NONE, tokens = 0, capacity = 0;
	char *id = NULL, *colour_id = NULL;
	int ret = qpe_allow(im, node, inner);

	if (!ret)
		ret = qpe_need(im, node, "color-id", &colour_id);
	if (!ret) {
		colour = qpe_find_name(&im->colours, colour_id);
		if (colour == NET_NONE)
			ret = qpe_fail(im, node, "no color of the id", colour_id);
		else if (net_find_slot(im->net, im->net->nr_places - 1, colour) != NET_NONE)
			ret = qpe_fail(im, node, "a second reference to the color", colour_id);
		else if ((slot = net_add_slot(im->net, colour, qpe_line(node))) == NET_NONE)
			ret = qpe_out_of_memory(im);
	}
	if (!ret)
		ret = qpe_count(im, node, "initial-population", 0, UINT32_MAX, &tokens);
	if (!ret)
		ret = qpe_count(im, node, "maximum-capacity", 0, UINT32_MAX, &capacity);
	if (!ret) {
		im->net->slots[slot].tokens = tokens;
		im->net->slots[slot].capacity = capacity;
	}
	if (!ret && p->queue != NET_NONE)
		ret = read_service(im, node, &im->net->slots[slot]);
	if (!ret)
		ret = qpe_need(im, node, "id", &id);
	free(colour_id);
	return ret ? ret : qpe_add_name(im, node, &im->slots, id, slot, slot);
}

static int place_queue(struct qpe_importer *im, const xmlNode *node, const char *type,
		       struct net_place *p)
{
	char *ref = NULL;
	int ret = 0;

	if (!strcmp(type, "queueing-place")) {
		ret = qpe_need(im, node, "queue-ref", &ref);
		if (!ret && (p->queue = qpe_find_name(&im->queues, ref)) == NET_NONE)
			ret = qpe_fail(im, node, "no queue of the id", ref);
	} else if (strcmp(type, "ordinary-place")) {
		ret = qpe_fail(im, node, "unknown place type", type);
	}
	free(ref);
	return ret;
}

static int qpe_places_departure(struct qpe_importer *im, const xmlNode *node, bool *fifo)
{
	char *text = NULL;
	int ret = qpe_need(im, node, "departure-discipline", &text);

	if (ret)
		goto out;
	*fifo = !strcmp(text, "FIFO");
	if (!*fifo && strcmp(text, "NORMAL"))
		ret = qpe_fail(im, node, "unknown departure-discipline", text);
out:
	free(text);
	return ret;
}

static int read_plain(struct qpe_importer *im, const xmlNode *node, const char *type)
{
	static const char *const inner[] = { "color-refs", "meta-attributes", NULL };
	char *id = NULL, name[QPE_NAME_BYTES];
	uint32_t index = NET_NONE;
	int ret = qpe_allow(im, node, inner);

	if (!ret)
		ret = qpe_need_name(im, node, name);
	if (!ret && (index = net_add_place(im->net, name, qpe_line(node))) == NET_NONE)
		ret = qpe_out_of_memory(im);
	if (!ret)
		ret = place_queue(im, node, type, &im->net->places[index]);
	if (!ret)
		ret = qpe_places_departure(im, node, &im->net->places[index].fifo);
	if (!ret)
		ret = qpe_read_all(im, node, "color-refs", "color-ref", read_slot);
	if (!ret)
		ret = qpe_need(im, node, "id", &id);
	return ret ? ret : qpe_add_name(im, node, &im->places, id, index, index);
}

/* Finds the place of this name inside a subnet, whose places are those from `first` on. */
static int inner_place(struct qpe_importer *im, const xmlNode *node, uint32_t first,
		       const char *name, uint32_t *place)
{
	size_t prefix = strlen(im->prefix);

	for (*place = first; *place < im->net->nr_places; ++*place)
		if (!strcmp(im->net->places[*place].name + prefix, name))
			return 0;
	return qpe_fail(im, node, "a subnet without the place", name);
}

/* A color-ref of a subnet stands for the slot of its input place, of its output place, or both. */
static int subnet_slot(struct qpe_importer *im, const xmlNode *node, uint32_t input,
		       uint32_t output)
{
	char *id = NULL, *colour_id = NULL, *direction = NULL;
	uint32_t colour = NET_NONE, tokens = 0, capacity = 0, in = NET_NONE, out = NET_NONE;
	bool is_in = false, is_out = false;
	int ret = qpe_need(im, node, "color-id", &colour_id);

	if (!ret && (colour = qpe_find_name(&im->colours, colour_id)) == NET_NONE)
		ret = qpe_fail(im, node, "no color of the id", colour_id);
	if (!ret)
		ret = qpe_count(im, node, "initial-population", 0, UINT32_MAX, &tokens);
	if (!ret && tokens)
		ret = qpe_fail(im, node,
			       "not taken: tokens of a subnet as such, its places hold them",
			       "initial-population");
	if (!ret)
		ret = qpe_count(im, node, "maximum-capacity", 0, UINT32_MAX, &capacity);
	if (!ret && capacity)
		ret = qpe_fail(im, node, "not taken: attribute of a subnet", "maximum-capacity");
	if (!ret)
		ret = qpe_need(im, node, "direction", &direction);
	if (!ret) {
		is_in = !strcmp(direction, "in") || !strcmp(direction, "both");
		is_out = !strcmp(direction, "out") || !strcmp(direction, "both");
		if (!is_in && !is_out)
			ret = qpe_fail(im, node, "expected in, out or both in attribute",
				       "direction");
	}
	if (!ret && is_in && (in = net_find_slot(im->net, input, colour)) == NET_NONE)
		ret = qpe_fail(im, node, "the subnet's input-place has not this color", NULL);
	if (!ret && is_out && (out = net_find_slot(im->net, output, colour)) == NET_NONE)
		ret = qpe_fail(im, node, "the subnet's output-place has not this color", NULL);
	if (!ret)
		ret = qpe_need(im, node, "id", &id);
	free(colour_id);
	free(direction);
	return ret ? ret : qpe_add_name(im, node, &im->slots, id, in, out);
}

/* Reads the inside of a subnet, and its two ends. */
static int read_inside(struct qpe_importer *im, const xmlNode *subnet, uint32_t *input,
		       uint32_t *output)
{
	static const char *const inner[] = { "colors", "places", "transitions", "connections",
					     NULL };
	uint32_t first = im->net->nr_places;
	int ret = qpe_allow(im, subnet, inner);

	if (ret)
		return ret;
	ret = qpe_read_all(im, subnet, "colors", "color", qpe_read_colour);
	if (ret)
		return ret;
	ret = qpe_read_all(im, subnet, "places", "place", qpe_read_place);
	if (ret)
		return ret;
	ret = inner_place(im, subnet, first, "input-place", input);
	if (ret)
		return ret;
	ret = inner_place(im, subnet, first, "output-place", output);
	if (ret)
		return ret;
	return qpe_read_all(im, subnet, "transitions", "transition", qpe_read_transition);
}

static int read_subnet(struct qpe_importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "color-refs", "meta-attributes", "subnet", NULL };
	const xmlNode *subnet = qpe_child(node, "subnet"), *box = qpe_child(node, "color-refs"), *c;
	size_t prefix = strlen(im->prefix);
	char *id = NULL, name[QPE_NAME_BYTES];
	uint32_t input = NET_NONE, output = NET_NONE;
	bool fifo = false;
	int ret = qpe_allow(im, node, inner);

	if (!ret && !subnet)
		ret = qpe_fail(im, node, "expected the element", "subnet");
	if (!ret)
		ret = qpe_need_name(im, node, name);
	if (!ret)
		ret = qpe_places_departure(im, node, &fifo);
	if (ret)
		return ret;
	if (strlen(name) + 2 > sizeof(im->prefix))
		return qpe_fail(im, node, "the name is too long", NULL);
	snprintf(im->prefix, sizeof(im->prefix), "%s/", name);
	ret = read_inside(im, subnet, &input, &output);
	im->prefix[prefix] = 0;
	if (!ret && fifo)
		im->net->places[output].fifo = true;
	c = box ? box->children : NULL;
	if (!ret)
		ret = qpe_each(im, c, "color-ref", &c);
	while (!ret && c) {
		ret = subnet_slot(im, c, input, output);
		if (!ret)
			ret = qpe_each(im, c->next, "color-ref", &c);
	}
	if (!ret)
		ret = qpe_need(im, node, "id", &id);
	return ret ? ret : qpe_add_name(im, node, &im->places, id, input, output);
}

int qpe_read_place(struct qpe_importer *im, const xmlNode *node)
{
	char *type = NULL;
	int ret = qpe_need_type(im, node, &type);

	if (ret)
		goto out;
	ret = !strcmp(type, "subnet-place") ? read_subnet(im, node) : read_plain(im, node, type);
out:
	free(type);
	return ret;
}
