/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_writer: writes JSON text as it is made, without a tree of values. The text is byte for byte
 * what jansson dumps with JSON_REAL_PRECISION(17), or fewer digits, and JSON_COMPACT, or
 * JSON_INDENT(2) where it is pretty; it takes a tenth of the time and no memory but the buffer's.
 * The buffer keeps the first failure (buf.h), so that one look at the end finds it. Use:
 *
 *	struct json_writer w = { .out = &text };
 *
 *	json_writer_open(&w, '{');
 *	json_writer_key(&w, "count", 5);
 *	json_writer_whole(&w, 3);
 *	json_writer_close(&w, '}');
 *
 * The caller opens and closes in pairs, and gives each value of an object its key before it.
 */
#ifndef BASE_DATA_JSON_WRITER_H
#define BASE_DATA_JSON_WRITER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/buf.h"

struct json_writer {
	struct buf *out;    /* borrowed */
	int digits;	    /* of a number that is not whole, 1 to 16; 0: 17, which are all */
	bool is_pretty;	    /* indented by two blanks a level; else without any blank */
	unsigned int depth; /* objects and arrays that are open */
	bool has_entries;   /* the innermost open object or array is not empty */
	bool has_key;	    /* the value of a key comes next */
};

/* Begins an object ('{') or an array ('['), which json_writer_close() ends with '}' or ']'. */
void json_writer_open(struct json_writer *w, char bracket);
void json_writer_close(struct json_writer *w, char bracket);
/* Writes a key, which must be UTF-8 without characters that JSON escapes. */
void json_writer_key(struct json_writer *w, const char *key, size_t len);

void json_writer_null(struct json_writer *w);
/* Writes a whole number, at most INT64_MAX, because JSON readers take no larger one. */
void json_writer_whole(struct json_writer *w, uint64_t value);
void json_writer_signed(struct json_writer *w, int64_t value);
/* Writes a number; one that is not finite becomes null. */
void json_writer_real(struct json_writer *w, double value);
/* Writes a text. If it is not UTF-8, each of its bytes above 0x7f becomes '?'. */
void json_writer_text(struct json_writer *w, const char *text);
/* Writes a value of jansson with all that is in it, or null for NULL. */
void json_writer_value(struct json_writer *w, const json_t *value);

#endif
