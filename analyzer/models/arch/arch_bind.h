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

/*
 * Changes a model that is complete except for arch_finish(). Returns 0, -EINVAL with file and line,
 * the error of a file, or -ENOMEM.
 */
int arch_bind(struct arch_model *m, const char *path, struct err *err);

/*
 * Changes parts of such a model by name: SCENARIO.population, SCENARIO.time (think time of a closed
 * scenario, time between arrivals of an open one), CONTAINER.RESOURCE (its rate), or
 * INSTANCE.VARIABLE (a parameter of a component). Values are expressions of Palladio. path is used
 * in messages. Returns 0, -EINVAL or -ENOMEM.
 */
int arch_change(struct arch_model *m, const char *path, const struct arch_setting *settings,
		size_t nr, struct err *err);

#endif
