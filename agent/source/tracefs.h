/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracefs: the kernel's tracing files, and instances of our own in them.
 *
 * Where tracefs is mounted nowhere, it is mounted for this process alone: a mount that stands in no
 * folder and goes with its descriptor (fsmount(2), Linux 5.2), so that nothing on the machine
 * changes. An instance has its own buffers, events and clock; whatever else traces is not touched.
 */
#ifndef AGENT_TRACEFS_H
#define AGENT_TRACEFS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define TRACEFS_INSTANCE "blkcast-" /* and the process id */

/* The root of tracefs. 0, or -errno with why and what to do in err. */
int tracefs_open(int *out_fd, struct err *err);

/* Writes a file below a folder's descriptor. 0 or -errno. */
int tracefs_write(int dir_fd, const char *path, const char *text);
/* Replaces what is in out by a file's text, ended by a 0 that does not count. 0 or -errno. */
int tracefs_read(int dir_fd, const char *path, struct buf *out);

struct tracefs_instance {
	int root_fd, fd; /* -1 */
	char path[48];	 /* below the root: "instances/blkcast-4711" */
};

/* Removes the instances of ours whose process is gone; then makes one. */
int tracefs_instance_new(struct tracefs_instance *out, struct err *err);
/* Stops and removes it; every descriptor in it must be closed. Legal on one that was not made. */
void tracefs_instance_remove(struct tracefs_instance *i);

#endif
