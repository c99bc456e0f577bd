/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_reader: declarations that the parts of the reader of YAML models share. Users need
 * arch_read.h only.
 *
 * Each function returns 0, or -EINVAL or -ENOMEM with "FILE:LINE: what" in r->err. The context of
 * every hook is a struct arch_reader.
 */
#ifndef ANALYZER_ARCH_READER_H
#define ANALYZER_ARCH_READER_H

#include "analyzer/models/arch/arch_read.h"
#include "base/data/fields.h"

/*
 * This struct is an expression whose variables are checked after everything that may set them has
 * been read.
 */
struct reader_use {
	const struct stoex *e; /* borrowed */
	const struct yaml_node *at;
};

struct arch_reader {
	struct arch_model *m;
	const struct arch_setting *settings;
	size_t nr_settings;
	const struct yaml_node *components, *assembly; /* nodes of the document */
	/* component whose behaviour is being read; ARCH_NONE for a scenario */
	uint32_t component;
	uint32_t container;	 /* container whose resources are being read */
	struct reader_use *uses; /* owned */
	uint32_t nr_uses;
	bool *is_set; /* owned; by name: whether the name gets a value anywhere */
	uint32_t nr_is_set;
};

/* Characters that names of parts of a model may not contain, since a call is INSTANCE.OPERATION. */
#define ARCH_NOT_IN_NAMES ". "

/* Writes "FILE:LINE: what", without the key of the node; NULL stands for the document. */
int reader_error(const struct fields_reader *r, const struct yaml_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
struct arch_place reader_place(const struct yaml_node *at);
/* Returns a copy of text, or NULL if there is no memory, with an error in r->err. */
char *reader_copy(const struct fields_reader *r, const char *text);

/*
 * Fields for any expression, for one whose value is at least 0, and for one whose value is above
 * 0. The member is a struct stoex *.
 */
extern const struct field arch_expression, arch_amount, arch_positive;
/* This field reads a whole number of servers. The member is a uint32_t. */
extern const struct field arch_servers;
/* This field reads variables and their values. The member is a struct arch_sets. */
extern const struct field arch_sets_field;
/* This field reads a list of actions. The member is a uint32_t, the index of the behaviour. */
extern const struct field arch_actions;
/* These are fields for the maps of a model. */
extern const struct field arch_file_sets, arch_storages, arch_components, arch_containers,
	arch_links, arch_assembly, arch_usage;

/*
 * The functions below are hooks. This one reads an expression; a constant must be in the range of
 * the field.
 */
field_hook reader_expression;
/* Reads a number that contains no distribution and no variable. The member is a double. */
field_hook reader_number;
/* Reads a whole number that contains no distribution and no variable. The member is a uint32_t. */
field_hook reader_whole;
/* Leaves the node for a later pass. */
field_hook reader_later;

/*
 * Returns the type of resource of this name, and adds it if it is new. Returns ARCH_NONE if there
 * is no memory.
 */
uint32_t reader_type(const struct fields_reader *r, const char *name);
/* Returns the operation NAME or INTERFACE.NAME of a component that offers it, or ARCH_NONE. */
uint32_t reader_operation(const struct arch_reader *reader, uint32_t component, const char *name);

#endif
