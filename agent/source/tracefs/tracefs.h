/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracefs: access to the kernel's tracing files, and tracing instances of the agent's own.
 *
 * Where tracefs is not mounted, it is mounted for this process alone: the mount stands in no folder
 * and vanishes with its descriptor (fsmount(2), Linux 5.2), so that nothing on the machine changes.
 * An instance has its own buffers, events and clock; other users of tracing are not affected.
 */
#ifndef AGENT_TRACEFS_H
#define AGENT_TRACEFS_H

#include <stdint.h>

#include "base/memory/buf.h"
#include "base/text/err.h"

#define TRACEFS_INSTANCE "blkcast-" /* The process id follows. */

/* Opens the root of tracefs. Returns 0, or -errno; err says why and what to do. */
int tracefs_open(int *out_fd, struct err *err);

/* Writes a file below a folder's descriptor. Returns 0 or -errno. */
int tracefs_write(int dir_fd, const char *path, const char *text);
/*
 * Replaces the content of out by the text of a file. A 0 follows the text and is not counted in its
 * length. Returns 0 or -errno.
 */
int tracefs_read(int dir_fd, const char *path, struct buf *out);

struct tracefs_instance {
	int root_fd, fd; /* -1: not open */
	char path[48];	 /* path below the root, such as "instances/blkcast-4711" */
};

/* Removes the instances that dead agents left behind, then makes a new one. */
int tracefs_instance_new(struct tracefs_instance *out, struct err *err);
/*
 * Stops and removes the instance; every descriptor in it must be closed before. An instance that
 * was never made is ignored.
 */
void tracefs_instance_remove(struct tracefs_instance *i);

#endif
