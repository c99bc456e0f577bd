/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields: describes the keys that a mapping in a file may have, with one table per struct.
 *
 * A table gives each key its name, type, range, default and help. fields_read() walks the table
 * over a YAML tree, fills the struct, checks ranges and refuses unknown keys. fields_schema()
 * (fields_schema.h) writes the JSON Schema of the same table. The hook of a field checks what no
 * table can express, such as a name that must exist elsewhere.
 *
 *	static const struct field disk_fields[] = {
 *		FIELD(TEXT, "device", .offset = offsetof(struct disk, device), .required = true,
 *		      .help = "name of the block device"),
 *		FIELD(COUNT, "depth", .offset = offsetof(struct disk, depth), .low = 1,
 *		      .high = 1024, .standard = "32", .help = "requests in flight at most"),
 *		{ 0 },
 *	};
 *	static const struct fields disk_table = { .name = "disk", .fields = disk_fields };
 *	struct fields_reader reader = { .tree = tree, .err = err };
 *	struct disk disk = { .depth = 32 };
 *
 *	ret = fields_read(&reader, &disk_table, yaml_tree_root(tree), &disk);
 *
 * Fields are read in the order of the table, whatever the order in the file, so that a hook may use
 * the fields above its own. An absent key leaves its member unchanged; the caller sets the
 * defaults. All errors have the form "FILE:LINE: KEY: what was expected". The size of the tree is
 * bounded (yaml_tree.h), and so is the work of the reader.
 */
#ifndef BASE_DATA_FIELDS_H
#define BASE_DATA_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data/yaml_tree.h"
#include "base/text/err.h"

enum field_type {
	FIELD_END,  /* ends a table */
	FIELD_ANY,  /* any node; only a hook can read it */
	FIELD_TEXT, /* a text that is not empty: an owned char *, or char[room] where room is set */
	FIELD_WORD, /* one of words, stored as an enum by its index */
	FIELD_FLAG, /* true or false: bool */
	FIELD_COUNT,  /* a whole number: uint64_t */
	FIELD_NUMBER, /* a number: double */
	FIELD_STRUCT, /* a mapping with the fields of a table, in a struct inside this one */
	FIELD_MAP,    /* a mapping of any names to items */
	FIELD_LIST,   /* a list of items */
	FIELD_EITHER, /* one of several items: the first that the node's kind fits */
	FIELD_TUPLE,  /* a list whose entries are the items, in their order; JSON only */
};

struct field;
struct fields;
struct fields_json;
struct json_t;

struct fields_reader {
	const struct yaml_tree *tree; /* NULL where nodes were made by hand; their line is 0 */
	struct err *err;
	void *context; /* passed on to the hooks */
	/*
	 * Reads the text of a number; NULL means that only plain decimal numbers are allowed.
	 * Returns 0, or -EINVAL; why may then hold the reason.
	 */
	int (*number)(const struct fields_reader *r, const char *text, double *value,
		      struct err *why);
	/*
	 * "KEY=VALUE" texts, which replace keys of the outermost mapping. Errors name settings_from
	 * in place of the file.
	 */
	const char *const *settings;
	size_t nr_settings;
	const char *settings_from;
};

/* `to` points to the member at the field's offset. Returns 0, or -errno with the line in r->err. */
typedef int field_hook(const struct fields_reader *r, const struct field *f,
		       const struct yaml_node *n, void *to);

/*
 * The hooks for JSON (fields_json.h). `to` and `from` point to the member at the field's offset.
 * Writing sets *out to a new reference, or to NULL where the key is to be left out.
 */
typedef int field_json_read(struct fields_json *r, const struct field *f,
			    const struct json_t *value, void *to);
typedef int field_json_write(const struct field *f, const void *from, struct json_t **out);

