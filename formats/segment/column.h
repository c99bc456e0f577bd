/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column: stores one field of many requests as whole numbers, coded close to its entropy.
 *
 * A column with few distinct values is stored as a table of the values and a plane of indexes. In
 * any other column each number is split in two. Its class holds its magnitude and leading bits and
 * is compressed. Its remaining bits are close to random and are stored uncompressed, because
 * compressing them would save nothing and cost time. The coding is exact, comes close to the
 * entropy of any smooth distribution, and is read at one or two nanoseconds per number.
 * formats/segment/segment.md has the layout.
 */
#ifndef FORMATS_COLUMN_H
#define FORMATS_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "base/memory/buf.h"

enum column_flag {
	COLUMN_SPLIT = 1u << 0, /* set: classes and bits; otherwise a table and indexes */
	/* the numbers are int64_t, stored in uint64_t in two's complement */
	COLUMN_SIGNED = 1u << 1,
	COLUMN_DIFFERENCE = 1u << 2, /* each number is the difference to the one before */
};
#define COLUMN_FLAGS_ALL 7u

/* Working memory that is reused from column to column. A zeroed struct is empty. */
struct column_scratch {
	uint64_t *numbers; /* owned; cap entries each */
	uint8_t *plane;
	uint8_t *bits; /* 8 * cap + 8 bytes */
	size_t cap;
};
/* Makes room for nr numbers. Returns 0 or -ENOMEM. */
int column_scratch_reserve(struct column_scratch *s, size_t nr);
void column_scratch_release(struct column_scratch *s);
/* Gives the pages of the working memory back, so that its content is lost (base/memory/pages.h). */
void column_scratch_give_back(struct column_scratch *s);

/*
 * Appends nr numbers, or nothing where nr is 0. flags may have COLUMN_SIGNED and COLUMN_DIFFERENCE,
 * which say how to interpret the numbers; differences are taken modulo 2^64. Returns 0 or -ENOMEM.
 */
int column_put(struct buf *out, ZSTD_CCtx *zstd, struct column_scratch *s, const uint64_t *numbers,
	       size_t nr, unsigned int flags);

/*
 * Returns whether the differences of nr numbers seem to take fewer bytes than the numbers. O(nr).
 */
bool column_difference_pays(const uint64_t *numbers, size_t nr);

/* Reads a column piece by piece. */
struct column_reader {
	uint8_t flags;
	uint8_t nr_bits[256]; /* by class */
	uint64_t previous;    /* the number before, where differences are stored */
	uint64_t unit;
	const uint8_t *plane; /* borrowed or owned */
	uint8_t *owned;
	const uint8_t *bits; /* borrowed */
	size_t bits_len;     /* in bytes */
	uint64_t bit;	     /* number of the next bit */
	size_t nr, at;
	size_t coded_bytes; /* size of the plane before compression */
	/*
	 * The value of each index, or the least value of each class. It comes last because it need
	 * not be cleared.
	 */
	uint64_t value[256];
};

/*
 * Reads the head and the plane and checks all lengths. Returns 0, -EBADMSG or -ENOMEM; r must be
 * released in every case. The reader borrows from the cursor's data.
 */
int column_reader_init(struct column_reader *r, struct cursor *c, ZSTD_DCtx *zstd, size_t nr);
void column_reader_release(struct column_reader *r);
/* Decodes the next nr numbers, which must not be more than are left. */
void column_reader_next(struct column_reader *r, uint64_t *out, size_t nr);

#endif
