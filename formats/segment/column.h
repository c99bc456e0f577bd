/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column: one field of many requests as whole numbers, coded close to its entropy.
 *
 * A column of few distinct values is a table of them and a plane of indexes. Any other is split:
 * each number becomes a class, which holds its magnitude and its leading bits and is compressed,
 * and its remaining bits, which are noise and are stored as they are. This is exact, close to the
 * entropy of any smooth distribution, and reads at a nanosecond or two a number, where
 * compressing the noise would gain nothing and cost time. formats/segment/segment.md has the layout.
 */
#ifndef FORMATS_COLUMN_H
#define FORMATS_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "base/buf.h"

enum column_flag {
	COLUMN_SPLIT = 1u << 0,	     /* classes and bits; else a table and indexes */
	COLUMN_SIGNED = 1u << 1,     /* numbers are of int64_t, two's complement in uint64_t */
	COLUMN_DIFFERENCE = 1u << 2, /* each number is the difference to the one before */
};
#define COLUMN_FLAGS_ALL 7u

/* Room to work in, reused from column to column. A zeroed one is empty. */
struct column_scratch {
	uint64_t *numbers; /* cap of each; owned */
	uint8_t *plane;
	uint8_t *bits; /* 8 * cap + 8 */
	size_t cap;
};
/* Makes room for nr numbers. 0 or -ENOMEM. */
int column_scratch_reserve(struct column_scratch *s, size_t nr);
void column_scratch_release(struct column_scratch *s);

/*
 * Appends nr numbers; nothing where nr is 0. flags: of COLUMN_SIGNED and COLUMN_DIFFERENCE, how to
 * see them; differences are taken modulo 2^64. 0, -ENOMEM.
 */
int column_put(struct buf *out, ZSTD_CCtx *zstd, struct column_scratch *s, const uint64_t *numbers,
	       size_t nr, unsigned int flags);

/* Whether the differences of nr numbers look cheaper than the numbers. O(nr). */
bool column_difference_pays(const uint64_t *numbers, size_t nr);

/* Reads a column piece by piece. */
struct column_reader {
	uint8_t flags;
	uint8_t nr_bits[256]; /* of each class */
	uint64_t previous;    /* for differences */
	uint64_t unit;
	const uint8_t *plane; /* borrowed or owned */
	uint8_t *owned;
	const uint8_t *bits; /* borrowed */
	size_t bits_len;     /* bytes */
	uint64_t bit;	     /* next one */
	size_t nr, at;
	size_t coded_bytes; /* before compression */
	/* Last, as it need not be cleared: of each index, or the least of each class. */
	uint64_t value[256];
};

/* Reads the head and the plane and checks all lengths. 0, -EBADMSG, -ENOMEM; to be released in any
 * case. Borrows from the cursor's data. */
int column_reader_init(struct column_reader *r, struct cursor *c, ZSTD_DCtx *zstd, size_t nr);
void column_reader_release(struct column_reader *r);
/* The next nr numbers, no more than are left. */
void column_reader_next(struct column_reader *r, uint64_t *out, size_t nr);

#endif
