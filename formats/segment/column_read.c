/* SPDX-License-Identifier: Apache-2.0 */
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/varint.h"
#include "formats/segment/column.h"
#include "formats/segment/plane.h"

/* Fills value[] and nr_bits[] of the classes. Returns the number of classes. */
static unsigned int classes_fill(struct column_reader *r, unsigned int m, uint64_t base)
{
	bool is_signed = r->flags & COLUMN_SIGNED;
	unsigned int nr = 0;

	for (unsigned int class = 0; class < (is_signed ? 128 : 256); class ++) {
		unsigned int e = class >> m ? (class >> m) - 1 : 0;
		uint64_t least;

		if (e + m > 63)
			break;
		least = (uint64_t)(class - (e << m)) << e;
		if (!is_signed)
			least += base;
		for (unsigned int sign = 0; sign <= is_signed; sign++) {
			r->nr_bits[nr] = (uint8_t)e;
			r->value[nr++] = least;
		}
	}
	return nr;
}

static int split_init(struct column_reader *r, struct cursor *c, unsigned int *nr_classes)
{
	uint64_t base;
	uint8_t m;

	if (varint_get(c, &r->unit) || varint_get(c, &base) || cursor_get_u8(c, &m))
		return -EBADMSG;
	if (!r->unit || m > 7 || (base && r->flags & COLUMN_SIGNED))
		return -EBADMSG;
	*nr_classes = classes_fill(r, m, base);
	return 0;
}

static int table_init(struct column_reader *r, struct cursor *c, unsigned int *nr_values)
{
	uint64_t nr, value;

	if (varint_get(c, &nr) || !nr || nr > 256)
		return -EBADMSG;
	for (uint64_t i = 0; i < nr; i++) {
		if (varint_get(c, &value))
			return -EBADMSG;
		r->value[i] = r->flags & COLUMN_SIGNED ? (uint64_t)unzigzag(value) : value;
	}
	*nr_values = (unsigned int)nr;
	return 0;
}

/*
 * Checks that every byte of the plane is a class or an index, and that exactly the bits that the
 * classes need are there.
 */
static int check_plane(struct column_reader *r, struct cursor *c, unsigned int nr_values)
{
	/* four counters, so that equal bytes in a row do not wait for each other's increment */
	uint32_t count[4][256] = { { 0 } };
	uint64_t nr_bits = 0;

	for (size_t i = 0; i < r->nr; i++)
		count[i % 4][r->plane[i]]++;
	for (unsigned int i = 0; i < 256; i++) {
		uint64_t nr = (uint64_t)count[0][i] + count[1][i] + count[2][i] + count[3][i];

		if (nr && i >= nr_values)
			return -EBADMSG;
		nr_bits += nr * r->nr_bits[i];
	}
	r->bits_len = (size_t)((nr_bits + 7) / 8);
	r->coded_bytes = r->nr + r->bits_len;
	return cursor_borrow(c, &r->bits, r->bits_len);
}

int column_reader_init(struct column_reader *r, struct cursor *c, ZSTD_DCtx *zstd, size_t nr)
{
	unsigned int nr_values;
	int ret;

	memset(r, 0, offsetof(struct column_reader, value));
	r->nr = nr;
	if (!nr)
		return 0;
	if (cursor_get_u8(c, &r->flags) || r->flags & ~COLUMN_FLAGS_ALL)
		return -EBADMSG;
	if (r->flags & COLUMN_DIFFERENCE && varint_get(c, &r->previous))
		return -EBADMSG;
	ret = r->flags & COLUMN_SPLIT ? split_init(r, c, &nr_values) : table_init(r, c, &nr_values);
	if (!ret)
		ret = plane_get(c, zstd, nr, &r->plane, &r->owned);
	return ret ? ret : check_plane(r, c, nr_values);
}

void column_reader_release(struct column_reader *r)
{
	free(r->owned);
	memset(r, 0, offsetof(struct column_reader, value));
}

/* Loads up to 8 bytes from p, as far as they exist. */
static uint64_t load_some(const uint8_t *p, size_t left)
{
	uint64_t value = 0;

	for (size_t i = 0; i < left && i < 8; i++)
		value |= (uint64_t)p[i] << 8 * i;
	return value;
}

/* Returns nr (at most 56) bits from position bit, which must exist. */
static inline uint64_t bits_get(const struct column_reader *r, uint64_t bit, unsigned int nr)
{
	size_t byte = (size_t)(bit >> 3);
	uint64_t word;

	if (byte + 8 <= r->bits_len) {
		memcpy(&word, r->bits + byte, sizeof(word));
		word = le64toh(word);
	} else {
		word = load_some(r->bits + byte, r->bits_len - byte);
	}
	return word >> (bit & 7) & (((uint64_t)1 << nr) - 1);
}

static void split_next(struct column_reader *r, uint64_t *out, size_t nr)
{
	const uint8_t *plane = r->plane + r->at;
	uint64_t bit = r->bit;

	for (size_t i = 0; i < nr; i++) {
		unsigned int class = plane[i], e = r->nr_bits[class];
		uint64_t extra;

		if (__builtin_expect(e <= 56, 1))
			extra = bits_get(r, bit, e);
		else
			extra = bits_get(r, bit, 32) | bits_get(r, bit + 32, e - 32) << 32;
		bit += e;
		out[i] = r->value[class] + extra;
	}
	r->bit = bit;
	if (r->unit != 1)
		for (size_t i = 0; i < nr; i++)
			out[i] *= r->unit;
	if (r->flags & COLUMN_SIGNED)
		for (size_t i = 0; i < nr; i++)
			out[i] = (out[i] ^ -(uint64_t)(plane[i] & 1)) + (plane[i] & 1);
}

void column_reader_next(struct column_reader *r, uint64_t *out, size_t nr)
{
	if (r->flags & COLUMN_SPLIT)
		split_next(r, out, nr);
	else
		for (size_t i = 0; i < nr; i++)
			out[i] = r->value[r->plane[r->at + i]];
	if (r->flags & COLUMN_DIFFERENCE)
		for (size_t i = 0; i < nr; i++)
			out[i] = r->previous += out[i];
	r->at += nr;
}