struct field {
	const char *name; /* the key; of an item: its definition's name in the schema, or NULL */
	enum field_type type;
	const struct field *as;	 /* replaces the type: the value is what that item describes */
	size_t offset;		 /* offset of the member in the struct */
	const struct fields *of; /* FIELD_STRUCT: its table */
	const struct field
		*item; /* FIELD_MAP, FIELD_LIST: what each is; FIELD_EITHER: what it may be */
	const char *const *words; /* FIELD_WORD: ended by NULL */
	/*
	 * FIELD_TEXT: bytes of a text inside the struct; FIELD_COUNT: of its member, where not 8;
	 * FIELD_WORD of JSON: 1 where its member is a bool.
	 */
	size_t room;
	/*
	 * FIELD_LIST of JSON, whose items lie in an array: the bytes from one to the next, and the
	 * offset of the size_t that counts them. Where count is 0, there are always `low` items,
	 * and the file's further ones are ignored. Where stride is 0 too, the hook of the item
	 * stores each of them.
	 */
	size_t stride, count;
	/*
	 * FIELD_LIST of JSON: the member is a pointer to the array, which the struct owns, rather
	 * than the array. An empty list is NULL. NULL is left out where low is not 0.
	 */
	bool owned;
	bool counted; /* FIELD_LIST of JSON: its count was read before, and must be its length */
	bool late;    /* JSON: read after the fields that are not late */
	/* FIELD_WORD of JSON: no member. The first word is written; reading ignores the value. */
	bool constant;
	size_t flag;	  /* JSON: offset of a bool that says whether the key is present; 0: none */
	double null;	  /* FIELD_NUMBER of JSON: what null stands for; 0: null is refused */
	double low, high; /* range of a number, or of the length of a list or map */
	bool above;	  /* a number must be more than low */
	bool computed;	  /* a number may be written as text: with a unit, as an expression */
	bool settable;	  /* the reader's settings may replace the value */
	bool required;
	unsigned char choice; /* exactly one of the fields with this number must be present */
	unsigned char some;   /* at least one of the fields with this number must be present */
	const char *with;     /* another key that must be present too */
	const char *without;  /* keys that must not be present, separated by blanks */
	const char *pattern; /* FIELD_TEXT: a regular expression for the schema; a hook checks it */
	const char *keys;    /* FIELD_MAP: a regular expression of its names, for the schema */
	const char *banned;  /* FIELD_MAP: characters that no name may have; no name is empty */
	const char *standard; /* the default, as JSON */
	const char *unit;     /* unit of a number that is written without one: "s", "bytes" */
	const char *expected; /* replaces the words by which errors describe the type */
	const char *help;
	field_hook *read; /* replaces storing; called after the node's kind was checked */
	field_json_read *from_json;
	field_json_write *to_json;
};

/*
 * Each of these macros makes one field, or one item where key is NULL. The type is given without
 * FIELD_; FIELD_AS() takes the field that describes the value in its place. The further members
 * follow by name.
 */
#define FIELD(kind, key, ...)                                  \
	{                                                      \
		.name = key, .type = FIELD_##kind, __VA_ARGS__ \
	}
#define FIELD_AS(described, key, ...)                     \
	{                                                 \
		.name = key, .as = described, __VA_ARGS__ \
	}

struct fields {
	const char *name;  /* name of the definition in the schema; NULL: written in place */
	const char *title; /* title of the schema, for an outermost table */
	const char *help;
	const struct field *fields;
	bool one_key;	      /* exactly one of the keys must be present */
	const char *noun;     /* what errors call a key; NULL: "key" */
	const char *expected; /* replaces the words for a choice that was not made */
	bool closed;	      /* JSON: an unknown key is an error, as it always is in YAML */
	/* JSON: returns NULL, or a static text: what is wrong with a struct that was read */
	const char *(*check)(const void *from);
	/* JSON: returns false for a struct that is not written; NULL: each is */
	bool (*written)(const void *from);
};

/* Returns the field that describes the value of f: another one, or f itself. */
static inline const struct field *fields_described(const struct field *f)
{
	return f->as ? f->as : f;
}
static inline bool fields_is_end(const struct field *f)
{
	return f->type == FIELD_END && !f->as;
}

/* Reads a mapping into the struct. Returns 0, -EINVAL, -ENOMEM or what a hook returned. */
int fields_read(const struct fields_reader *r, const struct fields *t, const struct yaml_node *n,
		void *to);
/* Reads one node as an item describes it. The item's offset counts from base. */
int fields_read_value(const struct fields_reader *r, const struct field *f,
		      const struct yaml_node *n, void *base);
/* Refuses settings that are not KEY=VALUE, or whose key is not a settable key of the table. */
int fields_check_settings(const struct fields_reader *r, const struct fields *t);
/* Reads the number of a node and checks the field's range. Returns 0 or -EINVAL. */
int fields_number(const struct fields_reader *r, const struct field *f, const struct yaml_node *n,
		  double *value);
/* Puts "FILE:LINE: KEY: what" into err and returns -EINVAL. */
int fields_error(const struct fields_reader *r, const struct yaml_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Puts "FILE:LINE: KEY: expected WHAT, got 'TEXT'" into err, with the words of the field. Returns
 * -EINVAL.
 */
int fields_expected(const struct fields_reader *r, const struct field *f,
		    const struct yaml_node *at);
/* Writes the words by which errors describe the values of the field. Returns out. */
const char *fields_words(const struct field *f, char *out, size_t room);
/* Returns whether the value lies in the range of a number, and is whole where it has to be. */
bool fields_in_range(const struct field *f, double value);
/* Puts "out of memory" and the file into err and returns -ENOMEM. */
int fields_no_memory(const struct fields_reader *r);

#endif
