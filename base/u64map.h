/* SPDX-License-Identifier: Apache-2.0 */
/*
 * u64map: 64-bit keys to small numbers, open addressing with linear probing.
 *
 * Any key is legal, 0 included. The load stays at or below one half, so that a probe is one or two
 * cache lines; erasing shifts back what follows, and leaves no tombstones. O(1) expected.
 * Memory: 16 bytes per slot, 32 to 64 per key held; nothing while empty.
 */
#ifndef BASE_U64MAP_H
#define BASE_U64MAP_H

#include <stddef.h>
#include <stdint.h>

#define U64MAP_NONE UINT32_MAX /* no value: "not found"; never stored */

struct u64map_slot {
	uint64_t key;
	uint32_t value_1; /* value + 1; 0: the slot is free */
};

struct u64map {
	struct u64map_slot *slots; /* NULL, or 2^bits of them */
	unsigned int bits;
	size_t nr;
};

/* A zeroed struct is an empty map. */
void u64map_init(struct u64map *m);
void u64map_release(struct u64map *m);
/* Empties it, keeping the memory. O(slots). */
void u64map_clear(struct u64map *m);
/* Stores value (not U64MAP_NONE) under key, over what was there. 0 or -ENOMEM (unchanged). */
int u64map_put(struct u64map *m, uint64_t key, uint32_t value);
/* No-op where the key is not there. */
void u64map_erase(struct u64map *m, uint64_t key);
size_t u64map_memory(const struct u64map *m);

/* Fibonacci hashing: the high bits of the product depend on every bit of the key. */
static inline size_t u64map_home(const struct u64map *m, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15ull >> (64 - m->bits));
}

/* The value, or U64MAP_NONE. */
static inline uint32_t u64map_find(const struct u64map *m, uint64_t key)
{
	size_t mask = ((size_t)1 << m->bits) - 1;

	if (!m->slots)
		return U64MAP_NONE;
	for (size_t i = u64map_home(m, key); m->slots[i].value_1; i = (i + 1) & mask)
		if (m->slots[i].key == key)
			return m->slots[i].value_1 - 1;
	return U64MAP_NONE;
}

#endif
