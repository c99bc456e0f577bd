// SPDX-License-Identifier: Apache-2.0
/*
 * Places of a .qpe file. A subnet place is unfolded: its places become places "subnet/place" of
 * the net. Tokens that are put into it arrive at its place "input-place", and tokens that are
 * taken from it come from its "output-place". "actual population" becomes an ordinary place.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/dist_law.h"
#include "analyzer/models/net/number_file.h"
#include "analyzer/models/net/qpe_xml.h"

static int qpe_empirical_path(struct qpe_importer *im, const xmlNode *node, double *offset,
			      double *scale, char *path, size_t path_bytes)
{
	const char *name;
	int ret = qpe_number(im, node, "offset", 0, offset);

	if (ret)
		return ret;
	ret = qpe_number(im, node, "scale", 1, scale);
	if (ret)
		return ret;
	if (!(*scale > 0 && *offset >= 0))
		return qpe_fail(im, node, "expected a scale above 0 and an offset at or above 0",
				NULL);
	/* The older name of the attribute is tried first. */
	ret = qpe_attribute(im, node, "input-file", &name);
	if (ret)
		return ret;
	if (!name)
		ret = qpe_need(im, node, "pdf_filename", &name);
	if (ret)
		return ret;
	if (number_file_path(path, path_bytes, im->net->file, name))
		return qpe_fail(im, node, "the path is too long", NULL);
	return 0;
}

/* Makes a histogram of equal bins from offset to offset + scale, whose shares are in a file. */
static int make_empirical(struct qpe_importer *im, const xmlNode *node, struct dist *d)
{
	double offset, scale, *shares = NULL, *edges = NULL;
	struct err why = { 0 };
	char path[4096];
	size_t nr = 0;
	int ret = qpe_empirical_path(im, node, &offset, &scale, path, sizeof(path));

	if (ret)
		return ret;
	if (number_file_read(&shares, &nr, path, &why))
		return qpe_fail(im, node, "its file of shares", why.line);
	edges = calloc(nr + 1, sizeof(*edges));
	if (!edges) {
		ret = qpe_out_of_memory(im);
		goto out;
	}
	for (size_t i = 0; i <= nr; i++)
		edges[i] = offset + scale * (double)i / (double)nr;
	if (dist_histogram(d, edges, shares, nr, &why))
		ret = qpe_fail(im, node, "no such distribution", why.line);
out:
	free(edges);
	free(shares);
	return ret;
}

/* Takes the mean from the settings, for laws that have one number, which the mean determines. */
static int set_mean(struct qpe_importer *im, const xmlNode *node, const struct dist_law *law,
		    double *number)
{
	bool is_exponential = !strcmp(law->qpme, "Exponential"), set;
	double mean = NAN;
	int ret;

	if (!is_exponential && strcmp(law->qpme, "Deterministic") != 0)
		return 0;
	ret = qpe_parameter(im, "mean", &mean, &set);
	if (ret || !set)
		return ret;
	if (qpe_is_set(im, law->attributes[0]))
		return qpe_fail(im, node, "set by its mean and a second time by",
				law->attributes[0]);
	*number = is_exponential ? 1 / mean : mean;
	return 0;
}

static int make_dist(struct qpe_importer *im, const xmlNode *node, const char *kind, struct dist *d)
{
	const struct dist_law *law = dist_law_find_qpme(kind);
	double v[DIST_LAW_MAX_NUMBERS] = { 0 };
	struct err why = { 0 };
	int ret;

	if (!strcmp(kind, "Empirical"))
		return make_empirical(im, node, d);
	if (!law)
		return qpe_fail(im, node, "distribution-function that is not taken", kind);
	for (int i = 0; law->attributes[i]; i++) {
		ret = qpe_need_number(im, node, law->attributes[i], &v[i]);

		if (ret)
			return ret;
	}
	ret = set_mean(im, node, law, &v[0]);
	if (ret)
		return ret;
	if (law->make(d, v, &why))
		return qpe_fail(im, node, "no such distribution", why.line);
	return 0;
}

/* Reads service, priority and other properties of one colour in a queueing place. */
static int read_service(struct qpe_importer *im, const xmlNode *node, struct net_slot *s)
{
	uint32_t ranking = 0;
	const char *kind;
	int ret = qpe_count(im, node, "priority", 0, NET_MAX_PRIORITY, &s->priority);

	if (ret)
		return ret;
	ret = qpe_count(im, node, "ranking", 0, UINT32_MAX, &ranking);
	if (ret)
		return ret;
	if (ranking)
		return qpe_fail(im, node, "not taken: attribute", "ranking");
	ret = qpe_need(im, node, "distribution-function", &kind);
	return ret ? ret : make_dist(im, node, kind, &s->service);
}

static int read_slot(struct qpe_importer *im, const xmlNode *node)
{
	static const char *const inner[] = { "meta-attributes", NULL };
	uint32_t place = im->net->nr_places - 1, colour, slot, tokens, capacity;
	int ret = qpe_allow(im, node, inner);

	if (ret)
		return ret;
	ret = qpe_need_colour(im, node, &colour);
	if (ret)
		return ret;
	if (net_find_slot(im->net, place, colour) != NET_NONE)
		return qpe_fail(im, node, "a second reference to the color",
				im->net->colours[colour]);
	slot = net_add_slot(im->net, colour, qpe_line(node));
	if (slot == NET_NONE)
		return qpe_out_of_memory(im);
	qpe_path(im, "place.%s.color.%s", im->net->places[place].name, im->net->colours[colour]);
	ret = qpe_count(im, node, "initial-population", 0, UINT32_MAX, &tokens);
	if (ret)
		return ret;
	ret = qpe_count(im, node, "maximum-capacity", 0, UINT32_MAX, &capacity);
	if (ret)
		return ret;
	im->net->slots[slot].tokens = tokens;
	im->net->slots[slot].capacity = capacity;
	if (im->net->places[place].queue != NET_NONE)
		ret = read_service(im, node, &im->net->slots[slot]);
	qpe_path_end(im);
	return ret ? ret : qpe_add_id(im, node, &im->slots, slot, slot);
}

