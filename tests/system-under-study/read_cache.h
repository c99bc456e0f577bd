/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_cache: the volatile cache. Tracks in the order of their last use (LRU); a track holds those
 * of its 16 pages that were staged or written. Capacity counts pages; whole tracks leave.
 */
#ifndef SUS_READ_CACHE_H
#define SUS_READ_CACHE_H

#include <stdint.h>

#define TRACK_PAGES 16u
#define TRACK_FULL  0xffffu

struct read_cache {
	uint32_t *next, *prev; /* owned, by track; entry nr_tracks is the head of the ring */
	uint16_t *pages;       /* owned, by track: bit i set, page i is here */
	uint32_t nr_tracks;
	uint64_t used, capacity; /* pages */
};

/* Empty. 0 or -ENOMEM. O(nr_tracks). */
int read_cache_init(struct read_cache *c, uint32_t nr_tracks, uint64_t capacity_pages);
void read_cache_release(struct read_cache *c);
/* Which of the pages in mask are here. Does not count as use. */
uint16_t read_cache_peek(const struct read_cache *c, uint32_t track, uint16_t mask);
/* The track was used now, if any of it is here. O(1). */
void read_cache_touch(struct read_cache *c, uint32_t track);
/* Pages arrive; the tracks that must leave for them do. O(1) amortized. */
void read_cache_add(struct read_cache *c, uint32_t track, uint16_t mask);

#endif
