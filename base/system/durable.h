/* SPDX-License-Identifier: Apache-2.0 */
/*
 * durable: stores a file so that it is either whole on the disk under its name, or not there.
 *
 * The file is written under a temporary name and synced, then renamed, and the folder is synced.
 * After a failed fsync(2) the kernel marks the pages as clean although they never reached the disk.
 * So a file is never synced a second time: the bytes are written once more to a new file, and where
 * this fails too the caller must declare the loss.
 */
#ifndef BASE_SYSTEM_DURABLE_H
#define BASE_SYSTEM_DURABLE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/text/err.h"

/* The system calls that can fail, so that tests can make them fail. */
struct durable_calls {
	ssize_t (*write)(int fd, const void *data, size_t len);
	int (*fsync)(int fd);
};
extern const struct durable_calls durable_libc;

/* A name with this ending is a leftover of an interrupted durable_write(). */
#define DURABLE_TEMPORARY ".tmp"

/*
 * Stores len bytes under name in the folder dir_fd, replacing an earlier file. calls may be NULL,
 * for libc's functions. Returns 0 when the file is durable, or -errno; then nothing is left under
 * either name.
 */
int durable_write(int dir_fd, const char *name, const void *data, size_t len,
		  const struct durable_calls *calls);

/* Syncs the folder of path, so that the name of a new file is durable. Returns 0 or -errno. */
int durable_sync_parent(const char *path);

/*
 * Makes the folder and its missing parents with mode 0700, makes each of them durable in its
 * parent, and opens the folder. Returns the descriptor, or -errno with the path in err.
 */
int durable_mkdir(const char *path, struct err *err);

#endif
