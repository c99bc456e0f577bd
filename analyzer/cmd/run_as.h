/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_as: a program that never runs as root: what root starts becomes another user for good.
 */
#ifndef ANALYZER_RUN_AS_H
#define ANALYZER_RUN_AS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct run_as {
	uid_t uid;
	gid_t gid;
	const char *name; /* borrowed; NULL: a number that no account has */
	bool by_root;	  /* false: there is nothing to give up */
};

/*
 * user: a name or a number, NULL for none. -EINVAL where root starts it without one, or names root,
 * where there is no such account, or somebody else than root names another than himself.
 */
int run_as_find(struct run_as *out, const char *user, struct err *err);

/* Makes the folder, for that user alone, unless there is one. Does nothing where not by_root. */
int run_as_folder(const struct run_as *r, const char *dir, struct err *err);

/* Groups, user and with it every capability, for good (no_new_privs), in every thread; who it is
 * already stays it, and only seals that. No thread can start a program from then on. */
int run_as_become(const struct run_as *r, struct err *err);

#endif
