/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields: what a mapping in a file may hold, as one table per struct.
 *
 * A table says of each key its name, type, range, default and help. fields_read() walks the table over a
 * YAML tree, fills the struct, checks ranges and refuses unknown keys; fields_schema() (fields_schema.h)
 * writes the JSON Schema of the same table. What no table can say, such as a name that must exist
 * elsewhere, is read by the hook of a field.
 *
 *	static const struct field disk_fields[] = {
 *		{ .name = "device", .type = FIELD_TEXT, .offset = offsetof(struct disk, device),
 *		  .required = true, .help = "name of the block device" },
 *		{ .name = "depth", .type = FIELD_COUNT, .offset = offsetof(struct disk, depth),
 *		  .low = 1, .high = 1024, .standard = "32", .help = "requests in flight at most" },
 *		{ 0 },
 *	};
 *	static const struct fields disk_table = { .name = "disk", .fields = disk_fields };
 *	struct fields_reader reader = { .tree = tree, .err = err };
 *	struct disk disk = { .depth = 32 };
 *
 *	ret = fields_read(&reader, &disk_table, yaml_tree_root(tree), &disk);
 *
 * Fields are read in the order of the table, whatever the order in the file, so that a hook may use what
 * stands above it. A key that is absent leaves its member as it was: the caller sets the defaults. All
 * errors are "FILE:LINE: KEY: what was expected". The tree is bounded (yaml_tree.h), and so is the reader.
 */
#ifndef BASE_FIELDS_H
#define BASE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/yaml_tree.h"

enum field_type {
	FIELD_END,    /* ends a table */
	FIELD_ANY,    /* any node; only a hook can read it */
	FIELD_TEXT,   /* a scalar that is not empty: an owned char *, or with room a char[room] */
	FIELD_WORD,   /* one of words: its index as an enum */
	FIELD_FLAG,   /* true or false: bool */
	FIELD_COUNT,  /* a whole number: uint64_t */
	FIELD_NUMBER, /* a number: double */
	FIELD_STRUCT, /* a mapping with the fields of a table, in a struct inside this one */
	FIELD_MAP,    /* a mapping of any names to items */
	FIELD_LIST,   /* a list of items */
	FIELD_EITHER, /* one of several items: the first that the node's kind fits */
};

struct field;
struct fields;

struct fields_reader {
	const struct yaml_tree *tree; /* NULL where nodes were made by hand; their line is 0 */
	struct err *err;
	void *context; /* of the hooks */
	/*
	 * Reads the text of a number; NULL: plain decimal numbers. 0, or -EINVAL; what is wrong may
	 * stand in why.
	 */
	int (*number)(const struct fields_reader *r, const char *text, double *value,
		      struct err *why);
	/* "KEY=VALUE" that replace the keys of the outermost mapping; settings_from stands for the file. */
	const char *const *settings;
	size_t nr_settings;
	const char *settings_from;
};

/* to points to the member at the field's offset. 0 or -errno with the line in r->err. */
typedef int field_hook(const struct fields_reader *r, const struct field *f,
		       const struct yaml_node *n, void *to);

struct field {
	const char *name; /* the key; of an item: the name of its definition in the schema, or NULL */
	enum field_type type;
	const struct field *as;	 /* in place of a type: the value is what that item describes */
	size_t offset;		 /* of the member in the struct */
	const struct fields *of; /* FIELD_STRUCT: its table */
	const struct field
		*item; /* FIELD_MAP, FIELD_LIST: what each is; FIELD_EITHER: what it may be */
	const char *const *words; /* FIELD_WORD: ended by NULL */
	size_t room;		  /* FIELD_TEXT: bytes of a text inside the struct */
	double low, high;	  /* of a number; of a map or list: how many items (high 0: any) */
	bool above;		  /* a number must be more than low */
	bool computed; /* a number may be written as text: with a unit, as an expression */
	bool settable; /* the reader's settings may replace it */
	bool required;
	unsigned char choice; /* of the fields with this number exactly one must be there */
	unsigned char some;   /* of the fields with this number at least one must be there */
	const char *with;     /* another key that must be there too */
	const char *without;  /* keys that must not be there, with blanks between them */
	const char *pattern; /* FIELD_TEXT: a regular expression for the schema; a hook checks it */
	const char *keys;    /* FIELD_MAP: a regular expression of its names, for the schema */
	const char *banned;  /* FIELD_MAP: characters that no name has; nor is one empty */
	const char *standard; /* the default, as JSON */
	const char *unit;     /* of a number without one: "s", "bytes" */
	const char *expected; /* in place of the words that the type gives to errors */
	const char *help;
	field_hook *read; /* in place of storing, once the node's kind was checked */
};

struct fields {
	const char *name;  /* of the definition in the schema; NULL: written where it is used */
	const char *title; /* of an outermost table */
	const char *help;
	const struct field *fields;
	bool one_key;	      /* exactly one of the keys is there */
	const char *noun;     /* what a key names, in errors; NULL: "key" */
	const char *expected; /* in place of the words for a choice that was not made */
};

/* Reads a mapping into the struct. 0, -EINVAL, -ENOMEM or what a hook returned. */
int fields_read(const struct fields_reader *r, const struct fields *t, const struct yaml_node *n,
		void *to);
/* Reads one node as an item describes it; base is what the item's offset counts from. */
int fields_read_value(const struct fields_reader *r, const struct field *f,
		      const struct yaml_node *n, void *base);
/* Refuses settings that are not KEY=VALUE with a key of the table that may be set. */
int fields_check_settings(const struct fields_reader *r, const struct fields *t);
/* The number that the node holds, in the field's range. */
int fields_number(const struct fields_reader *r, const struct field *f, const struct yaml_node *n,
		  double *value);
/* "FILE:LINE: KEY: what"; -EINVAL. */
int fields_error(const struct fields_reader *r, const struct yaml_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* "FILE:LINE: KEY: expected WHAT, got 'TEXT'", with the words of the field; -EINVAL. */
int fields_expected(const struct fields_reader *r, const struct field *f,
		    const struct yaml_node *at);
/* "out of memory" with the file; -ENOMEM. */
int fields_no_memory(const struct fields_reader *r);

#endif
