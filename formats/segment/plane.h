/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plane: stores one byte per value in the shortest of three ways: one repeated byte, the plain
 * bytes, or a zstd frame. Values below 16 are first packed, two, four or eight to a byte: a Huffman
 * code over whole groups comes closer to the entropy than a code with at least one bit per value,
 * and fewer bytes have to be processed. Both sides know the number of values.
 */
#ifndef FORMATS_PLANE_H
#define FORMATS_PLANE_H

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "base/memory/buf.h"

/* The first byte of a plane: its low two bits hold a method ... */
enum plane_method {
	PLANE_REPEATED, /* one byte follows */
	PLANE_STORED,	/* the bytes follow */
	PLANE_ZSTD,	/* a varint length and one zstd frame of that length follow */
};
/*
 * ... and the next two bits hold how values share a byte: 0 means not; 1, 2, 3 mean 1, 2, 4 bits
 * per value.
 */
#define PLANE_PACKED_SHIFT 2

/*
 * Returns a compressor with the settings for planes, or NULL where memory is short. It is freed by
 * ZSTD_freeCCtx().
 */
ZSTD_CCtx *plane_compressor(void);

/* Appends nr bytes, or nothing where nr is 0. Returns 0 or the error that the buffer keeps. */
int plane_put(struct buf *out, ZSTD_CCtx *zstd, const uint8_t *bytes, size_t nr);

/*
 * Reads nr bytes. *bytes points into the cursor's data or to *owned, which is allocated where
 * needed and which the caller must free(), also on failure. Returns 0, -EBADMSG or -ENOMEM. A frame
 * that does not declare exactly nr bytes is refused before anything is decompressed.
 */
int plane_get(struct cursor *c, ZSTD_DCtx *zstd, size_t nr, const uint8_t **bytes, uint8_t **owned);

/* Appends data as one zstd frame. Returns 0 or the error that the buffer keeps. */
int plane_compress(struct buf *out, ZSTD_CCtx *zstd, const void *data, size_t nr);

#endif
