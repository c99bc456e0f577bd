/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_reader: what the parts of the reader of YAML models share. For users: arch_read.h.
 *
 * Each function returns 0, or -EINVAL or -ENOMEM with "FILE:LINE: what" in r->err. The context of every hook is
 * a struct arch_reader.
 */
#ifndef ANALYZER_ARCH_READER_H
#define ANALYZER_ARCH_READER_H

#include "analyzer/models/arch/arch_read.h"
#include "base/fields.h"

/* An expression whose variables are looked at when everything that sets some was read. */
struct reader_use {
	const struct stoex *e; /* borrowed */
	const struct yaml_node *at;
};

struct arch_reader {
	struct arch_model *m;
	const struct arch_setting *settings;
	size_t nr_settings;
	const struct yaml_node *components, *assembly; /* of the document */
	uint32_t component;	 /* whose behaviour is read; ARCH_NONE: a scenario's */
	uint32_t container;	 /* whose resources are read */
	struct reader_use *uses; /* owned */
	uint32_t nr_uses;
	bool *is_set; /* owned; by name: someone gives it a value */
	uint32_t nr_is_set;
};

/* Characters that no name of a part of a model has, since a call is INSTANCE.OPERATION. */
#define ARCH_NOT_IN_NAMES ". "

/* "FILE:LINE: what", without the key of the node; NULL is the document. */
int reader_error(const struct fields_reader *r, const struct yaml_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
struct arch_place reader_place(const struct yaml_node *at);
/* A copy of text; NULL without memory, said in r->err. */
char *reader_copy(const struct fields_reader *r, const char *text);

/* Any expression; one that is at or above 0; one above 0. A member is a struct stoex *. */
extern const struct field arch_expression, arch_amount, arch_positive;
/* Whole numbers of servers. A member is an uint32_t. */
extern const struct field arch_servers;
/* Variables and their values. A member is a struct arch_sets. */
extern const struct field arch_sets_field;
/* A list of actions. A member is an uint32_t, the index of the behaviour. */
extern const struct field arch_actions;
/* The maps of a model. */
extern const struct field arch_file_sets, arch_storages, arch_components, arch_containers,
	arch_links, arch_assembly, arch_usage;

/* Hooks. An expression in the range of the field, where it is a constant. */
field_hook reader_expression;
/* A number that neither a distribution nor a variable changes. A member is a double. */
field_hook reader_number;
/* Leaves the node to whoever reads it later. */
field_hook reader_later;

/* The type of resource of this name, added where it is new; ARCH_NONE without memory. */
uint32_t reader_type(const struct fields_reader *r, const char *name);
/* The operation NAME or INTERFACE.NAME of a component that offers it; ARCH_NONE. */
uint32_t reader_operation(const struct arch_reader *reader, uint32_t component, const char *name);

#endif
