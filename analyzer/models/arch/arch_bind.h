/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_bind: gives the containers of a model storages with an I/O analysis model, by a side file.
 *
 * Palladio knows a disk as a resource with a rate. The side file (YAML) names storages as a model
 * of arch_read.h does, and binds demands for a resource of a container to them, so that each demand
 * becomes a request: its type and its size come from the internal action and its parameters.
 *
 *	storages:
 *	    disk: {read: read_s.json, write: write_s.json}
 *	file_sets: {data: 4g}
 *	requests:
 *	    - {container: rack, storage: disk, action: store, request: write, file_set: data}
 *	    - {container: rack, storage: disk, request: read, size: item.BYTESIZE, sequential: 0.5}
 *
 * The first entry that fits a demand is used. Without a size, the amount of the demand is the size
 * in bytes. Expressions are those of Palladio, over the variables of the call.
 */
#ifndef ANALYZER_ARCH_BIND_H
#define ANALYZER_ARCH_BIND_H

#include "analyzer/models/arch/arch_read.h"
#include "base/data/yaml_tree.h"

/*
 * Changes a model that is complete except for arch_finish(). Returns 0, -EINVAL with file and line,
 * the error of a file, or -ENOMEM.
 */
int arch_bind(struct arch_model *m, const char *path, struct err *err);

/*
 * The three functions below are for storages that a model has without a side file. The first adds
 * the storages and file sets of a document with the keys storages and file_sets; file is the index
 * of the model's file in which they stand. Returns 0, -EINVAL with file and line, or -ENOMEM.
 */
int arch_declare_storages(struct arch_model *m, const struct yaml_tree *tree, uint32_t file,
			  struct err *err);
/*
 * Makes a request of a demand, and takes over size and sequential. Without a size, the amount of
 * the demand is the size.
 */
void arch_make_request(struct arch_action *a, enum arch_direction direction, struct stoex *size,
		       struct stoex *sequential, uint32_t file_set);

/*
 * This struct is a container with a storage, and the type of resource whose demands are requests to
 * it.
 */
struct arch_binding {
	uint32_t container, type;
};

/*
 * Makes requests of the demands of these containers that are not requests yet. Each demand must say
 * whether it reads or writes. Returns 0, -EINVAL with file and line, or -ENOMEM.
 */
int arch_bind_containers(struct arch_model *m, const struct arch_binding *bindings, size_t nr,
			 struct err *err);

/*
 * Changes parts of such a model by name: SCENARIO.population, SCENARIO.time (think time of a closed
 * scenario, time between arrivals of an open one), CONTAINER.RESOURCE (its rate), or
 * INSTANCE.VARIABLE (a parameter of a component). Values are expressions of Palladio. path is used
 * in messages. Returns 0, -EINVAL or -ENOMEM.
 */
int arch_change(struct arch_model *m, const char *path, const struct arch_setting *settings,
		size_t nr, struct err *err);

#endif
