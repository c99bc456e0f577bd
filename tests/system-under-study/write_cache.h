/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_cache: the non-volatile memory. Pages that disks do not have yet, grouped by stripe; a
 * clock goes over the stripes in the order of their addresses, passes over those written since it
 * was there last, and takes the next (Gill and Modha, FAST 2005). What is being destaged keeps its
 * place until the disks have it; written again meanwhile it is a new page.
 */
#ifndef SUS_WRITE_CACHE_H
#define SUS_WRITE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/system-under-study/sus_params.h"

#define STRIP_PAGES  (SUS_STRIP / SUS_PAGE) /* 64: one word each */
#define STRIPE_PAGES (SUS_DATA * STRIP_PAGES)

struct stripe {
	uint64_t dirty[SUS_DATA]; /* by strip: bit i set, page i is */
	bool recent;		  /* written since the clock went by */
	bool busy;		  /* being destaged */
};

struct write_cache {
	struct stripe *stripes; /* owned */
	uint32_t nr_stripes, hand;
	uint64_t used, capacity; /* pages; used: dirty and being destaged */
	uint64_t dirty;
	uint64_t added; /* pages that became dirty, ever */
	uint32_t laps;	/* times the clock has gone round */
};

/* 0 or -ENOMEM. */
int write_cache_init(struct write_cache *w, uint32_t nr_stripes, uint64_t capacity_pages);
void write_cache_release(struct write_cache *w);
/* Pages first..first+nr-1 that would need a place. */
uint32_t write_cache_need(const struct write_cache *w, uint64_t first, uint32_t nr);
/* Makes them dirty; the caller has seen to the room. */
void write_cache_add(struct write_cache *w, uint64_t first, uint32_t nr);
/*
 * The stripe the clock takes, its dirty pages by strip in pages[], now busy and no longer dirty;
 * false where there is none. O(stripes) at worst.
 */
bool write_cache_take(struct write_cache *w, uint32_t *stripe, uint64_t pages[SUS_DATA]);
/* The disks have them. */
void write_cache_done(struct write_cache *w, uint32_t stripe, const uint64_t pages[SUS_DATA]);

#endif
