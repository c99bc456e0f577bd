// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/pcm/pcm_xml.h"
#include "analyzer/models/net/xml_file.h"

#define XSI "http://www.w3.org/2001/XMLSchema-instance"

struct arch_place pcm_place(const struct pcm_importer *im, const xmlNode *at)
{
	uintptr_t file = (uintptr_t)at->doc->_private;

	(void)im;
	return (struct arch_place){ .file = (uint32_t)file, .line = (unsigned)xmlGetLineNo(at) };
}

int pcm_fail(const struct pcm_importer *im, const xmlNode *at, const char *fmt, ...)
{
	char line[ERR_LINE_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	return arch_error(im->m, pcm_place(im, at), im->err, "%s: %s", (const char *)at->name,
			  line);
}

int pcm_out_of_memory(const struct pcm_importer *im)
{
	return err_set(im->err, ENOMEM, "%s: out of memory", im->dir ? im->dir : "-");
}

bool pcm_is(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && !strcmp((const char *)node->name, name);
}

static const char *attribute_text(const xmlAttr *a)
{
	if (!a)
		return NULL;
	return a->children && a->children->content ? (const char *)a->children->content : "";
}

const char *pcm_attribute(const xmlNode *node, const char *name)
{
	for (const xmlAttr *a = node->properties; a; a = a->next)
		if (!a->ns && !strcmp((const char *)a->name, name))
			return attribute_text(a);
	return NULL;
}

const char *pcm_type(const xmlNode *node)
{
	const char *type = attribute_text(
		xmlHasNsProp((xmlNode *)node, (const xmlChar *)"type", (const xmlChar *)XSI));
	const char *colon = type ? strrchr(type, ':') : NULL;

	return colon ? colon + 1 : type ? type : "";
}

const xmlNode *pcm_first(const xmlNode *node, const char *name)
{
	for (const xmlNode *c = node->children; c; c = c->next)
		if (pcm_is(c, name))
			return c;
	return NULL;
}

const xmlNode *pcm_next(const xmlNode *node, const char *name)
{
	for (const xmlNode *c = node->next; c; c = c->next)
		if (pcm_is(c, name))
			return c;
	return NULL;
}

/* Returns id, or xmi:id. */
static const char *id_of(const xmlNode *node)
{
	for (const xmlAttr *a = node->properties; a; a = a->next)
		if (!strcmp((const char *)a->name, "id"))
			return attribute_text(a);
	return NULL;
}

const char *pcm_name(const xmlNode *node)
{
	const char *name = pcm_attribute(node, "entityName");

	if (!name || !*name)
		name = id_of(node);
	return name && *name ? name : (const char *)node->name;
}

static bool is_word_of(const char *list, const xmlChar *word)
{
	size_t len = strlen((const char *)word);

	for (const char *at = list; (at = strstr(at, (const char *)word)); at += len)
		if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

/* Returns true for additions of profiles. Only the stereotypes of pcm_storage.c have an effect. */
static bool is_of_profile(const xmlNode *node)
{
	const char *space = node->ns && node->ns->href ? (const char *)node->ns->href : "";

	return node->type == XML_ELEMENT_NODE &&
	       (!xmlStrcasecmp(node->name, (const xmlChar *)"profileApplication") ||
		!xmlStrcmp(node->name, (const xmlChar *)"stereotypeApplications") ||
		strstr(space, "/emfprofile/"));
}

/* Returns true if one of the fields may be an attribute, or otherwise a child, of this name. */
static bool is_field_of(const struct pcm_field *f, const xmlChar *name, bool attribute)
{
	for (; f->name; f++)
		if (!strcmp(f->name, (const char *)name) &&
		    (attribute ? f->is_attribute : f->is_child))
			return true;
	return false;
}

static int pcm_allow_fields(const struct pcm_importer *im, const xmlNode *node,
			    const char *attributes, const char *children,
			    const struct pcm_field *fields)
{
	for (const xmlAttr *a = node->properties; a; a = a->next)
		if (!a->ns && !is_word_of("id entityName", a->name) &&
		    !is_word_of(attributes, a->name) && !is_field_of(fields, a->name, true))
			return pcm_fail(im, node, "attribute that is not supported: %s",
					(const char *)a->name);
	for (const xmlNode *c = node->children; c; c = c->next)
		if (c->type == XML_ELEMENT_NODE && !is_of_profile(c) &&
		    !is_word_of(children, c->name) && !is_field_of(fields, c->name, false))
			return pcm_fail(im, c, "not supported in a %s",
					*pcm_type(node) ? pcm_type(node)
							: (const char *)node->name);
	return 0;
}

int pcm_allow(const struct pcm_importer *im, const xmlNode *node, const char *attributes,
	      const char *children)
{
	return pcm_allow_fields(im, node, attributes, children, &(struct pcm_field){ 0 });
}

static int read_field(struct pcm_importer *im, const xmlNode *node, const struct pcm_field *f,
		      void *out)
{
	const xmlNode *child;
	int ret = f->must_exist ? pcm_need(im, node, f->name, &child) : 0;

	if (ret)
		return ret;
	if (!f->element)
		return f->read ? f->read(im, node, f->name, out) : 0;
	for (child = pcm_first(node, f->name); child; child = pcm_next(child, f->name)) {
		ret = f->element(im, child, out);
		if (ret || f->must_exist)
			return ret;
	}
	return 0;
}

int pcm_read(struct pcm_importer *im, const xmlNode *node, const char *attributes,
	     const char *children, const struct pcm_field *fields, void *to)
{
	int ret = pcm_allow_fields(im, node, attributes, children, fields);

	if (ret)
		return ret;
	for (const struct pcm_field *f = fields; f->name; f++) {
		ret = read_field(im, node, f, (char *)to + f->offset);
		if (ret)
			return ret;
	}
	return 0;
}

int pcm_need(const struct pcm_importer *im, const xmlNode *node, const char *name,
	     const xmlNode **child)
{
	*child = pcm_first(node, name);
	return *child ? 0 : pcm_fail(im, node, "%s is missing", name);
}

int pcm_number(const struct pcm_importer *im, const xmlNode *node, const char *name,
	       double fallback, double *value)
{
	const char *text = pcm_attribute(node, name);
	char *end;

	*value = fallback;
	if (!text)
		return 0;
	*value = strtod(text, &end);
	if (end == text || *end || !isfinite(*value))
		return pcm_fail(im, node, "%s: expected a number, got \"%.40s\"", name, text);
	return 0;
}

int pcm_refuse_above_0(struct pcm_importer *im, const xmlNode *node, const char *name, void *unused)
{
	double value;
	int ret = pcm_number(im, node, name, 0, &value);

	(void)unused;
	if (ret || value == 0)
		return ret;
	if (im->without_failures) {
		im->m->nr_left_out++;
		return 0;
	}
	ret = pcm_fail(im, node,
		       "%s above 0 is not supported: failures are no part of it, unless they are "
		       "left out",
		       name);
	return ret == -EINVAL ? -ENOTSUP : ret;
}

uint32_t pcm_index(const xmlNode *node)
{
	return (uint32_t)(uintptr_t)node->_private - 1;
}

void pcm_set_index(const xmlNode *node, uint32_t index)
{
	((xmlNode *)node)->_private = (void *)(uintptr_t)(index + 1);
}

const xmlNode *pcm_below(const xmlNode *root, const xmlNode *n)
{
	if (n->type == XML_ELEMENT_NODE && n->children)
		return n->children;
	while (n != root && !n->next)
		n = n->parent;
	return n == root ? NULL : n->next;
}

/* Keeps the application of a stereotype that the importer reads, and counts another one. */
static int pcm_xml_applied(struct pcm_importer *im, struct pcm_file *file, const xmlNode *n)
{
	const xmlNode **slot;

	if (strcmp(pcm_type(n), PCM_STORAGE) != 0 && strcmp(pcm_type(n), PCM_REQUEST) != 0) {
		im->m->nr_stereotypes++;
		return 0;
	}
	slot = ARCH_ADD(file->applied, file->nr_applied);
	if (!slot)
		return pcm_out_of_memory(im);
	*slot = n;
	return 0;
}

static int add_ids(struct pcm_importer *im, struct pcm_file *file, const xmlNode *root)
{
	xmlHashTable *ids = file->ids;

	for (const xmlNode *n = root; n; n = pcm_below(root, n)) {
		const char *id = n->type == XML_ELEMENT_NODE ? id_of(n) : NULL;

		if (pcm_is(n, "stereotypeApplications") && pcm_xml_applied(im, file, n))
			return -ENOMEM;

		if (id && xmlHashAddEntry(ids, (const xmlChar *)id, (void *)n)) {
			if (!xmlHashLookup(ids, (const xmlChar *)id))
				return pcm_out_of_memory(im);
			return pcm_fail(im, n, "a second element of the id %.100s", id);
		}
	}
	return 0;
}

/*
 * Refuses a declaration. Entities cannot be declared elsewhere, so that no entity is ever
 * expanded.
 */
static void refuse_declaration(void *ctx, const xmlChar *name, const xmlChar *external,
			       const xmlChar *system)
{
	(void)name;
	(void)external;
	(void)system;
	*(int *)((xmlParserCtxt *)ctx)->_private = ((xmlParserCtxt *)ctx)->input->line;
	xmlStopParser(ctx);
}

static int pcm_xml_parse(struct pcm_importer *im, const char *path, xmlDoc **out)
{
	xmlParserCtxt *ctxt = xmlNewParserCtxt();
	int ret, declared = 0;

	if (!ctxt)
		return pcm_out_of_memory(im);
	ctxt->_private = &declared;
	ctxt->sax->internalSubset = refuse_declaration;
	ret = xml_file_parse(ctxt, path, XML_PARSE_NOENT, out, im->err);
	if (declared)
		ret = err_set(im->err, EINVAL, "%s:%d: a document type declaration: expected none",
			      path, declared);
	else if (ret == 0 && !xmlDocGetRootElement(*out))
		ret = err_set(im->err, EINVAL, "%s:1: no element", path);
	if (ret) {
		xmlFreeDoc(*out);
		*out = NULL;
	}
	xmlFreeParserCtxt(ctxt);
	return ret;
}

/*
 * Returns the model itself: the root, or the only element inside xmi:XMI that is not of a profile.
 */
int pcm_root(struct pcm_importer *im, uint32_t file, const xmlNode **root)
{
	const xmlNode *top = xmlDocGetRootElement(im->files[file].doc);

	*root = top;
	if (!pcm_is(top, "XMI"))
		return 0;
	*root = NULL;
	for (const xmlNode *c = top->children; c; c = c->next) {
		if (c->type != XML_ELEMENT_NODE || is_of_profile(c))
			continue;
		if (*root)
			return pcm_fail(im, c, "not supported beside the %s",
					(const char *)(*root)->name);
		*root = c;
	}
	return *root ? 0 : pcm_fail(im, top, "no model in it");
}

static int read_file(struct pcm_importer *im, char *path)
{
	struct pcm_file *file;
	char **name;
	xmlDoc *doc;
	int ret = pcm_xml_parse(im, path, &doc);

	if (ret) {
		free(path);
		return ret;
	}
	name = ARCH_ADD(im->m->files, im->m->nr_files);
	file = name ? ARCH_ADD(im->files, im->nr_files) : NULL;
	if (name)
		*name = path;
	if (!file) {
		xmlFreeDoc(doc);
		if (!name)
			free(path);
		return pcm_out_of_memory(im);
	}
	file->doc = doc;
	file->doc->_private = (void *)(uintptr_t)(im->nr_files - 1);
	file->ids = xmlHashCreate(256);
	if (!file->ids)
		return pcm_out_of_memory(im);
	return add_ids(im, file, xmlDocGetRootElement(file->doc));
}

int pcm_open(struct pcm_importer *im, const char *name, const xmlNode **root)
{
	char *path;
	uint32_t i = 0;
	int ret;

	if (asprintf(&path, "%s/%s", im->dir, name) < 0)
		return pcm_out_of_memory(im);
	while (i < im->nr_files && strcmp(im->m->files[i], path))
		i++;
	if (i < im->nr_files || i == PCM_MAX_FILES) {
		free(path);
		return i < im->nr_files ? pcm_root(im, i, root)
					: err_set(im->err, EINVAL, "%s: more than %d files",
						  im->dir, PCM_MAX_FILES);
	}
	ret = read_file(im, path);
	return ret ? ret : pcm_root(im, i, root);
}

void pcm_close_all(struct pcm_importer *im)
{
	for (uint32_t i = 0; i < im->nr_files; i++) {
		free(im->files[i].applied);
		xmlHashFree(im->files[i].ids, NULL);
		xmlFreeDoc(im->files[i].doc);
	}
	free(im->files);
	im->files = NULL;
	im->nr_files = 0;
}
