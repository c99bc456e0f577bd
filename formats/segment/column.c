/* SPDX-License-Identifier: Apache-2.0 */
#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/keyed_hash.h"
#include "base/memory/pages.h"
#include "base/memory/varint.h"
#include "formats/segment/column.h"
#include "formats/segment/plane.h"

#define NR_CLASSES 256
/* A longer column can use finer classes, whose table of frequencies takes space. */
#define LONG_COLUMN	 4096
#define FINE_MANTISSA	 4
#define COARSE_MANTISSA	 2
#define TABLE_BITS	 10
#define TABLE_SLOTS	 (1 << TABLE_BITS)
#define LARGEST_MANTISSA 7

int column_scratch_reserve(struct column_scratch *s, size_t nr)
{
	uint64_t *numbers;
	uint8_t *plane, *bits;

	if (nr <= s->cap)
		return 0;
	numbers = realloc(s->numbers, nr * sizeof(*numbers));
	if (numbers)
		s->numbers = numbers;
	plane = realloc(s->plane, nr);
	if (plane)
		s->plane = plane;
	bits = realloc(s->bits, 8 * nr + 8);
	if (bits)
		s->bits = bits;
	if (!numbers || !plane || !bits)
		return -ENOMEM;
	s->cap = nr;
	return 0;
}

void column_scratch_release(struct column_scratch *s)
{
	free(s->numbers);
	free(s->plane);
	free(s->bits);
	*s = (struct column_scratch){ 0 };
}

void column_scratch_give_back(struct column_scratch *s)
{
	pages_forget(s->numbers, 0, s->cap * sizeof(*s->numbers));
	pages_forget(s->plane, 0, s->cap);
	pages_forget(s->bits, 0, 8 * s->cap);
}

static unsigned int bit_length(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

static uint64_t column_magnitude(uint64_t number, bool is_signed)
{
	return is_signed && number >> 63 ? -number : number;
}

/* ---- a table of the distinct numbers ---- */

struct table {
	uint64_t value[NR_CLASSES];
	unsigned int nr;
	uint64_t secret;	    /* of keyed_home() */
	uint16_t slot[TABLE_SLOTS]; /* index + 1, by hash */
};

/*
 * Returns the index of a number, which is entered where it is new; NR_CLASSES where the table is
 * full.
 */
static unsigned int table_index(struct table *t, uint64_t number)
{
	unsigned int at = (unsigned int)keyed_home(t->secret, number, TABLE_BITS);

	for (; t->slot[at]; at = (at + 1) % TABLE_SLOTS)
		if (t->value[t->slot[at] - 1] == number)
			return t->slot[at] - 1u;
	if (t->nr == NR_CLASSES)
		return NR_CLASSES;
	t->value[t->nr] = number;
	t->slot[at] = (uint16_t)++t->nr;
	return t->nr - 1;
}

/* Fills plane with indexes. Returns false where a table would not save bytes. */
static bool table_build(struct table *t, const uint64_t *numbers, size_t nr, uint8_t *plane)
{
	uint64_t last = ~numbers[0];
	unsigned int index = 0;

	memset(t->slot, 0, sizeof(t->slot));
	t->nr = 0;
	t->secret = keyed_hash_secret();
	for (size_t i = 0; i < nr; i++) {
		if (numbers[i] != last) {
			last = numbers[i];
			index = table_index(t, last);
			if (index == NR_CLASSES)
				return false;
		}
		plane[i] = (uint8_t)index;
	}
	return t->nr <= 2 || t->nr * 8 <= nr;
}

static int table_put(struct buf *out, const struct table *t, unsigned int flags)
{
	varint_put(out, t->nr);
	for (unsigned int i = 0; i < t->nr; i++)
		varint_put(out, flags & COLUMN_SIGNED ? zigzag((int64_t)t->value[i]) : t->value[i]);
	return out->error;
}

/* ---- classes and bits ---- */

static uint64_t column_gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Returns the largest number that divides all of them, or 1 where all are 0. */
static uint64_t common_unit(const uint64_t *numbers, size_t nr, bool is_signed)
{
	uint64_t unit = 0;

	for (size_t i = 0; i < nr && unit != 1; i++) {
		uint64_t v = column_magnitude(numbers[i], is_signed);

		if (!unit || v % unit)
			unit = column_gcd(v, unit);
	}
	return unit ? unit : 1;
}

struct split {
	uint64_t unit, base;
	unsigned int mantissa;
	bool is_signed;
};

/* Chooses how many leading bits are kept in the class: as many as the number of classes allows. */
static unsigned int choose_mantissa(uint64_t max, size_t nr, unsigned int classes)
{
	unsigned int bits = bit_length(max), best = 0;
	unsigned int limit = nr < LONG_COLUMN ? COARSE_MANTISSA : FINE_MANTISSA;

	if (max < classes)
		limit = LARGEST_MANTISSA;
	for (unsigned int m = 1; m <= limit && m < bits; m++)
		if ((bits - m + 1) << m <= classes)
			best = m;
	return best;
}

/*
 * Divides the numbers by their unit, subtracts the least from unsigned ones, and chooses the
 * classes.
 */
static struct split split_choose(uint64_t *to, const uint64_t *numbers, size_t nr, bool is_signed)
{
	struct split s = { .unit = common_unit(numbers, nr, is_signed), .is_signed = is_signed };
	uint64_t min = UINT64_MAX, max = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t v = column_magnitude(numbers[i], is_signed);

		min = v < min ? v : min;
		max = v > max ? v : max;
	}
	s.base = is_signed ? 0 : min / s.unit;
	s.mantissa = choose_mantissa(max / s.unit - s.base, nr, is_signed ? 128 : 256);
	for (size_t i = 0; i < nr; i++)
		to[i] = column_magnitude(numbers[i], is_signed);
	for (size_t i = 0; s.unit > 1 && i < nr; i++)
		to[i] /= s.unit;
	for (size_t i = 0; s.base && i < nr; i++)
		to[i] -= s.base;
	return s;
}

