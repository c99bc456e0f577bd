/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_reader: declares what the files of the reader of plans share. The context of every hook is a
 * struct plan_reader.
 */
#ifndef ANALYZER_MEASURE_PLAN_READER_H
#define ANALYZER_MEASURE_PLAN_READER_H

#include "analyzer/measure/plan.h"
#include "base/data/fields.h"

struct plan_reader {
	struct plan *plan;
	const struct yaml_node *load; /* the plan's own load, for targets without one; or NULL */
};

/* This field reads a value that {EXPRESSION} can use: a number or a word. */
extern const struct field plan_value;
/* This field reads one factor: a list of levels, or a mapping that has levels, cases or a range. */
extern const struct field plan_factor;
/* This field reads the configurations of a design "list". */
extern const struct field plan_list_item;

/* Reads a whole plan into p, which already holds the defaults. */
int plan_read_tree(struct plan *p, const struct yaml_tree *tree, const char *const *overrides,
		   size_t nr_overrides, struct err *err);

/* These are the hooks of the fields factors and design.list. */
field_hook factors_read_all, configurations_read_list;

#endif
