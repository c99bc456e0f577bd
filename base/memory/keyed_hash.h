/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyed_hash: hashes of names that a stranger may choose.
 *
 * The hash depends on a secret of the process, so that nobody outside can compute two names that
 * share a hash, or a place in a table. It is for tables in memory alone: another process, or the
 * same program started again, has other hashes.
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

#endif
