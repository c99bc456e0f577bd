/* SPDX-License-Identifier: Apache-2.0 */
/*
 * varint: whole numbers in as few bytes as they need.
 *
 * Seven bits a byte, least significant first, the top bit set on all but the last (LEB128): 1 byte
 * below 2^7, 2 below 2^14, 10 at most. Only the shortest form is read. Signed numbers are folded
 * first (zig-zag): 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
 */
#ifndef FORMATS_VARINT_H
#define FORMATS_VARINT_H

#include <stdint.h>

#include "base/buf.h"

#define VARINT_MAX_BYTES 10

/* 0 or the buffer's kept error. */
int varint_put(struct buf *out, uint64_t value);
/* 0, or -EBADMSG where bytes are missing, the number is over 64 bits or not in its shortest form;
 * then the cursor and *out are unchanged. */
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
