/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_folder: opens and locks the folder of a spool, and finds out whether the folder is still
 * there.
 *
 * The agent often runs as root, so the folder must not be one in which somebody else can plant
 * links or files: it belongs to the agent's own user, nobody else may write to it, and the lock is
 * a plain file that is never reached through a symbolic link.
 */
#ifndef AGENT_SPOOL_FOLDER_H
#define AGENT_SPOOL_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/text/err.h"

struct spool_folder {
	int dir_fd, lock_fd; /* -1: not open */
};

/*
 * Makes the folder if it is missing, checks that it belongs to user, and takes its lock. Returns 0;
 * -EPERM: the folder or the lock belongs to somebody else; -EBUSY: another agent has the lock;
 * -errno otherwise; each with one line in err. The caller closes f in every case.
 */
int spool_folder_open(struct spool_folder *f, const char *path, uid_t user, struct err *err);
/*
 * Makes a folder again that somebody removed. It gets no lock, because the filter of system calls
 * does not allow flock(2) any more; the agent is about to end and only passes on the segments that
 * it still has.
 */
int spool_folder_again(struct spool_folder *f, const char *path, uid_t user, struct err *err);
void spool_folder_close(struct spool_folder *f);

/* Returns whether somebody removed the folder since it was opened; nothing can be stored then. */
bool spool_folder_is_removed(const struct spool_folder *f);

#endif