static int place_queue(struct qpe_importer *im, const xmlNode *node, const char *type,
		       struct net_place *p)
{
	const char *ref;
	int ret;

	if (!strcmp(type, "ordinary-place"))
		return 0;
	if (strcmp(type, "queueing-place"))
		return qpe_fail(im, node, "unknown place type", type);
	ret = qpe_need(im, node, "queue-ref", &ref);
	if (ret)
		return ret;
	p->queue = qpe_find_name(&im->queues, ref);
	return p->queue == NET_NONE ? qpe_fail(im, node, "no queue of the id", ref) : 0;
}

static int qpe_places_departure(struct qpe_importer *im, const xmlNode *node, bool *fifo)
{
	static const char *const words[] = { "NORMAL", "FIFO", NULL };
	uint32_t index;
	int ret = qpe_need_word(im, node, "departure-discipline", words, &index);

	*fifo = index;
	return ret;
}

static int read_plain(struct qpe_importer *im, const xmlNode *node, const char *type)
{
	static const char *const inner[] = { "color-refs", "meta-attributes", NULL };
	char name[QPE_NAME_BYTES];
	uint32_t index;
	int ret = qpe_allow(im, node, inner);

	if (ret)
		return ret;
	ret = qpe_need_name(im, node, name);
	if (ret)
		return ret;
	index = net_add_place(im->net, name, qpe_line(node));
	if (index == NET_NONE)
		return qpe_out_of_memory(im);
	ret = place_queue(im, node, type, &im->net->places[index]);
	if (ret)
		return ret;
	ret = qpe_places_departure(im, node, &im->net->places[index].fifo);
	if (ret)
		return ret;
	ret = qpe_read_all(im, node, "color-refs", "color-ref", read_slot);
	return ret ? ret : qpe_add_id(im, node, &im->places, index, index);
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

/* Refuses an attribute of a subnet's color-ref that its places have instead. */
static int subnet_refuse(struct qpe_importer *im, const xmlNode *node, const char *attribute,
			 const char *what)
{
	uint32_t value;
	int ret = qpe_count(im, node, attribute, 0, UINT32_MAX, &value);

	return ret || !value ? ret : qpe_fail(im, node, what, attribute);
}

/* A color-ref of a subnet stands for the slot of its input place, of its output place, or both. */
static int subnet_slot(struct qpe_importer *im, const xmlNode *node, uint32_t input,
		       uint32_t output)
{
	static const char *const directions[] = { "in", "out", "both", NULL };
	uint32_t colour, direction, in = NET_NONE, out = NET_NONE;
	int ret = qpe_need_colour(im, node, &colour);

	if (ret)
		return ret;
	ret = subnet_refuse(im, node, "initial-population",
			    "not taken: tokens of a subnet as such, its places hold them");
	if (ret)
		return ret;
	ret = subnet_refuse(im, node, "maximum-capacity", "not taken: attribute of a subnet");
	if (ret)
		return ret;
	ret = qpe_need_word(im, node, "direction", directions, &direction);
	if (ret)
		return ret;
	if (direction != 1) { /* in or both */
		in = net_find_slot(im->net, input, colour);
		if (in == NET_NONE)
			return qpe_fail(im, node, "the subnet's input-place has not this color",
					NULL);
	}
	if (direction != 0) { /* out or both */
		out = net_find_slot(im->net, output, colour);
		if (out == NET_NONE)
			return qpe_fail(im, node, "the subnet's output-place has not this color",
					NULL);
	}
	return qpe_add_id(im, node, &im->slots, in, out);
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
	char name[QPE_NAME_BYTES];
	uint32_t input = NET_NONE, output = NET_NONE;
	bool fifo = false;
	int ret = qpe_allow(im, node, inner);

	if (ret)
		return ret;
	if (!subnet)
		return qpe_fail(im, node, "expected the element", "subnet");
	ret = qpe_need_name(im, node, name);
	if (ret)
		return ret;
	ret = qpe_places_departure(im, node, &fifo);
	if (ret)
		return ret;
	if (strlen(name) + 2 > sizeof(im->prefix))
		return qpe_fail(im, node, "the name is too long", NULL);
	snprintf(im->prefix, sizeof(im->prefix), "%s/", name);
	ret = read_inside(im, subnet, &input, &output);
	im->prefix[prefix] = 0;
	if (ret)
		return ret;
	if (fifo)
		im->net->places[output].fifo = true;
	for (c = box ? box->children : NULL;; c = c->next) {
		ret = qpe_each(im, c, "color-ref", &c);
		if (ret)
			return ret;
		if (!c)
			break;
		ret = subnet_slot(im, c, input, output);
		if (ret)
			return ret;
	}
	return qpe_add_id(im, node, &im->places, input, output);
}

int qpe_read_place(struct qpe_importer *im, const xmlNode *node)
{
	const char *type;
	int ret = qpe_need_type(im, node, &type);

	if (ret)
		return ret;
	return !strcmp(type, "subnet-place") ? read_subnet(im, node) : read_plain(im, node, type);
}
