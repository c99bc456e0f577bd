/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_cache: keeps values that were read from segments for the live page, so that a second look at
 * a period, or a zoom into it, reads no file.
 *
 * The cache is a ring of bytes of fixed size: a new item takes the place of the oldest ones. The
 * memory is taken from the system page by page as items arrive. Any thread may call any function.
 *
 *	struct page_cache *c = page_cache_new(1 << 26);
 *
 *	if (!page_cache_get(c, key, &found))
 *		page_cache_put(c, key, data, len);
 *	page_cache_free(c);
 */
#ifndef ANALYZER_SERVE_PERIOD_PAGE_CACHE_H
#define ANALYZER_SERVE_PERIOD_PAGE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/buf.h"

struct page_cache;

/* Returns NULL if memory is out. */
struct page_cache *page_cache_new(size_t bytes);
void page_cache_free(struct page_cache *c);
/* Keeps a copy of data. An item that has no room, or for which memory is out, is not kept. */
void page_cache_put(struct page_cache *c, uint64_t key, const void *data, size_t len);
/* Replaces the content of out by the newest item with the key; returns false if there is none. */
bool page_cache_get(struct page_cache *c, uint64_t key, struct buf *out);

#endif
