/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields_json: reads and writes JSON objects with the tables of fields.h.
 *
 * fields_json_read() fills a struct from an object, and fields_json_write() makes the object of a
 * struct, its keys in the order of the table, so that both directions cannot drift apart. Programs
 * write these files: a key that the table does not have is ignored, because a later version may
 * write more. Where a required key is missing, the error names the unknown key that is most like
 * it. A location is a path of keys and indices, since saved models stand in one line:
 * "mix.read.fit.cases[0].fit: rows: missing: expected a whole number of 0 or more".
 *
 * FIELD_TEXT, WORD, FLAG, COUNT, NUMBER, STRUCT, TUPLE and LIST (with stride) need no hook. The
 * others, and lists of unknown length, have from_json and to_json.
 */
#ifndef BASE_DATA_FIELDS_JSON_H
#define BASE_DATA_FIELDS_JSON_H

#include "base/data/fields.h"
#include "base/data/json.h"

struct fields_json_step;

struct fields_json {
	struct err *err;
	void *context;			   /* passed on to the hooks */
	const struct fields_json_step *at; /* reader's position; NULL: the outermost object */
};

/* Returns 0, -EINVAL with a message in r->err, -ENOMEM, or what a hook returned. */
int fields_json_read(struct fields_json *r, const struct fields *t, const json_t *object, void *to);
/* Reads one value as an item describes it. The item's offset counts from base. */
int fields_json_read_value(struct fields_json *r, const struct field *f, const json_t *value,
			   void *base);
/*
 * Sets *out to a new reference, or to NULL after an error. Returns 0, -ENOMEM, -EDOM if a number is
 * not finite that null cannot stand for, since it could not be read again, or what a hook returned.
 */
int fields_json_write(const struct fields *t, const void *from, json_t **out);
/* Does the same, with a message in err for -ENOMEM and -EDOM. */
int fields_json_make(const struct fields *t, const void *from, json_t **out, struct err *err);
/*
 * Makes the value of a member, as an item describes it. *out is NULL where the key is to be left
 * out, and after an error. Returns what fields_json_write() does.
 */
int fields_json_write_value(const struct field *f, const void *base, json_t **out);
/* Makes the value of an item and appends it to the list. */
int fields_json_append(json_t *list, const struct field *item, const void *base);
/* Puts "PATH: what" into the error and returns -EINVAL. */
int fields_json_error(const struct fields_json *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Puts the path before a message that another reader has left in the error. */
void fields_json_prefix(const struct fields_json *r);

#endif
