/* SPDX-License-Identifier: Apache-2.0 */
/*
 * durable: a file that is either whole on the disk under its name, or not there.
 *
 * Write to a temporary name, fsync, rename, fsync the folder. After a failed fsync the pages are
 * marked clean though they never reached the disk: the same file is never synced again, the bytes
 * are written once more to a new one, and when that fails too the caller declares the loss.
 */
#ifndef AGENT_DURABLE_H
#define AGENT_DURABLE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* The calls that can fail, so that tests make them fail. */
struct durable_calls {
	ssize_t (*write)(int fd, const void *data, size_t len);
	int (*fsync)(int fd);
};
extern const struct durable_calls durable_libc;

/* Names that end so are leftovers of an interrupted durable_write(). */
#define DURABLE_TEMPORARY ".tmp"

/*
 * Puts len bytes under name in the folder dir_fd, in place of what was there. calls may be NULL:
 * libc's. 0 when durable, or -errno: then nothing is left of it under either name.
 */
int durable_write(int dir_fd, const char *name, const void *data, size_t len,
		  const struct durable_calls *calls);

/*
 * Makes the folder and its missing parents, mode 0700, each made durable in its parent, and opens
 * it. The descriptor, or -errno with the path in err.
 */
int durable_mkdir(const char *path, struct err *err);

#endif
