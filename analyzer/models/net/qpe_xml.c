// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/qpe_xml.h"
#include "base/data/fields.h"
#include "base/memory/array.h"

#define XSI "http://www.w3.org/2001/XMLSchema-instance"

int qpe_fail(const struct qpe_importer *im, const xmlNode *at, const char *what, const char *detail)
{
	return err_set(im->err, EINVAL, "%s:%ld: %s: %s%s%s", im->net->file, xmlGetLineNo(at),
		       (const char *)at->name, what, detail ? ": " : "", detail ? detail : "");
}

int qpe_out_of_memory(const struct qpe_importer *im)
{
	return err_set(im->err, ENOMEM, "%s: out of memory", im->net->file);
}

void qpe_release(struct qpe_importer *im)
{
	for (size_t i = 0; i < im->nr_texts; i++)
		xmlFree(im->texts[i]);
	free(im->texts);
	free(im->colours.items);
	free(im->queues.items);
	free(im->places.items);
	free(im->slots.items);
	for (size_t i = 0; i < im->nr_parameters; i++)
		free(im->parameters[i]);
	free(im->parameters);
}

int qpe_add_id(struct qpe_importer *im, const xmlNode *node, struct qpe_names *n, uint32_t index,
	       uint32_t output)
{
	const char *id;
	int ret = qpe_need(im, node, "id", &id);

	if (ret)
		return ret;
	if (qpe_find(n, id))
		return qpe_fail(im, node, "a second element of the id", id);
	if (array_grow(&n->items, &n->cap, n->nr + 1, sizeof(*n->items)))
		return qpe_out_of_memory(im);
	n->items[n->nr++] = (struct qpe_named){ .id = id, .index = index, .output = output };
	return 0;
}

const struct qpe_named *qpe_find(const struct qpe_names *n, const char *id)
{
	for (uint32_t i = 0; i < n->nr; i++)
		if (!strcmp(n->items[i].id, id))
			return &n->items[i];
	return NULL;
}

uint32_t qpe_find_name(const struct qpe_names *n, const char *id)
{
	const struct qpe_named *found = qpe_find(n, id);

	return found ? found->index : NET_NONE;
}

/* Keeps a text of libxml2 until the importer is released. text may be NULL. */
static int qpe_keep(struct qpe_importer *im, xmlChar *text, const char **value)
{
	*value = (const char *)text;
	if (!text)
		return 0;
	if (array_grow(&im->texts, &im->cap_texts, im->nr_texts + 1, sizeof(*im->texts))) {
		xmlFree(text);
		return qpe_out_of_memory(im);
	}
	im->texts[im->nr_texts++] = text;
	return 0;
}

int qpe_attribute(struct qpe_importer *im, const xmlNode *node, const char *name,
		  const char **value)
{
	return qpe_keep(im, xmlGetNoNsProp((xmlNode *)node, (const xmlChar *)name), value);
}

int qpe_need(struct qpe_importer *im, const xmlNode *node, const char *name, const char **value)
{
	int ret = qpe_attribute(im, node, name, value);

	return ret || *value ? ret : qpe_fail(im, node, "missing attribute", name);
}

int qpe_need_word(struct qpe_importer *im, const xmlNode *node, const char *name,
		  const char *const *words, uint32_t *index)
{
	const struct field field = FIELD(WORD, NULL, .words = words);
	char expected[QPE_NAME_BYTES], what[QPE_PATH_BYTES];
	const char *text;
	int ret = qpe_need(im, node, name, &text);

	if (ret)
		return ret;
	for (*index = 0; words[*index]; ++*index)
		if (!strcmp(words[*index], text))
			return 0;
	snprintf(what, sizeof(what), "expected %s in attribute",
		 fields_words(&field, expected, sizeof(expected)));
	return qpe_fail(im, node, what, name);
}

