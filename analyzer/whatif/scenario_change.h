/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_change: what a scenario's file says while it is read, and its changes in order. */
#ifndef ANALYZER_SCENARIO_CHANGE_H
#define ANALYZER_SCENARIO_CHANGE_H

#include "analyzer/whatif/scenario_files.h"
#include "base/yaml_tree.h"

struct scenario_reader {
	struct scenario *scenario;
	struct scenario_files *files;
	const struct yaml_tree *tree;
	struct err *err;
};

/* One entry of `changes`: a mapping of its verb to what it takes. -EINVAL with file:line. */
int scenario_change(struct scenario_reader *r, const struct yaml_node *n);

/* Parts of the reader. "FILE:LINE: what: expected ..., got ..."; -EINVAL. */
int scenario_bad(const struct scenario_reader *r, const struct yaml_node *at, const char *what,
		 const char *expected);
int scenario_read_name(const struct scenario_reader *r, const struct yaml_node *n, const char *what,
		       char out[SCENARIO_NAME_BYTES]);
int scenario_read_count(const struct scenario_reader *r, const struct yaml_node *n, size_t least,
			size_t *out);
int scenario_read_load(const struct scenario_reader *r, const struct yaml_node *n, double *out);
int scenario_read_cache(const struct scenario_reader *r, const struct yaml_node *size,
			const struct yaml_node *hit_time, struct scenario_storage *out);
/* Adds the VM that a mapping describes. */
int scenario_read_vm(struct scenario_reader *r, const struct yaml_node *n, const char *name);
int scenario_find_storage(const struct scenario_reader *r, const struct yaml_node *n, size_t *out);

#endif
