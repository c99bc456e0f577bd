/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_hash: the hash of a (device, block) pair, which the footprint and the reuse distances
 * share.
 *
 * Blocks are BLOCK_BYTES long. The mixer is the finalizer of splitmix64 (Steele, Lea and Flood,
 * Fast Splittable Pseudorandom Number Generators, 2014). It is a bijection of 64 bits, and each
 * output bit depends on all input bits. On one device different blocks therefore never collide, and
 * "hash below a threshold" selects a uniform sample of the blocks. Samples of different windows and
 * hosts are comparable where they use the same seed.
 */
#ifndef WORKLOAD_BLOCK_HASH_H
#define WORKLOAD_BLOCK_HASH_H

#include <stdint.h>

#include "formats/request.h"

#define BLOCK_BYTES   4096u
#define BLOCK_SECTORS (BLOCK_BYTES / SECTOR_BYTES)

static inline uint64_t block_hash_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/*
 * Returns the number that is added to a block's number, so that equal blocks of different devices
 * hash differently.
 */
static inline uint64_t block_hash_salt(uint64_t seed, uint32_t device)
{
	return block_hash_mix(seed ^ (uint64_t)device << 20);
}

static inline uint64_t block_hash(uint64_t salt, uint64_t block)
{
	return block_hash_mix(block + salt);
}

/* Finds the first and last block that a request touches. Returns false where it touches none. */
static inline bool block_range(const struct request *r, uint64_t *first, uint64_t *last)
{
	uint64_t sectors = request_sectors(r);
	uint64_t end = r->sector + (sectors - 1);

	if (!sectors)
		return false;
	if (end < r->sector) /* the sum wraps; the caller's loop must end */
		end = UINT64_MAX;
	*first = r->sector / BLOCK_SECTORS;
	*last = end / BLOCK_SECTORS;
	return true;
}

#endif
