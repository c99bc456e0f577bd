/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup: ids of block cgroups to paths below their root, and which of them the running segment
 * mentions. An id is the kernfs id: the inode number of the cgroup's folder. The hierarchy is the
 * one that accounts for block I/O: the old blkio one where it is mounted, else the unified one.
 * One thread.
 */
#ifndef AGENT_CGROUP_H
#define AGENT_CGROUP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/segment/segment.h"

#define CGROUP_MAX 1024

struct cgroup_table;

/* 0, -ENOMEM. Without a hierarchy no cgroup is named. */
int cgroup_table_new(struct cgroup_table **out);
void cgroup_table_free(struct cgroup_table *t);

/* The running segment mentions it; beyond CGROUP_MAX no further ones are. O(1). */
void cgroup_table_use(struct cgroup_table *t, uint64_t id);

/*
 * The cgroups that the running segment mentions and that could be named, valid until the next
 * call; the next segment begins. Each id is looked for once, in a walk over at most some thousand
 * folders; a name once found is kept.
 */
size_t cgroup_table_collect(struct cgroup_table *t, const struct segment_cgroup **out);

/* The id of a cgroup's folder, absolute or below the root; the root has level 0.
 * -errno with one line in err. */
int cgroup_find(const char *path, uint64_t *id, uint32_t *level, struct err *err);

#endif
