/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyed_hash: hashes of names, and homes of numbers, that a stranger may choose.
 *
 * Both depend on a secret of the process, so that nobody outside can compute two names that share a
 * hash, or many numbers that share a home in a table. They are for tables in memory alone: another
 * process, or the same program started again, has other hashes. No answer may depend on them; a
 * table that is walked is walked in the order in which its entries came, or is sorted.
 */
#ifndef BASE_MEMORY_KEYED_HASH_H
#define BASE_MEMORY_KEYED_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the secret of this process. It is the same in all threads and after a fork. */
uint64_t keyed_hash_secret(void);

/*
 * Returns the hash of len bytes (XXH3 with a seed) that follow what gave the hash `before`, which
 * is 0 at the beginning. A caller that hashes several texts hashes their final 0 too, or the texts
 * "ab", "c" and "a", "bc" are the same.
 */
uint64_t keyed_hash(uint64_t before, const void *data, size_t len);

/*
 * Returns where a search for the number begins in a table of 2^bits slots; bits is 1 to 63. secret
 * is keyed_hash_secret(), which a table keeps.
 *
 * Fibonacci hashing: the high bits of the product depend on every bit of the number, and neighbours
 * lie far from one another. Both halves of the product are used, so that without the secret nobody
 * can solve it for numbers that share a home.
 */
static inline size_t keyed_home(uint64_t secret, uint64_t number, unsigned int bits)
{
	unsigned __int128 product = (unsigned __int128)(number ^ secret) * 0x9e3779b97f4a7c15ull;

	return (size_t)(((uint64_t)(product >> 64) ^ (uint64_t)product) >> (64 - bits));
}

#endif
