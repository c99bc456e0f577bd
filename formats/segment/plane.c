/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/varint.h"
#include "formats/segment/plane.h"

#define PLANE_LEVEL 1

ZSTD_CCtx *plane_compressor(void)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	if (zstd &&
	    ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, PLANE_LEVEL))) {
		ZSTD_freeCCtx(zstd);
		zstd = NULL;
	}
	return zstd;
}

int plane_compress(struct buf *out, ZSTD_CCtx *zstd, const void *data, size_t nr)
{
	size_t bound = ZSTD_compressBound(nr), got;

	if (buf_reserve(out, bound))
		return out->error;
	got = ZSTD_compress2(zstd, out->data + out->len, bound, data, nr);
	if (ZSTD_isError(got))
		/* with enough room, compression can fail only for lack of memory */
		return out->error = -ENOMEM;
	out->len += got;
	return 0;
}

/* Moves the bytes from position at to the end upwards, in order to put their number before them. */
static int insert_length(struct buf *out, size_t at)
{
	size_t nr = out->len - at;
	struct buf length = { 0 };

	if (varint_put(&length, nr) || buf_reserve(out, length.len)) {
		out->error = -ENOMEM;
	} else {
		memmove(out->data + at + length.len, out->data + at, nr);
		memcpy(out->data + at, length.data, length.len);
		out->len += length.len;
	}
	buf_release(&length);
	return out->error;
}

/*
 * Chooses how many values share a byte, by the largest value: 0 means none; 1, 2 and 3 mean 1, 2
 * and 4 bits per value.
 */
static unsigned int choose_packing(const uint8_t *bytes, size_t nr)
{
	uint8_t all = 0;

	for (size_t i = 0; i < nr; i++)
		all |= bytes[i];
	return all < 2 ? 1 : all < 4 ? 2 : all < 16 ? 3 : 0;
}

static size_t packed_bytes(size_t nr, unsigned int packing)
{
	size_t per_byte = packing ? 16u >> packing : 1;

	return (nr + per_byte - 1) / per_byte;
}

/* Packs the values, the first into the lowest bits. */
static void plane_pack(uint8_t *to, const uint8_t *from, size_t nr, unsigned int packing)
{
	unsigned int width = 1u << (packing - 1), per_byte = 8 / width;

	memset(to, 0, packed_bytes(nr, packing));
	for (size_t i = 0; i < nr; i++)
		to[i / per_byte] |= (uint8_t)(from[i] << i % per_byte * width);
}

static inline void unpack_width(uint8_t *to, const uint8_t *from, size_t nr, unsigned int width)
{
	unsigned int per_byte = 8 / width, mask = (1u << width) - 1;
	size_t whole = nr / per_byte;

	for (size_t i = 0; i < whole; i++)
		for (unsigned int k = 0; k < per_byte; k++)
			to[i * per_byte + k] = from[i] >> k * width & mask;
	for (size_t i = whole * per_byte; i < nr; i++)
		to[i] = from[whole] >> i % per_byte * width & mask;
}

static void plane_unpack(uint8_t *to, const uint8_t *from, size_t nr, unsigned int packing)
{
	if (packing == 1)
		unpack_width(to, from, nr, 1);
	else if (packing == 2)
		unpack_width(to, from, nr, 2);
	else
		unpack_width(to, from, nr, 4);
}

int plane_put(struct buf *out, ZSTD_CCtx *zstd, const uint8_t *bytes, size_t nr)
{
	size_t begin = out->len, nr_packed, room;
	unsigned int packing;

	if (!nr)
		return out->error;
	if (!memcmp(bytes, bytes + 1, nr - 1)) {
		buf_put_u8(out, PLANE_REPEATED);
		return buf_put_u8(out, bytes[0]);
	}
	packing = choose_packing(bytes, nr);
	nr_packed = packed_bytes(nr, packing);
	/* The packed bytes lie behind the room that the output in front of them can need. */
	room = 1 + VARINT_MAX_BYTES + ZSTD_compressBound(nr_packed);
	if (buf_reserve(out, room + nr_packed))
		return out->error;
	if (packing) {
		plane_pack(out->data + begin + room, bytes, nr, packing);
		bytes = out->data + begin + room;
	}
	buf_put_u8(out, (uint8_t)(PLANE_ZSTD | packing << PLANE_PACKED_SHIFT));
	if (plane_compress(out, zstd, bytes, nr_packed) || insert_length(out, begin + 1))
		return out->error;
	/* A frame that saves less than 1/32 is not worth the time that reading it takes. */
	if (out->len - begin < nr_packed - nr_packed / 32)
		return 0;
	out->len = begin;
	buf_put_u8(out, (uint8_t)(PLANE_STORED | packing << PLANE_PACKED_SHIFT));
	memmove(out->data + out->len, bytes, nr_packed);
	out->len += nr_packed;
	return 0;
}

static int plane_decompress(struct cursor *c, ZSTD_DCtx *zstd, uint8_t *to, size_t nr)
{
	const uint8_t *frame;
	uint64_t len;

	if (varint_get(c, &len) || len > cursor_left(c) || cursor_borrow(c, &frame, (size_t)len))
		return -EBADMSG;
	if (ZSTD_getFrameContentSize(frame, len) != nr ||
	    ZSTD_findFrameCompressedSize(frame, len) != len)
		return -EBADMSG;
	return ZSTD_decompressDCtx(zstd, to, nr, frame, len) == nr ? 0 : -EBADMSG;
}

int plane_get(struct cursor *c, ZSTD_DCtx *zstd, size_t nr, const uint8_t **bytes, uint8_t **owned)
{
	unsigned int packing;
	size_t nr_packed;
	uint8_t type, method, byte;
	int ret = 0;

	*owned = NULL;
	if (!nr)
		return 0;
	if (cursor_get_u8(c, &type) || type >> (PLANE_PACKED_SHIFT + 2))
		return -EBADMSG;
	packing = type >> PLANE_PACKED_SHIFT;
	method = type & 3;
	nr_packed = packed_bytes(nr, packing);
	if (method > PLANE_ZSTD || (method == PLANE_REPEATED && packing))
		return -EBADMSG;
	if (method == PLANE_STORED) {
		ret = cursor_borrow(c, bytes, nr_packed);
		if (ret || !packing)
			return ret;
	}
	*owned = malloc(packing ? nr + nr_packed : nr);
	if (!*owned)
		return -ENOMEM;
	if (method == PLANE_REPEATED) {
		if (cursor_get_u8(c, &byte))
			return -EBADMSG;
		memset(*owned, byte, nr);
	} else if (method == PLANE_ZSTD) {
		*bytes = *owned + (packing ? nr : 0);
		ret = plane_decompress(c, zstd, *owned + (packing ? nr : 0), nr_packed);
	}
	if (ret)
		goto out;
	if (packing)
		plane_unpack(*owned, *bytes, nr, packing);
out:
	*bytes = *owned;
	return ret;
}
