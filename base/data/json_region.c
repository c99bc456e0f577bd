/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/data/json_region.h"

#define ALIGN_BYTES 16

struct json_region_block {
	struct json_region_block *next;
	size_t size, used; /* of the data, in bytes */
	unsigned char data[] __attribute__((aligned(ALIGN_BYTES)));
};

static __thread struct json_region *entered; /* NULL: values lie in the heap */

/* Appends a block that has room for nr bytes, and fills it next. Returns NULL without memory. */
static struct json_region_block *json_region_grow(struct json_region *r, size_t nr)
{
	size_t size = JSON_REGION_BLOCK_BYTES - sizeof(struct json_region_block);
	struct json_region_block *b, **end = &r->first;

	while (size < nr)
		size *= 2;
	b = malloc(sizeof(*b) + size);
	if (!b)
		return NULL;
	*b = (struct json_region_block){ .size = size };
	while (*end)
		end = &(*end)->next;
	*end = b;
	return r->at = b;
}

static void *json_region_take(struct json_region *r, size_t nr)
{
	struct json_region_block *b = r->at ? r->at : r->first;

	if (nr > SIZE_MAX / 4)
		return NULL;
	nr = (nr + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
	while (b && b->size - b->used < nr)
		b = b->next;
	if (!b)
		b = json_region_grow(r, nr);
	if (!b)
		return NULL;
	r->at = b;
	r->last = b->data + b->used;
	b->used += nr;
	return r->last;
}

static bool json_region_has(const struct json_region *r, const void *piece)
{
	uintptr_t at = (uintptr_t)piece;

	for (const struct json_region_block *b = r->first; b; b = b->next)
		if (at >= (uintptr_t)b->data && at < (uintptr_t)b->data + b->size)
			return true;
	return false;
}

static void *json_region_malloc(size_t nr)
{
	return entered ? json_region_take(entered, nr) : malloc(nr);
}

/*
 * Only the newest piece can be used again before the region is left. While a tree is printed,
 * jansson makes and releases one piece for each array in it, and always the newest.
 */
static void json_region_free(void *piece)
{
	if (!entered || !piece || !json_region_has(entered, piece)) {
		free(piece);
		return;
	}
	if (piece != entered->last)
		return;
	entered->at->used = (size_t)((unsigned char *)piece - entered->at->data);
	entered->last = NULL;
}

void json_region_install(void)
{
	json_set_alloc_funcs(json_region_malloc, json_region_free);
}

void json_region_enter(struct json_region *r)
{
	entered = r;
}

void json_region_leave(void)
{
	struct json_region *r = entered;
	struct json_region_block **at = &r->first, *b;
	size_t kept = 0;

	entered = NULL;
	while ((b = *at)) {
		size_t size = sizeof(*b) + b->size;

		b->used = 0;
		if (kept + size <= JSON_REGION_KEPT_BYTES) {
			kept += size;
			at = &b->next;
		} else {
			*at = b->next;
			free(b);
		}
	}
	r->at = NULL;
	r->last = NULL;
}

size_t json_region_bytes(const struct json_region *r)
{
	size_t bytes = 0;

	for (const struct json_region_block *b = r->first; b; b = b->next)
		bytes += sizeof(*b) + b->size;
	return bytes;
}

void json_region_release(struct json_region *r)
{
	while (r->first) {
		struct json_region_block *b = r->first;

		r->first = b->next;
		free(b);
	}
	*r = (struct json_region){ .first = NULL };
}
