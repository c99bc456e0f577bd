/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_lru: exact LRU stack distances of a list of references held in full.
 */
#ifndef TESTS_SLOW_LRU_H
#define TESTS_SLOW_LRU_H

#include <stddef.h>
#include <stdint.h>

/*
 * hits[d] becomes the number of references whose block stands at depth d of the LRU stack (1 is the
 * top): those that hit in a cache of d blocks and in none smaller. hits has nr + 1 entries; hits[0]
 * becomes the number of first references. Walks a list: O(nr * distinct).
 */
int slow_lru_walk(const uint64_t *blocks, size_t nr, uint64_t *hits);
/* The same by a Fenwick tree over the times of last reference (Olken 1981): O(nr log nr). */
int slow_lru_tree(const uint64_t *blocks, size_t nr, uint64_t *hits);
/* Share of references that miss in a cache of that many blocks. */
double slow_lru_miss_ratio(const uint64_t *hits, size_t nr, uint64_t cache_blocks);

#endif
