/* SPDX-License-Identifier: Apache-2.0 */
/*
 * footprint: the number of distinct blocks touched.
 *
 * Exact up to FOOTPRINT_EXACT_BLOCKS (64 MiB of 4 KiB blocks) by a set of their hashes, which on
 * one device are collision-free (block_hash.h); past that by HyperLogLog, standard error 0.8 %.
 * The sketch takes over earlier where the room of the set is used up (window_room.h). Cost O(1) per block. Memory: 16 bytes per block while exact, 256 KiB at most, and then 16 KiB.
 * Merge is the union: exact while both are and the union fits, in any order.
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
	size_t nr;	/* in the set */
	bool has_zero;	/* the hash 0, which the set cannot hold */
	bool is_sketch; /* past the bound: sketch holds everything */
	struct hll *sketch;
	struct window_room *
		room; /* borrowed; where it grants no more bytes the sketch takes over; may be NULL */
};

/* A zeroed struct is empty. */
void footprint_release(struct footprint *f);
/* Empties it, keeping the memory. */
void footprint_clear(struct footprint *f);
/* Hashes of blocks, as block_hash() makes them. 0, or -ENOMEM: some are missing. */
int footprint_add_many(struct footprint *f, const uint64_t *hashes, size_t nr);
int footprint_merge(struct footprint *dst, const struct footprint *src);
/* Distinct blocks. */
double footprint_blocks(const struct footprint *f);
size_t footprint_memory(const struct footprint *f);

#endif
