/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thrift: writes structures in Thrift's compact protocol
 * (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), in which the
 * headers of a Parquet file are written.
 *
 * Fields of a structure are written in ascending order of their numbers; thrift_end() ends it. The
 * outermost structure needs no begin.
 */
#ifndef ANALYZER_THRIFT_H
#define ANALYZER_THRIFT_H

#include <stdbool.h>
#include <string.h>

#include "base/memory/varint.h"

#define THRIFT_DEPTH 8

struct thrift {
	struct buf *out;
	int last[THRIFT_DEPTH]; /* number of the last field of each open structure */
	int depth;
};

enum {
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_BYTE = 3,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

static inline void thrift_field(struct thrift *t, int number, int type)
{
	buf_put_u8(t->out, (uint8_t)((number - t->last[t->depth]) << 4 | type));
	t->last[t->depth] = number;
}

static inline void thrift_int(struct thrift *t, int number, int64_t value)
{
	thrift_field(t, number, THRIFT_I32);
	varint_put(t->out, zigzag(value));
}

static inline void thrift_long(struct thrift *t, int number, int64_t value)
{
	thrift_field(t, number, THRIFT_I64);
	varint_put(t->out, zigzag(value));
}

static inline void thrift_byte(struct thrift *t, int number, uint8_t value)
{
	thrift_field(t, number, THRIFT_BYTE);
	buf_put_u8(t->out, value);
}

static inline void thrift_bool(struct thrift *t, int number, bool value)
{
	thrift_field(t, number, value ? THRIFT_TRUE : THRIFT_FALSE);
}

static inline void thrift_list_text(struct thrift *t, const char *text)
{
	varint_put(t->out, strlen(text));
	buf_put(t->out, text, strlen(text));
}

static inline void thrift_text(struct thrift *t, int number, const char *text)
{
	thrift_field(t, number, THRIFT_BINARY);
	thrift_list_text(t, text);
}

/* Begins an item of a list of structures. */
static inline void thrift_item(struct thrift *t)
{
	t->last[++t->depth] = 0;
}

static inline void thrift_begin(struct thrift *t, int number)
{
	thrift_field(t, number, THRIFT_STRUCT);
	thrift_item(t);
}

static inline void thrift_end(struct thrift *t)
{
	buf_put_u8(t->out, 0);
	if (t->depth)
		t->depth--;
}

/* Begins a list of nr items of the type, which the caller writes next. */
static inline void thrift_list(struct thrift *t, int number, int type, uint32_t nr)
{
	thrift_field(t, number, THRIFT_LIST);
	buf_put_u8(t->out, (uint8_t)((nr < 15 ? nr : 15) << 4 | (uint32_t)type));
	if (nr >= 15)
		varint_put(t->out, nr);
}

static inline void thrift_list_of_ints(struct thrift *t, int number, uint32_t nr)
{
	thrift_list(t, number, THRIFT_I32, nr);
}

static inline void thrift_list_of_texts(struct thrift *t, int number, uint32_t nr)
{
	thrift_list(t, number, THRIFT_BINARY, nr);
}

static inline void thrift_list_of_structs(struct thrift *t, int number, uint32_t nr)
{
	thrift_list(t, number, THRIFT_STRUCT, nr);
}

static inline void thrift_list_int(struct thrift *t, int64_t value)
{
	varint_put(t->out, zigzag(value));
}

#endif
