// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/period/page_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory/u64map.h"

#define ALIGN 16u

/* Precedes each item. Space that stays free at the end of the ring is an item without data. */
struct page_item {
	uint64_t key;
	uint32_t len;	/* of the data */
	uint32_t units; /* of ALIGN bytes, with this head */
};

struct page_cache {
	pthread_mutex_t lock;
	uint8_t *ring; /* mapped */
	size_t nr_units;
	uint64_t first, end;  /* items lie in units [first, end), counted since the start */
	struct u64map by_key; /* place in the ring, in units */
};

struct page_cache *page_cache_new(size_t bytes)
{
	struct page_cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->nr_units = bytes / ALIGN;
	c->ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->ring == MAP_FAILED) {
		free(c);
		return NULL;
	}
	u64map_init(&c->by_key);
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

void page_cache_free(struct page_cache *c)
{
	if (!c)
		return;
	munmap(c->ring, c->nr_units * ALIGN);
	u64map_release(&c->by_key);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static struct page_item *page_cache_at(struct page_cache *c, uint64_t unit)
{
	return (struct page_item *)(void *)(c->ring + unit % c->nr_units * ALIGN);
}

/* Takes the next units of the ring, whose older items are forgotten. The caller holds the lock. */
static struct page_item *page_cache_take(struct page_cache *c, uint64_t key, size_t units)
{
	struct page_item *item;

	while (c->end + units - c->first > c->nr_units) {
		item = page_cache_at(c, c->first);
		if (u64map_find(&c->by_key, item->key) == c->first % c->nr_units)
			u64map_erase(&c->by_key, item->key);
		c->first += item->units;
	}
	item = page_cache_at(c, c->end);
	*item = (struct page_item){ .key = key, .units = (uint32_t)units };
	c->end += units;
	return item;
}

void page_cache_put(struct page_cache *c, uint64_t key, const void *data, size_t len)
{
	size_t units = (sizeof(struct page_item) + len + ALIGN - 1) / ALIGN, left;
	struct page_item *item;

	if (len > c->nr_units * ALIGN / 2)
		return;
	pthread_mutex_lock(&c->lock);
	left = c->nr_units - c->end % c->nr_units;
	if (units > left)
		page_cache_take(c, key, left);
	item = page_cache_take(c, key, units);
	item->len = (uint32_t)len;
	memcpy(item + 1, data, len);
	u64map_put(&c->by_key, key, (uint32_t)((uint8_t *)item - c->ring) / ALIGN);
	pthread_mutex_unlock(&c->lock);
}

bool page_cache_get(struct page_cache *c, uint64_t key, struct buf *out)
{
	const struct page_item *item;
	bool found = false;
	uint32_t at;

	buf_clear(out);
	pthread_mutex_lock(&c->lock);
	at = u64map_find(&c->by_key, key);
	if (at != U64MAP_NONE) {
		item = page_cache_at(c, at);
		found = buf_put(out, item + 1, item->len) == 0;
	}
	pthread_mutex_unlock(&c->lock);
	return found;
}
