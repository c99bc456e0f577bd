/* SPDX-License-Identifier: Apache-2.0 */
/*
 * u64map: maps 64-bit keys to small numbers, by open addressing with linear probing.
 *
 * Every key is allowed, including 0. The load stays at or below one half, so a search touches one
 * or two cache lines. Erasing shifts later entries back and leaves no tombstones. O(1) expected,
 * also for keys that somebody chose in order to have them at one place: where a key goes depends on
 * a secret of the process. Nothing else depends on it, since the slots cannot be walked from
 * outside.
 * Memory: 16 bytes per slot, which is 32 to 64 bytes per key; an empty map has none.
 */
#ifndef BASE_MEMORY_U64MAP_H
#define BASE_MEMORY_U64MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory/keyed_hash.h"

#define U64MAP_NONE UINT32_MAX /* Means "not found" and is never stored. */

struct u64map_slot {
	uint64_t key;
	uint32_t value_1; /* value + 1; 0: the slot is free */
};

struct u64map {
	struct u64map_slot *slots; /* NULL, or 2^bits slots */
	unsigned int bits;
	size_t nr;
	uint64_t secret; /* set with the slots */
};

/* A zeroed struct is an empty map. */
void u64map_init(struct u64map *m);
void u64map_release(struct u64map *m);
/* Empties the map and keeps its memory. O(slots). */
void u64map_clear(struct u64map *m);
/*
 * Stores value (not U64MAP_NONE) under key and replaces an older value. Returns 0, or -ENOMEM with
 * the map unchanged.
 */
int u64map_put(struct u64map *m, uint64_t key, uint32_t value);
/* Does nothing where the key is not in the map. */
void u64map_erase(struct u64map *m, uint64_t key);
size_t u64map_memory(const struct u64map *m);

static inline size_t u64map_home(const struct u64map *m, uint64_t key)
{
	return keyed_home(m->secret, key, m->bits);
}

/* Returns the value, or U64MAP_NONE. */
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
