/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/engine/object_list.h"

#include <errno.h>
#include <libxml/parser.h>
#include <stdlib.h>
#include <string.h>

void object_page_release(struct object_page *page)
{
	for (size_t i = 0; i < page->nr; i++) {
		free(page->items[i].key);
		free(page->items[i].modified);
	}
	free(page->items);
	free(page->next);
	*page = (struct object_page){ 0 };
}

/* Returns the text of the child of that name in a new string, or NULL if there is none. */
static char *object_child_text(const xmlNode *of, const char *name)
{
	for (const xmlNode *n = of->children; n; n = n->next) {
		xmlChar *text;
		char *copy;

		if (n->type != XML_ELEMENT_NODE || strcmp((const char *)n->name, name) != 0)
			continue;
		text = xmlNodeGetContent(n);
		copy = text ? strdup((const char *)text) : NULL;
		xmlFree(text);
		return copy;
	}
	return NULL;
}

static int object_page_add(struct object_page *page, size_t *cap, const xmlNode *contents)
{
	char *bytes = object_child_text(contents, "Size");
	struct object_item item = { object_child_text(contents, "Key"),
				    object_child_text(contents, "LastModified"),
				    bytes ? strtoull(bytes, NULL, 10) : 0 };
	struct object_item *items = page->items;

	free(bytes);
	if (!item.key || !item.key[0] || !item.modified)
		goto bad;
	if (page->nr == *cap) {
		size_t more = *cap ? 2 * *cap : 256;

		items = realloc(page->items, more * sizeof(*items));
		if (!items)
			goto bad;
		page->items = items;
		*cap = more;
	}
	items[page->nr++] = item;
	return 0;
bad:
	free(item.key);
	free(item.modified);
	return -EBADMSG;
}

int object_page_read(struct object_page *page, const void *xml, size_t len, struct err *err)
{
	xmlDoc *doc = xmlReadMemory(xml, (int)len, NULL, NULL,
				    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	const xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
	size_t cap = 0;
	char *more;
	int ret = 0;

	if (!root || strcmp((const char *)root->name, "ListBucketResult") != 0) {
		ret = -EBADMSG;
		goto out;
	}
	for (const xmlNode *n = root->children; n && ret == 0; n = n->next)
		if (n->type == XML_ELEMENT_NODE && strcmp((const char *)n->name, "Contents") == 0)
			ret = object_page_add(page, &cap, n);
	more = object_child_text(root, "IsTruncated");
	if (ret == 0 && more && strcmp(more, "true") == 0)
		page->next = object_child_text(root, "NextContinuationToken");
	if (ret == 0 && more && strcmp(more, "true") == 0 && !page->next)
		ret = -EBADMSG;
	free(more);
out:
	xmlFreeDoc(doc);
	if (ret < 0) {
		object_page_release(page);
		err_set(err, -ret, "object store: expected a list of objects as XML");
	}
	return ret;
}
