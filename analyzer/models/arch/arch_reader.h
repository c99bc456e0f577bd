/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_reader: what the parts of the reader of YAML models share. For users: arch_read.h.
 *
 * Each function returns 0, or -EINVAL or -ENOMEM with "FILE:LINE: what" in r->err.
 */
#ifndef ANALYZER_ARCH_READER_H
#define ANALYZER_ARCH_READER_H

#include "analyzer/models/arch/arch_read.h"
#include "base/yaml_tree.h"

/* An expression whose variables are looked at when all that sets some was read. */
struct reader_use {
	const struct stoex *e; /* borrowed */
	const struct yaml_node *at;
};

struct arch_reader {
	struct yaml_tree *tree;
	struct arch_model *m;
	const struct arch_setting *settings;
	size_t nr_settings;
	const struct yaml_node *components, *assembly; /* of the document */
	struct reader_use *uses;		       /* owned */
	uint32_t nr_uses;
	bool *is_set; /* owned; by name: someone gives it a value */
	uint32_t nr_is_set;
	struct err *err;
};

int reader_error(const struct arch_reader *r, const struct yaml_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int reader_no_memory(struct arch_reader *r);
struct arch_place reader_place(const struct yaml_node *at);
/* A copy of text; NULL without memory, said in r->err. */
char *reader_copy(struct arch_reader *r, const char *text);
/* The text of a scalar; NULL is none, said in r->err as "expected WHAT". */
const char *reader_text(struct arch_reader *r, const struct yaml_node *node, const char *what);
/* A value that must be there: NULL and r->err otherwise. */
const struct yaml_node *reader_need(struct arch_reader *r, const struct yaml_node *map,
				    const char *key);
/* node must be a mapping of names to what is in it; NULL is an empty one. */
int reader_names(struct arch_reader *r, const struct yaml_node *node);

/* An expression; where it is a constant, it must not be below least. */
int reader_expression(struct arch_reader *r, const struct yaml_node *node, double least,
		      struct stoex **out);
/* One number, which no distribution and no variable changes. */
int reader_number(struct arch_reader *r, const struct yaml_node *node, double least, double most,
		  double *value);
int reader_whole(struct arch_reader *r, const struct yaml_node *node, double least, double most,
		 uint32_t *value);
/* "name: expression" pairs. */
int reader_sets(struct arch_reader *r, const struct yaml_node *node, struct arch_sets *sets);
/* The type of resource of this name, added where it is new; ARCH_NONE without memory. */
uint32_t reader_type(struct arch_reader *r, const char *name);

/* The behaviour of a list of actions, of a component or (ARCH_NONE) of a scenario. */
int reader_behaviour(struct arch_reader *r, const struct yaml_node *list, uint32_t component,
		     uint32_t *index);
int reader_components(struct arch_reader *r);
/* containers, links */
int reader_environment(struct arch_reader *r, const struct yaml_node *root);
int reader_file_sets(struct arch_reader *r, const struct yaml_node *node);
int reader_storages(struct arch_reader *r, const struct yaml_node *node);
int reader_assembly(struct arch_reader *r);
int reader_usage(struct arch_reader *r, const struct yaml_node *node);

/* The operation NAME or INTERFACE.NAME of a component that offers it; ARCH_NONE. */
uint32_t reader_operation(const struct arch_reader *r, uint32_t component, const char *name);

#endif
