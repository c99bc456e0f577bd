// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/period/page_recent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/serve/period/page_cache.h"
#include "analyzer/serve/period/page_column.h"
#include "base/memory/array.h"
#include "base/memory/keyed_hash.h"

uint64_t page_recent_key(const struct segment_name *name, uint64_t received_real_ns,
			 const char *device)
{
	char path[SEGMENT_PATH_MAX];
	uint64_t key;

	segment_name_path(name, path);
	key = keyed_hash(received_real_ns, path, strlen(path) + 1);
	return keyed_hash(key, device, strlen(device));
}

int page_recent_pack(const struct profile *p, struct page_windows_head *head, struct buf *out)
{
	struct page_column c = { .begin_s = p->begin_s, .end_s = p->end_s };
	int ret = page_column_add(&c, p);

	if (ret == 0)
		ret = page_column_pack(&c, out);
	page_column_release(&c);
	snprintf(head->name, sizeof(head->name), "%s", p->device_name);
	head->source = p->source;
	head->layer = p->layer;
	head->known = 1;
	return ret;
}

/* Returns the device, which is added if it is new; NULL if memory is out. */
static struct page_recent_device *page_recent_device(struct page_recent *r, const char *device)
{
	struct page_recent_device *d;

	for (size_t i = 0; i < r->nr; i++)
		if (strcmp(r->devices[i].device, device) == 0)
			return &r->devices[i];
	if (array_grow(&r->devices, &r->cap, r->nr + 1, sizeof(*r->devices)) < 0)
		return NULL;
	d = &r->devices[r->nr++];
	*d = (struct page_recent_device){ .device = "" };
	snprintf(d->device, sizeof(d->device), "%s", device);
	buf_init(&d->windows);
	return d;
}

int page_recent_add(struct page_recent *r, const struct profile *p)
{
	struct page_recent_device *d = page_recent_device(r, p->device);

	return d ? page_recent_pack(p, &d->head, &d->windows) : -ENOMEM;
}

void page_recent_keep(const struct page_recent *r, struct page_store *store,
		      const struct segment_name *name)
{
	struct err why = { 0 };
	uint64_t received_ns;

	if (page_store_received(store, name, &received_ns, &why) < 0)
		return;
	for (size_t i = 0; i < r->nr; i++) {
		const struct page_recent_device *d = &r->devices[i];
		struct buf all;

		buf_init(&all);
		buf_put(&all, &d->head, sizeof(d->head));
		buf_put(&all, d->windows.data, d->windows.len);
		if (!all.error)
			page_cache_put(page_store_cache(store),
				       page_recent_key(name, received_ns, d->device), all.data,
				       all.len);
		buf_release(&all);
	}
}

void page_recent_release(struct page_recent *r)
{
	for (size_t i = 0; i < r->nr; i++)
		buf_release(&r->devices[i].windows);
	free(r->devices);
}
