/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plane: one byte per value, stored as whichever is shortest of one repeated byte, the bytes as
 * they are, and a zstd frame. Values below 16 are packed first, two, four or eight to a byte: a
 * Huffman code over whole groups comes closer to the entropy than one of at least a bit a value,
 * and has fewer bytes to go through. The number of values is known to both sides.
 */
#ifndef FORMATS_PLANE_H
#define FORMATS_PLANE_H

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "base/buf.h"

/* The byte that a plane begins with: a method in the low two bits ... */
enum plane_method {
	PLANE_REPEATED, /* one byte follows */
	PLANE_STORED,	/* the bytes follow */
	PLANE_ZSTD,	/* a varint length and one zstd frame of that length follow */
};
/* ... and in the next two how values share a byte: 0 not, 1, 2, 3 as 1, 2, 4 bits each. */
#define PLANE_PACKED_SHIFT 2

/* A compressor with the settings for planes; NULL where memory is short. Free: ZSTD_freeCCtx(). */
ZSTD_CCtx *plane_compressor(void);

/* Appends nr bytes; nothing where nr is 0. 0 or the buffer's kept error. */
int plane_put(struct buf *out, ZSTD_CCtx *zstd, const uint8_t *bytes, size_t nr);

/*
 * Reads nr bytes. *bytes points into the cursor's data, or to *owned, which is allocated where
 * needed and is the caller's to free(), on failure too. 0, -EBADMSG, -ENOMEM. A frame that does not
 * declare exactly nr bytes is refused before anything is decompressed.
 */
int plane_get(struct cursor *c, ZSTD_DCtx *zstd, size_t nr, const uint8_t **bytes, uint8_t **owned);

/* Compressed bytes of data as one zstd frame, appended. 0 or the buffer's kept error. */
int plane_compress(struct buf *out, ZSTD_CCtx *zstd, const void *data, size_t nr);

#endif
