/* SPDX-License-Identifier: Apache-2.0 */
/* slow_lru: computes exact LRU stack distances of a complete list of references. */
#ifndef TESTS_SLOW_LRU_H
#define TESTS_SLOW_LRU_H

#include <stddef.h>
#include <stdint.h>

/*
 * hits[d] becomes the number of references whose block is at depth d of the LRU stack, where the
 * top has depth 1. These references hit in a cache of d blocks and in no smaller one. hits has nr +
 * 1 elements; hits[0] becomes the number of first references. The function walks a list and costs
 * O(nr * distinct).
 */
int slow_lru_walk(const uint64_t *blocks, size_t nr, uint64_t *hits);
/*
 * Computes what the function above computes, by a Fenwick tree over the times of last reference
 * (Olken, Efficient Methods for Calculating the Success Function of Fixed Space Replacement
 * Policies, 1981). Costs O(nr log nr).
 */
int slow_lru_tree(const uint64_t *blocks, size_t nr, uint64_t *hits);
/* Returns the share of references that miss in a cache of that many blocks. */
double slow_lru_miss_ratio(const uint64_t *hits, size_t nr, uint64_t cache_blocks);

#endif
