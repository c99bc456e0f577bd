/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup: ids of the unified hierarchy to paths below its root, and which of them the running
 * segment mentions. An id is the kernfs id: the inode number of the cgroup's folder. One thread.
 */
#ifndef AGENT_CGROUP_H
#define AGENT_CGROUP_H

#include <stddef.h>
#include <stdint.h>

#include "formats/err.h"
#include "formats/segment.h"

#define CGROUP_MAX 1024

struct cgroup_table;

/* root: where the hierarchy is mounted; NULL: /sys/fs/cgroup. 0, -ENOMEM. */
int cgroup_table_new(struct cgroup_table **out, const char *root);
void cgroup_table_free(struct cgroup_table *t);

/* The running segment mentions it; beyond CGROUP_MAX no further ones are. O(1). */
void cgroup_table_use(struct cgroup_table *t, uint64_t id);

/*
 * The cgroups that the running segment mentions and that could be named, valid until the next
 * call; the next segment begins. A name once found is kept; one that was not is looked for again
 * with each segment.
 */
size_t cgroup_table_collect(struct cgroup_table *t, const struct segment_cgroup **out);

/* The id of a cgroup's folder, absolute or below the root, and its depth below the root (0).
 * -errno with one line in err. */
int cgroup_find(const char *path, uint64_t *id, uint32_t *level, struct err *err);

#endif
