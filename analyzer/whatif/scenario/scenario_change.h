/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_change: declares what the parts of the scenario reader share, and the list of changes.
 */
#ifndef ANALYZER_SCENARIO_CHANGE_H
#define ANALYZER_SCENARIO_CHANGE_H

#include "analyzer/whatif/scenario/scenario_files.h"
#include "base/data/fields.h"

#define SCENARIO_LOAD_MAX 1e6 /* times today's */

/* Every hook gets this struct as its context. */
struct scenario_reader {
	struct scenario *scenario;
	struct scenario_files *files;
	int depth; /* number of files that build on each other */
};

/* This struct holds what a file says about a VM; storage is an index. */
struct scenario_vm_said {
	const struct yaml_node *vm, *profile, *device;
	size_t storage;
	uint64_t count;
	double load;
};

/* Several tables share these items. */
extern const struct field scenario_name, scenario_count, scenario_load, scenario_size,
	scenario_hit_time;
/* This field is an item of the list of changes: a mapping from one verb to its arguments. */
extern const struct field scenario_change;

/* Keeps the node for the caller: `to` is a const struct yaml_node *. */
field_hook scenario_keep_node;
/* Finds the storage of this name: `to` is a size_t. */
field_hook scenario_find_storage;
/* Adds a VM. Returns 0, or -EINVAL with file and line. */
int scenario_add_vm(const struct fields_reader *r, const struct yaml_node *at, const char *name,
		    const struct scenario_vm_said *said);

#endif
