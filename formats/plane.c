/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/plane.h"
#include "formats/varint.h"

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
		return out->error = -ENOMEM; /* the only way it fails with room for the bound */
	out->len += got;
	return 0;
}

/* Moves the bytes from at to the end up, to put their number before them. */
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

int plane_put(struct buf *out, ZSTD_CCtx *zstd, const uint8_t *bytes, size_t nr)
{
	size_t begin = out->len;

	if (!nr)
		return out->error;
	if (!memcmp(bytes, bytes + 1, nr - 1)) {
		buf_put_u8(out, PLANE_REPEATED);
		return buf_put_u8(out, bytes[0]);
	}
	buf_put_u8(out, PLANE_ZSTD);
	if (plane_compress(out, zstd, bytes, nr) || insert_length(out, begin + 1))
		return out->error;
	/* A frame that saves under 1/32 is not worth the time it takes to read. */
	if (out->len - begin < nr - nr / 32)
		return 0;
	out->len = begin;
	buf_put_u8(out, PLANE_STORED);
	return buf_put(out, bytes, nr);
}

static int unpack(struct cursor *c, ZSTD_DCtx *zstd, uint8_t *to, size_t nr)
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
	uint8_t method, byte;

	*owned = NULL;
	if (!nr)
		return 0;
	if (cursor_get_u8(c, &method) || method > PLANE_ZSTD)
		return -EBADMSG;
	if (method == PLANE_STORED)
		return cursor_borrow(c, bytes, nr);
	*owned = malloc(nr);
	if (!*owned)
		return -ENOMEM;
	*bytes = *owned;
	if (method == PLANE_ZSTD)
		return unpack(c, zstd, *owned, nr);
	if (cursor_get_u8(c, &byte))
		return -EBADMSG;
	memset(*owned, byte, nr);
	return 0;
}
