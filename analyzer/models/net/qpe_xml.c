// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/qpe_xml.h"
#include "base/array.h"

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

void qpe_release_names(struct qpe_names *n)
{
	for (uint32_t i = 0; i < n->nr; i++)
		free(n->items[i].id);
	free(n->items);
}

int qpe_add_name(struct qpe_importer *im, const xmlNode *at, struct qpe_names *n, char *id,
		 uint32_t index, uint32_t output)
{
	if (qpe_find(n, id)) {
		int ret = qpe_fail(im, at, "a second element of the id", id);

		free(id);
		return ret;
	}
	if (array_grow(&n->items, &n->cap, n->nr + 1, sizeof(*n->items))) {
		free(id);
		return qpe_out_of_memory(im);
	}
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

/* Returns a copy that the caller frees, or NULL if there is no such attribute. */
char *qpe_attribute(const xmlNode *node, const char *name)
{
	xmlChar *value = xmlGetNoNsProp((xmlNode *)node, (const xmlChar *)name);
	char *copy = value ? strdup((const char *)value) : NULL;

	xmlFree(value);
	return copy;
}

/* Reads an attribute that must exist. */
int qpe_need(struct qpe_importer *im, const xmlNode *node, const char *name, char **value)
{
	*value = qpe_attribute(node, name);
	return *value ? 0 : qpe_fail(im, node, "missing attribute", name);
}

int qpe_need_name(struct qpe_importer *im, const xmlNode *node, char name[QPE_NAME_BYTES])
{
	char *own;
	int ret = qpe_need(im, node, "name", &own);

	if (ret)
		goto out;
	if (snprintf(name, QPE_NAME_BYTES, "%s%s", im->prefix, own) >= QPE_NAME_BYTES)
		ret = qpe_fail(im, node, "the name is too long", NULL);
out:
	free(own);
	return ret;
}

/* Reads a number; the result is fallback if the attribute is absent or empty. */
int qpe_number(struct qpe_importer *im, const xmlNode *node, const char *name, double fallback,
	       double *value)
{
	char *text = qpe_attribute(node, name), *end;
	int ret = 0;

	*value = fallback;
	if (text && *text) {
		*value = strtod(text, &end);
		if (*end || !isfinite(*value))
			ret = qpe_fail(im, node, "expected a number in attribute", name);
	}
	free(text);
	return ret;
}

int qpe_need_number(struct qpe_importer *im, const xmlNode *node, const char *name, double *value)
{
	char *text;
	int ret = qpe_need(im, node, name, &text);

	free(text);
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
		ret = qpe_fail(im, node, "expected a whole number, not too large, in attribute",
			       name);
	if (ret)
		return ret;
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
	int ret = qpe_each(im, c, name, &c);

	while (!ret && c) {
		ret = read(im, c);
		if (!ret)
			ret = qpe_each(im, c->next, name, &c);
	}
	return ret;
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

/*
 * Returns xsi:type, which the caller frees. Before version 2.1, QPME wrote it without its
 * namespace.
 */
int qpe_need_type(struct qpe_importer *im, const xmlNode *node, char **type)
{
	xmlChar *value =
		xmlGetNsProp((xmlNode *)node, (const xmlChar *)"type", (const xmlChar *)XSI);

	if (!value)
		value = xmlGetNoNsProp((xmlNode *)node, (const xmlChar *)"type");
	*type = value ? strdup((const char *)value) : NULL;
	xmlFree(value);
	return *type ? 0 : qpe_fail(im, node, "missing attribute", "xsi:type");
}
