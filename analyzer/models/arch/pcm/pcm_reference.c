// SPDX-License-Identifier: Apache-2.0
/* This file resolves references to elements: an id in the same file, or "file#id". */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/pcm/pcm_xml.h"

#define MAX_REFERENCE 4096

/* Returns the text of a reference, and the element that contains it. */
static const char *find_reference(const xmlNode *node, const char *name, const xmlNode **at)
{
	const char *text = pcm_attribute(node, name);
	const xmlNode *child;

	*at = node;
	if (text)
		return text;
	child = pcm_first(node, name);
	if (!child)
		return NULL;
	*at = child;
	return pcm_attribute(child, "href");
}

const char *pcm_reference_id(const xmlNode *node, const char *name)
{
	const xmlNode *at;
	const char *text = find_reference(node, name, &at);
	const char *mark = text ? strchr(text, '#') : NULL;

	return mark ? mark + 1 : text;
}

/*
 * Follows a path of features below the root, such as "//@usageScenario_UsageModel.0/@...". Returns
 * NULL if it leads nowhere.
 */
static const xmlNode *follow_path(const xmlNode *root, const char *path)
{
	const xmlNode *n = root;

	path += strspn(path, "/0123456789");
	while (n && *path) {
		size_t len = strcspn(path, "./");
		char name[256], *end = (char *)path + len;
		unsigned long index = 0;

		if (*path != '@' || len >= sizeof(name))
			return NULL;
		snprintf(name, sizeof(name), "%.*s", (int)len - 1, path + 1);
		if (*end == '.')
			index = strtoul(end + 1, &end, 10);
		if (*end && *end != '/')
			return NULL;
		n = pcm_first(n, name);
		while (n && index--)
			n = pcm_next(n, name);
		path = *end ? end + 1 : end;
	}
	return n;
}

/* Copies the last part of an address, with %XX decoded. */
static void file_name(const char *address, size_t len, char *out)
{
	const char *end = address + len, *at = end;

	while (at > address && at[-1] != '/')
		at--;
	while (at < end) {
		if (*at == '%' && end - at > 2 && isxdigit((unsigned char)at[1]) &&
		    isxdigit((unsigned char)at[2])) {
			char hex[3] = { at[1], at[2], 0 };

			*out++ = (char)strtol(hex, NULL, 16);
			at += 3;
		} else {
			*out++ = *at++;
		}
	}
	*out = 0;
}

/* Follows one reference of len bytes in the element `at`. */
static int pcm_reference_follow(struct pcm_importer *im, const xmlNode *at, const char *text,
				size_t len, const xmlNode **target)
{
	const char *mark = memchr(text, '#', len);
	uint32_t file = pcm_place(im, at).file;
	char name[MAX_REFERENCE + 1];
	const char *id = name;
	const xmlNode *root = NULL;

	if (!len || len > MAX_REFERENCE)
		return pcm_fail(im, at, "a reference that is empty or too long");
	if (mark && mark > text) {
		int ret;

		file_name(text, (size_t)(mark - text), name);
		if (!*name || strchr(name, '/') || name[0] == '.')
			return pcm_fail(im, at, "a reference to no file: %.*s", (int)len, text);
		ret = pcm_open(im, name, &root);
		if (ret == -ENOENT)
			return pcm_fail(im, at, "refers to \"%s\", which is not in %s", name,
					im->dir);
		if (ret)
			return ret;
		file = pcm_place(im, root).file;
	}
	id = mark ? mark + 1 : text;
	len -= (size_t)(id - text);
	memcpy(name, id, len);
	name[len] = 0;
	if (*name == '/') {
		int ret = pcm_root(im, file, &root);

		if (ret)
			return ret;
		*target = follow_path(root, name);
	} else {
		*target = xmlHashLookup(im->files[file].ids, (const xmlChar *)name);
	}
	if (!*target)
		return pcm_fail(im, at, "refers to \"%s\", which %s does not have", name,
				im->m->files[file]);
	return 0;
}

int pcm_follow(struct pcm_importer *im, const xmlNode *node, const char *name, const char *element,
	       const xmlNode **target)
{
	const xmlNode *at;
	const char *text = find_reference(node, name, &at);
	int ret;

	if (!text)
		return pcm_fail(im, node, "%s is missing", name);
	ret = pcm_reference_follow(im, at, text, strlen(text), target);
	if (ret)
		return ret;
	if (element && !pcm_is(*target, element))
		ret = pcm_fail(im, at, "%s leads to a %s: expected a %s", name,
			       (const char *)(*target)->name, element);
	return ret;
}

/* Follows one reference, and appends its target. */
static int add_target(struct pcm_importer *im, const xmlNode *at, const char *text, size_t len,
		      const xmlNode ***targets, uint32_t *nr)
{
	const xmlNode *target, **slot;
	int ret = pcm_reference_follow(im, at, text, len, &target);

	if (ret)
		return ret;
	slot = ARCH_ADD(*targets, *nr);
	if (!slot)
		return pcm_out_of_memory(im);
	*slot = target;
	return 0;
}

int pcm_follow_ids(struct pcm_importer *im, const xmlNode *node, const char *name,
		   const xmlNode ***targets, uint32_t *nr)
{
	const char *text = pcm_attribute(node, name);
	int ret = 0;

	*targets = NULL;
	*nr = 0;
	while (text && *(text += strspn(text, " \t\r\n"))) {
		size_t len = strcspn(text, " \t\r\n");

		ret = add_target(im, node, text, len, targets, nr);
		if (ret)
			goto out;
		text += len;
	}
	for (const xmlNode *c = pcm_first(node, name); c; c = pcm_next(c, name)) {
		const char *href = pcm_attribute(c, "href");

		ret = href ? add_target(im, c, href, strlen(href), targets, nr)
			   : pcm_fail(im, c, "href is missing");
		if (ret)
			goto out;
	}
out:
	if (ret) {
		free(*targets);
		*targets = NULL;
	}
	return ret;
}
