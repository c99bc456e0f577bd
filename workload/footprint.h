/* SPDX-License-Identifier: Apache-2.0 */
/*
 * footprint: counts the distinct blocks touched.
 *
 * Up to FOOTPRINT_EXACT_BLOCKS (64 MiB of 4 KiB blocks) the number is exact: a set holds the hashes
 * of the blocks, which are free of collisions on one device (block_hash.h). Beyond that HyperLogLog
 * estimates it with a standard error of 0.8 %. Where the set may not grow any more (window_room.h),
 * a smaller sketch takes over earlier, with 4 KiB and a standard error of 1.6 %.
 *
 * Cost: O(1) per block. Memory: 16 bytes per block while exact, 256 KiB at most, and then 16 KiB.
 * Merging gives the union in any order. The union is exact while both sides are exact and the union
 * fits.
 */
#ifndef WORKLOAD_FOOTPRINT_H
#define WORKLOAD_FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workload/hll.h"
#include "workload/window_room.h"

#define FOOTPRINT_EXACT_BLOCKS 16384

struct footprint {
	uint64_t *set; /* 2^bits hashes, 0: free; NULL while empty */
	unsigned int bits;
	uint64_t secret; /* of keyed_home(), set with the set; decides where a hash goes alone */
	size_t nr;	 /* number of hashes in the set */
	bool has_zero;	 /* the hash 0 occurred; the set cannot hold it */
	bool is_sketch;	 /* above the bound: the sketch holds everything */
	struct hll *sketch;
	struct window_room
		*room; /* borrowed, may be NULL; the sketch takes over where it grants nothing */
};

/* A zeroed struct is empty. */
void footprint_release(struct footprint *f);
/* Empties the footprint and keeps its memory. */
void footprint_clear(struct footprint *f);
/* Adds hashes that block_hash() made. Returns 0, or -ENOMEM where some are missing. */
int footprint_add_many(struct footprint *f, const uint64_t *hashes, size_t nr);
/* Returns the number of distinct blocks. */
double footprint_blocks(const struct footprint *f);
size_t footprint_memory(const struct footprint *f);

#endif
