/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot: describes how accesses are distributed over the address range touched.
 *
 * Accesses (one per request, at its first sector) are counted per region. A region has 2^k sectors
 * and is aligned to 2^k. k grows so that the range from the lowest to the highest address fits in
 * HOTSPOT_REGIONS regions. Regions are aligned and are only joined in pairs, so the counts are
 * those of the final region size whatever the order of the accesses, and merging is exact in any
 * order.
 *
 * Each region has two counts: one of the requests with even numbers and one of those with odd
 * numbers. A ranking by the same counts that are fitted afterwards finds skew in pure noise (order
 * statistics). Here each half ranks the regions for the other half, so that uniform data give a
 * theta near 0 and unbiased shares of the hottest regions.
 *
 * Memory: 32 KiB from the first access on. Where `grows` is set, the first HOTSPOT_FEW accesses
 * take 8 bytes each before that. Cost: O(1) amortized; for the fit see hotspot_fit.h.
 */
#ifndef WORKLOAD_HOTSPOT_H
#define WORKLOAD_HOTSPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define HOTSPOT_REGIONS 2048

/*
 * If memory grows with use, this many accesses are kept one by one before they are counted by
 * region.
 */
#define HOTSPOT_FEW 256

struct hotspot {
	bool grows; /* Memory grows with use; else the counts are allocated at the first access. */
	uint64_t *few; /* owned; sectors of all accesses, in order, until counts exists */
	uint32_t cap_few;
	uint64_t (
		*counts)[2]; /* [HOTSPOT_REGIONS][half]; NULL while empty, or while few holds all */
	uint64_t nr;	     /* number of accesses */
	uint64_t min_sector, max_sector;
	uint64_t sector_bits; /* OR of all sectors: the lowest bit set is the addresses' grain */
	uint64_t first;	      /* region number (sector >> shift) of counts[0] */
	unsigned int shift;
};

/* A zeroed struct is empty. */
void hotspot_release(struct hotspot *h);
/* Empties the struct and keeps its memory. */
void hotspot_clear(struct hotspot *h);
/*
 * Adds the reads and writes among the requests. Returns 0, or -ENOMEM where they are not counted.
 */
int hotspot_add_many(struct hotspot *h, const struct request *r, size_t nr);
/*
 * Writes into out the counts by region of the accesses that h holds in few, and nothing else. The
 * caller releases out. Returns 0 or -ENOMEM.
 */
int hotspot_counted(const struct hotspot *h, struct hotspot *out);
size_t hotspot_memory(const struct hotspot *h);

#endif
