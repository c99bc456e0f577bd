/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup: maps ids of block cgroups to paths below their root, and notes which of them the running
 * segment mentions. An id is the kernfs id, which is the inode number of the cgroup's folder. The
 * hierarchy is the one that accounts for block I/O: the old blkio hierarchy where it is mounted,
 * otherwise the unified one. For one thread.
 */
#ifndef AGENT_CGROUP_H
#define AGENT_CGROUP_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"
#include "formats/segment/segment.h"

#define CGROUP_MAX 1024

struct cgroup_table;

/* Returns 0 or -ENOMEM. Where no hierarchy is mounted, no cgroup gets a name. */
int cgroup_table_new(struct cgroup_table **out);
void cgroup_table_free(struct cgroup_table *t);

/*
 * Notes that the running segment mentions this cgroup. Beyond CGROUP_MAX cgroups it notes no
 * further ones. O(1).
 */
void cgroup_table_use(struct cgroup_table *t, uint64_t id);

/*
 * Returns the cgroups that the running segment mentions and that have a name, valid until the next
 * call, and begins the next segment. Each id is looked for once, in a walk over at most some
 * thousand folders; a name is kept once it was found.
 */
size_t cgroup_table_collect(struct cgroup_table *t, const struct segment_cgroup **out);

/*
 * Finds the id of a cgroup by the path of its folder, absolute or below the root. The root has
 * level 0. Returns 0 or -errno with one line in err.
 */
int cgroup_find(const char *path, uint64_t *id, uint32_t *level, struct err *err);

#endif
