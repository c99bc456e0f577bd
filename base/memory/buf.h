/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf: a growable byte buffer to write into, and a bounded cursor to read from.
 *
 * The writer keeps the first failure (-ENOMEM, -EOVERFLOW) and ignores later writes, so that an
 * encoder checks once at its end. The cursor never moves past its end: a short read returns
 * -EBADMSG and leaves it where it was.
 */
#ifndef BASE_MEMORY_BUF_H
#define BASE_MEMORY_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *data; /* owned; NULL while empty */
	size_t len;    /* bytes used */
	size_t cap;    /* bytes allocated */
	int error;     /* 0, or the first -errno that occurred */
};

void buf_init(struct buf *b);
void buf_release(struct buf *b);
/* Empties the buffer, keeps its memory, and forgets the error. */
void buf_clear(struct buf *b);
/* Gives back the pages behind the bytes used; the buffer's memory stays allocated (pages.h). */
void buf_give_back(struct buf *b);
/* Makes room for nr more bytes. Returns 0 or the kept error. */
int buf_reserve(struct buf *b, size_t nr);
int buf_put(struct buf *b, const void *data, size_t nr);
int buf_put_u8(struct buf *b, uint8_t value);
int buf_put_le32(struct buf *b, uint32_t value);
int buf_put_le64(struct buf *b, uint64_t value);
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct cursor {
	const uint8_t *data; /* borrowed */
	size_t len;
	size_t at; /* next byte; at <= len */
};

static inline struct cursor cursor_make(const void *data, size_t len)
{
	return (struct cursor){ .data = data, .len = len, .at = 0 };
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->len - c->at;
}

/*
 * Each reads the next bytes and returns 0, or -EBADMSG if fewer bytes are left; *out and the cursor
 * are then unchanged.
 */
int cursor_get(struct cursor *c, void *out, size_t nr);
int cursor_get_u8(struct cursor *c, uint8_t *out);
int cursor_get_le32(struct cursor *c, uint32_t *out);
int cursor_get_le64(struct cursor *c, uint64_t *out);
/* Points *out to nr bytes of the cursor's data without copying them. */
int cursor_borrow(struct cursor *c, const uint8_t **out, size_t nr);

#endif
