/* SPDX-License-Identifier: Apache-2.0 */
/*
 * varint: stores whole numbers in as few bytes as they need.
 *
 * Each byte holds seven bits, the least significant first; the top bit is set in all bytes but the
 * last (LEB128). A number below 2^7 takes 1 byte, one below 2^14 takes 2, and none takes more than
 * 10. Only the shortest encoding is accepted. Signed numbers are first mapped to unsigned ones
 * (zig-zag): 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
 */
#ifndef BASE_MEMORY_VARINT_H
#define BASE_MEMORY_VARINT_H

#include <stdint.h>

#include "base/memory/buf.h"

#define VARINT_MAX_BYTES 10

/* Returns 0, or the error that the buffer keeps. */
int varint_put(struct buf *out, uint64_t value);
/*
 * Returns 0, or -EBADMSG where bytes are missing, the number exceeds 64 bits or its encoding is not
 * the shortest; the cursor and *out are then unchanged.
 */
int varint_get(struct cursor *c, uint64_t *out);

static inline uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ -(value & 1));
}

#endif
