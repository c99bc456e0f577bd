/* SPDX-License-Identifier: Apache-2.0 */
/* plan_reader: what plan.c and plan_read.c share while a plan is read. */
#ifndef ANALYZER_MEASURE_PLAN_READER_H
#define ANALYZER_MEASURE_PLAN_READER_H

#include "analyzer/measure/plan.h"
#include "base/yaml_tree.h"

struct plan_reader {
	struct plan *plan;
	const struct yaml_tree *tree;
	const char *const *overrides;
	size_t nr_overrides;
	struct err *err;
};

/* Reads everything of the tree but designs and targets. */
int plan_read_scalars(struct plan_reader *r, const struct yaml_node *root);
int plan_read_targets(struct plan_reader *r, const struct yaml_node *root);
/* An owned copy of a scalar; unchanged where node is NULL. */
int plan_read_text(struct plan_reader *r, const struct yaml_node *node, char **out);
int plan_read_count(struct plan_reader *r, const struct yaml_node *node, uint64_t low,
		    uint64_t high, uint64_t *out);
int plan_read_settings(struct plan_reader *r, const struct yaml_node *node,
		       struct level_setting **out, size_t *nr);

#endif
