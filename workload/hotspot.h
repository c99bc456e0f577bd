/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot: how accesses spread over the address range touched.
 *
 * Accesses (one per request, at its first sector) are counted per region; regions are 2^k sectors,
 * aligned to 2^k, and k grows so that the range from the lowest to the highest address fits in
 * HOTSPOT_REGIONS of them. Since regions are aligned and only ever joined in pairs, the counts are
 * those of the final region size whatever the order, and merging is exact in any order.
 *
 * Each region has two counts, of the requests with even and with odd numbers. Ranking regions by
 * the counts that are then fitted finds skew in pure noise (order statistics); here each half ranks
 * the regions for the other half, so that uniform data give theta near 0 and honest top shares.
 *
 * Memory 32 KiB with the first access. Cost O(1) amortized; fitting: see hotspot_fit.h.
 */
#ifndef WORKLOAD_HOTSPOT_H
#define WORKLOAD_HOTSPOT_H

#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define HOTSPOT_REGIONS 2048

struct hotspot {
	uint64_t (*counts)[2]; /* [HOTSPOT_REGIONS][half]; NULL while empty */
	uint64_t nr;	       /* accesses */
	uint64_t min_sector, max_sector;
	uint64_t sector_bits; /* or of all: its lowest bit is the grain of the addresses */
	uint64_t first;	      /* region number (sector >> shift) of counts[0] */
	unsigned int shift;
};

/* A zeroed struct is empty. */
void hotspot_release(struct hotspot *h);
/* Empties it, keeping the memory. */
void hotspot_clear(struct hotspot *h);
/* Reads and writes among the requests. 0, or -ENOMEM: they are not counted. */
int hotspot_add_many(struct hotspot *h, const struct request *r, size_t nr);
size_t hotspot_memory(const struct hotspot *h);

#endif
