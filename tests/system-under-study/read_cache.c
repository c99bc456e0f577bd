// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "tests/system-under-study/read_cache.h"

int read_cache_init(struct read_cache *c, uint32_t nr_tracks, uint64_t capacity_pages)
{
	*c = (struct read_cache){ .nr_tracks = nr_tracks, .capacity = capacity_pages };
	c->next = malloc(((size_t)nr_tracks + 1) * sizeof(*c->next));
	c->prev = malloc(((size_t)nr_tracks + 1) * sizeof(*c->prev));
	c->pages = calloc((size_t)nr_tracks + 1, sizeof(*c->pages));
	if (!c->next || !c->prev || !c->pages) {
		read_cache_release(c);
		return -ENOMEM;
	}
	c->next[nr_tracks] = c->prev[nr_tracks] = nr_tracks;
	return 0;
}

void read_cache_release(struct read_cache *c)
{
	free(c->next);
	free(c->prev);
	free(c->pages);
	*c = (struct read_cache){ 0 };
}

uint16_t read_cache_peek(const struct read_cache *c, uint32_t track, uint16_t mask)
{
	return c->pages[track] & mask;
}

static void unlink_track(struct read_cache *c, uint32_t track)
{
	c->next[c->prev[track]] = c->next[track];
	c->prev[c->next[track]] = c->prev[track];
}

static void link_first(struct read_cache *c, uint32_t track)
{
	uint32_t head = c->nr_tracks;

	c->next[track] = c->next[head];
	c->prev[track] = head;
	c->prev[c->next[head]] = track;
	c->next[head] = track;
}

void read_cache_touch(struct read_cache *c, uint32_t track)
{
	if (!c->pages[track])
		return;
	unlink_track(c, track);
	link_first(c, track);
}

void read_cache_add(struct read_cache *c, uint32_t track, uint16_t mask)
{
	uint16_t new = mask &(uint16_t)~c->pages[track];

	if (c->pages[track])
		unlink_track(c, track);
	link_first(c, track);
	c->pages[track] |= mask;
	c->used += (unsigned)__builtin_popcount(new);
	while (c->used > c->capacity && c->prev[c->nr_tracks] != track) {
		uint32_t last = c->prev[c->nr_tracks];

		unlink_track(c, last);
		c->used -= (unsigned)__builtin_popcount(c->pages[last]);
		c->pages[last] = 0;
	}
}
