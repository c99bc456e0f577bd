/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_kept: keeps results on disk that were computed from segments for the live page.
 *
 * An item is bytes under a key of 64 bits. The key must name the data from which the bytes were
 * computed, so that an item is never out of date; page_kept_secret() goes into it, so that nobody
 * who chooses some of the data can choose data with the key of others. The items are in
 * DIR/page.sqlite, a cache that may be deleted at any time. Where the store is no folder, or the
 * folder cannot be written, they are in a temporary file of this process. Items belong to a level;
 * of each level the newest items of at most PAGE_KEPT_BYTES stay. Any thread may call any function.
 * An error of the disk is a miss.
 *
 *	page_kept_open(&kept, dir);
 *	if (!page_kept_get(kept, key, &found))
 *		page_kept_put(kept, &item, 1);
 *	page_kept_close(kept);
 */
#ifndef ANALYZER_SERVE_PERIOD_PAGE_KEPT_H
#define ANALYZER_SERVE_PERIOD_PAGE_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/buf.h"

#define PAGE_KEPT_LEVELS 5
#define PAGE_KEPT_BYTES	 (512ull << 20) /* of the compressed items of a level */

struct page_kept;

struct page_kept_item {
	uint64_t key;
	unsigned int level; /* below PAGE_KEPT_LEVELS */
	const void *data;
	size_t len;
};

/* Opens the cache. dir is a folder, or anything else for a temporary file. Returns 0 or -ENOMEM. */
int page_kept_open(struct page_kept **out, const char *dir);
void page_kept_close(struct page_kept *k);
/* Returns the secret of the file, which is made with the file. */
uint64_t page_kept_secret(const struct page_kept *k);
/* Keeps copies of the items, in one transaction. An item replaces the one of its key. */
void page_kept_put(struct page_kept *k, const struct page_kept_item *items, size_t nr);
/* Returns whether there is an item with the key. */
bool page_kept_has(struct page_kept *k, uint64_t key);
/* Replaces the content of out by the item with the key; returns false if there is none. */
bool page_kept_get(struct page_kept *k, uint64_t key, struct buf *out);
/* Changes the bound on the bytes of a level. */
void page_kept_bound(struct page_kept *k, uint64_t bytes);

#endif