struct bit_writer {
	uint8_t *at;
	uint64_t held;	 /* bits that are not written yet, the least significant first */
	unsigned int nr; /* number of held bits; below 8 between calls */
};

/* nr is at most 56. */
static void bits_put(struct bit_writer *w, uint64_t value, unsigned int nr)
{
	uint64_t little;

	w->held |= value << w->nr;
	w->nr += nr;
	little = htole64(w->held);
	memcpy(w->at, &little, sizeof(little));
	w->at += w->nr / 8;
	w->held >>= w->nr & ~7u;
	w->nr %= 8;
}

static int split_put(struct buf *out, ZSTD_CCtx *zstd, struct column_scratch *scratch,
		     const uint64_t *numbers, size_t nr, bool is_signed)
{
	struct split s = split_choose(scratch->numbers, numbers, nr, is_signed);
	struct bit_writer w = { .at = scratch->bits };
	unsigned int m = s.mantissa;

	for (size_t i = 0; i < nr; i++) {
		uint64_t v = scratch->numbers[i];
		unsigned int length = bit_length(v | 1), e = length > m + 1 ? length - 1 - m : 0;
		unsigned int class = (e << m) + (unsigned int)(v >> e), low = e > 32 ? 32 : e;

		if (is_signed)
			class = class << 1 | (unsigned int)(numbers[i] >> 63);
		scratch->plane[i] = (uint8_t) class;
		bits_put(&w, v & (((uint64_t)1 << low) - 1), low);
		if (e > 32)
			bits_put(&w, v >> 32 & (((uint64_t)1 << (e - 32)) - 1), e - 32);
	}
	if (w.nr)
		w.at++; /* the last byte is already there, filled with zeros */
	varint_put(out, s.unit);
	varint_put(out, s.base);
	buf_put_u8(out, (uint8_t)m);
	plane_put(out, zstd, scratch->plane, nr);
	return buf_put(out, scratch->bits, (size_t)(w.at - scratch->bits));
}

/* ---- writing ---- */

/*
 * Returns the entropy in bits of the low bytes, by which numbers and their differences are
 * compared.
 */
static double low_byte_entropy(const uint64_t *numbers, size_t nr, bool difference)
{
	uint32_t count[256] = { 0 };
	uint64_t last = 0;
	double bits = 0;

	for (size_t i = 0; i < nr; i++) {
		count[(uint8_t)(numbers[i] - (difference ? last : 0))]++;
		last = numbers[i];
	}
	for (int i = 0; i < 256; i++)
		if (count[i])
			bits += count[i] * log2((double)nr / count[i]);
	return bits;
}

bool column_difference_pays(const uint64_t *numbers, size_t nr)
{
	return low_byte_entropy(numbers, nr, true) < low_byte_entropy(numbers, nr, false);
}

/* Replaces the numbers by their differences. Returns whether one of them is negative. */
static bool take_differences(uint64_t *to, const uint64_t *numbers, size_t nr)
{
	uint64_t signs = 0;

	to[0] = 0;
	for (size_t i = 1; i < nr; i++) {
		to[i] = numbers[i] - numbers[i - 1];
		signs |= to[i];
	}
	return signs >> 63;
}

int column_put(struct buf *out, ZSTD_CCtx *zstd, struct column_scratch *s, const uint64_t *numbers,
	       size_t nr, unsigned int flags)
{
	uint64_t *differences = NULL;
	struct table table;
	int ret = 0;

	if (!nr)
		return out->error;
	if (column_scratch_reserve(s, nr))
		return -ENOMEM;
	if (flags & COLUMN_DIFFERENCE) {
		differences = malloc(nr * sizeof(*differences));
		if (!differences)
			return -ENOMEM;
		if (take_differences(differences, numbers, nr))
			flags |= COLUMN_SIGNED;
	}
	if (table_build(&table, differences ? differences : numbers, nr, s->plane))
		flags &= ~COLUMN_SPLIT;
	else
		flags |= COLUMN_SPLIT;
	buf_put_u8(out, (uint8_t)flags);
	if (differences)
		varint_put(out, numbers[0]);
	if (flags & COLUMN_SPLIT) {
		ret = split_put(out, zstd, s, differences ? differences : numbers, nr,
				flags & COLUMN_SIGNED);
	} else {
		table_put(out, &table, flags);
		ret = plane_put(out, zstd, s->plane, nr);
	}
	free(differences);
	return ret;
}
