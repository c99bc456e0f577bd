/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/auxv.h>
#include <xxhash.h>

#include "base/memory/keyed_hash.h"

/*
 * The secret is made of the 16 random bytes that the kernel gives each process (getauxval(3)),
 * which takes no system call. Hashing keeps those bytes, with which the C library guards stacks,
 * secret.
 */
uint64_t keyed_hash_secret(void)
{
	const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);

	return random ? XXH3_64bits(random, 16) : 0;
}

uint64_t keyed_hash(uint64_t before, const void *data, size_t len)
{
	return XXH3_64bits_withSeed(data, len, before ^ keyed_hash_secret());
}
