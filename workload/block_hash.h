/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_hash: the one hash of a (device, block) pair that footprint and reuse distances share.
 *
 * Blocks are BLOCK_BYTES long. The mixer is the finalizer of splitmix64 (Steele, Lea, Flood 2014):
 * a bijection of 64 bits whose output bits each depend on all input bits, so that on one device
 * different blocks never collide, and "hash below a threshold" is a uniform sample of blocks.
 * The same seed everywhere makes samples of different windows and hosts comparable.
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

/* What to add to the block's number for a device. */
static inline uint64_t block_hash_salt(uint64_t seed, uint32_t device)
{
	return block_hash_mix(seed ^ (uint64_t)device << 20);
}

static inline uint64_t block_hash(uint64_t salt, uint64_t block)
{
	return block_hash_mix(block + salt);
}

/* First and last block that a request touches; false where it touches none. */
static inline bool block_range(const struct request *r, uint64_t *first, uint64_t *last)
{
	uint64_t sectors = request_sectors(r);
	uint64_t end = r->sector + (sectors - 1);

	if (!sectors)
		return false;
	if (end < r->sector) /* wraps: no such device, but no endless loop either */
		end = UINT64_MAX;
	*first = r->sector / BLOCK_SECTORS;
	*last = end / BLOCK_SECTORS;
	return true;
}

#endif