int qpe_need_name(struct qpe_importer *im, const xmlNode *node, char name[QPE_NAME_BYTES])
{
	const char *own;
	int ret = qpe_need(im, node, "name", &own);

	if (ret)
		return ret;
	if (snprintf(name, QPE_NAME_BYTES, "%s%s", im->prefix, own) >= QPE_NAME_BYTES)
		return qpe_fail(im, node, "the name is too long", NULL);
	return 0;
}

/* Reads a number; the result is fallback if the attribute is absent or empty. */
int qpe_number(struct qpe_importer *im, const xmlNode *node, const char *name, double fallback,
	       double *value)
{
	const char *text;
	int ret = qpe_attribute(im, node, name, &text);
	char *end;

	*value = fallback;
	if (ret)
		return ret;
	if (text && *text) {
		*value = strtod(text, &end);
		if (*end || !isfinite(*value))
			return qpe_fail(im, node, "expected a number in attribute", name);
	}
	return qpe_parameter(im, name, value, NULL);
}

int qpe_need_number(struct qpe_importer *im, const xmlNode *node, const char *name, double *value)
{
	const char *text;
	int ret = qpe_need(im, node, name, &text);

	return ret ? ret : qpe_number(im, node, name, 0, value);
}

int qpe_count(struct qpe_importer *im, const xmlNode *node, const char *name, double fallback,
	      double high, uint32_t *value)
{
	double v;
	int ret = qpe_number(im, node, name, fallback, &v);

	if (ret)
		return ret;
	if (v < 0 || v > high || v != floor(v))
		return qpe_fail(im, node, "expected a whole number, not too large, in attribute",
				name);
	*value = (uint32_t)v;
	return 0;
}

unsigned qpe_line(const xmlNode *node)
{
	return (unsigned)xmlGetLineNo(node);
}

bool qpe_is(const xmlNode *node, const char *name)
{
	return !strcmp((const char *)node->name, name);
}

const xmlNode *qpe_child(const xmlNode *node, const char *name)
{
	for (const xmlNode *c = node->children; c; c = c->next)
		if (c->type == XML_ELEMENT_NODE && qpe_is(c, name))
			return c;
	return NULL;
}

/* Returns the next element from c on, in a container that may hold only `name`. */
int qpe_each(struct qpe_importer *im, const xmlNode *c, const char *name, const xmlNode **out)
{
	while (c && c->type != XML_ELEMENT_NODE)
		c = c->next;
	*out = c;
	return c && !qpe_is(c, name) ? qpe_fail(im, c, "unknown element, expected", name) : 0;
}

int qpe_read_all(struct qpe_importer *im, const xmlNode *parent, const char *container,
		 const char *name, int (*read)(struct qpe_importer *, const xmlNode *))
{
	const xmlNode *box = qpe_child(parent, container), *c = box ? box->children : NULL;

	for (;; c = c->next) {
		int ret = qpe_each(im, c, name, &c);

		if (ret || !c)
			return ret;
		ret = read(im, c);
		if (ret)
			return ret;
	}
}

/* Refuses child elements that are not in the list, which ends with NULL. */
int qpe_allow(struct qpe_importer *im, const xmlNode *parent, const char *const *names)
{
	for (const xmlNode *c = parent->children; c; c = c->next) {
		const char *const *n = names;

		while (c->type == XML_ELEMENT_NODE && *n && !qpe_is(c, *n))
			n++;
		if (c->type == XML_ELEMENT_NODE && !*n)
			return qpe_fail(im, c, "unknown element in", (const char *)parent->name);
	}
	return 0;
}

/* Before version 2.1, QPME wrote xsi:type without its namespace. */
int qpe_need_type(struct qpe_importer *im, const xmlNode *node, const char **type)
{
	xmlChar *text =
		xmlGetNsProp((xmlNode *)node, (const xmlChar *)"type", (const xmlChar *)XSI);
	int ret = text ? qpe_keep(im, text, type) : qpe_attribute(im, node, "type", type);

	return ret || *type ? ret : qpe_fail(im, node, "missing attribute", "xsi:type");
}
