/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/buf.h"
#include "base/memory/pages.h"

#define BUF_FIRST_BYTES 256

void buf_init(struct buf *b)
{
	*b = (struct buf){ 0 };
}

void buf_release(struct buf *b)
{
	free(b->data);
	buf_init(b);
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->error = 0;
}

void buf_give_back(struct buf *b)
{
	pages_forget(b->data, b->len, b->cap);
}

int buf_reserve(struct buf *b, size_t nr)
{
	size_t cap = b->cap ? b->cap : BUF_FIRST_BYTES;
	uint8_t *data;

	if (b->error)
		return b->error;
	if (nr > SIZE_MAX / 2 - b->len)
		return b->error = -EOVERFLOW;
	if (b->len + nr <= b->cap)
		return 0;
	while (cap < b->len + nr)
		cap *= 2;
	data = realloc(b->data, cap);
	if (!data)
		return b->error = -ENOMEM;
	b->data = data;
	b->cap = cap;
	return 0;
}

int buf_put(struct buf *b, const void *data, size_t nr)
{
	if (buf_reserve(b, nr))
		return b->error;
	if (nr)
		memcpy(b->data + b->len, data, nr);
	b->len += nr;
	return 0;
}

int buf_put_u8(struct buf *b, uint8_t value)
{
	return buf_put(b, &value, 1);
}

int buf_put_le32(struct buf *b, uint32_t value)
{
	uint8_t bytes[4];

	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	return buf_put(b, bytes, sizeof(bytes));
}

int buf_put_le64(struct buf *b, uint64_t value)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	return buf_put(b, bytes, sizeof(bytes));
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int nr;

	va_start(ap, fmt);
	va_copy(again, ap);
	nr = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (nr < 0)
		b->error = b->error ? b->error : -EOVERFLOW;
	else if (!buf_reserve(b, (size_t)nr + 1)) {
		vsnprintf((char *)b->data + b->len, (size_t)nr + 1, fmt, again);
		b->len += (size_t)nr;
	}
	va_end(again);
	return b->error;
}

int cursor_borrow(struct cursor *c, const uint8_t **out, size_t nr)
{
	if (cursor_left(c) < nr)
		return -EBADMSG;
	*out = c->data + c->at;
	c->at += nr;
	return 0;
}

int cursor_get(struct cursor *c, void *out, size_t nr)
{
	const uint8_t *from;
	int ret = cursor_borrow(c, &from, nr);

	if (ret)
		return ret;
	if (nr)
		memcpy(out, from, nr);
	return 0;
}

int cursor_get_u8(struct cursor *c, uint8_t *out)
{
	return cursor_get(c, out, 1);
}

int cursor_get_le32(struct cursor *c, uint32_t *out)
{
	const uint8_t *from;
	int ret = cursor_borrow(c, &from, 4);

	if (ret)
		return ret;
	*out = 0;
	for (int i = 0; i < 4; i++)
		*out |= (uint32_t)from[i] << 8 * i;
	return 0;
}

int cursor_get_le64(struct cursor *c, uint64_t *out)
{
	const uint8_t *from;
	int ret = cursor_borrow(c, &from, 8);

	if (ret)
		return ret;
	*out = 0;
	for (int i = 0; i < 8; i++)
		*out |= (uint64_t)from[i] << 8 * i;
	return 0;
}
