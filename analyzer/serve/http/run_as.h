/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_as: keeps a program from running as root. A process that root starts becomes another user and
 * cannot become root again.
 */
#ifndef ANALYZER_RUN_AS_H
#define ANALYZER_RUN_AS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/text/err.h"

struct run_as {
	uid_t uid;
	gid_t gid;
	const char *name; /* borrowed; NULL: the number has no account */
	bool by_root;	  /* false: the process has no root rights to give up */
};

/*
 * user is a name or a number, or NULL for none. Returns 0; -EUSERS if root names no user; or
 * -EINVAL if root names root, if there is no such account, or if a user other than root names
 * another account.
 */
int run_as_find(struct run_as *out, const char *user, struct err *err);

/* Makes the folder for this user alone, unless it exists. Does nothing where by_root is false. */
int run_as_folder(const struct run_as *r, const char *dir, struct err *err);

/*
 * Changes groups and user, and so gives up every capability, for good (no_new_privs) and in every
 * thread. A process that already has this user keeps it and is only restricted. Afterwards no
 * thread can start a program.
 */
int run_as_become(const struct run_as *r, struct err *err);

#endif
