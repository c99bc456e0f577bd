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
 * Memory 32 KiB with the first access; where `grows` is set, 8 bytes an access for the first HOTSPOT_FEW. Cost O(1) amortized; fitting: see hotspot_fit.h.
 */
#ifndef WORKLOAD_HOTSPOT_H
#define WORKLOAD_HOTSPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define HOTSPOT_REGIONS 2048

/* So many accesses are kept as they are before they are counted by region, where memory grows with use. */
#define HOTSPOT_FEW 256

struct hotspot {
	bool grows;    /* memory grows with use; else the counts are taken at the first access */
	uint64_t *few; /* owned; sectors of all accesses, in order, until counts is there */
	uint32_t cap_few;
	uint64_t (
		*counts)[2]; /* [HOTSPOT_REGIONS][half]; NULL while empty, or while few holds all */
	uint64_t nr;	     /* accesses */
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
/* Makes out count by region what h holds in few, and nothing else. The caller releases out. 0 or -ENOMEM. */
int hotspot_counted(const struct hotspot *h, struct hotspot *out);
size_t hotspot_memory(const struct hotspot *h);

#endif
