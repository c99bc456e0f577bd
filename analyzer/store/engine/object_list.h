/* SPDX-License-Identifier: Apache-2.0 */
/* object_list: one page of the list of a bucket, as an S3 store sends it in XML. */
#ifndef ANALYZER_OBJECT_LIST_H
#define ANALYZER_OBJECT_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"

struct object_item {
	char *key;	/* owned, as modified is */
	char *modified; /* "2026-01-02T03:04:05.678Z" */
	uint64_t bytes;
};

struct object_page {
	struct object_item *items; /* owned */
	size_t nr;
	char *next; /* owned; the token that asks for the next page, NULL at the end */
};

/* Fills a zeroed page. Returns 0, -EBADMSG if the text is no such list, or -ENOMEM. */
int object_page_read(struct object_page *page, const void *xml, size_t len, struct err *err);
void object_page_release(struct object_page *page);

#endif
