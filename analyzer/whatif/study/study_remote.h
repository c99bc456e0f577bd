/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_remote: this module measures the cases of a study on another machine, over ssh.
 *
 * The mimics of the loads run there in one new folder, in which each load has files of its own.
 * All files are made first, so that the loads then begin together. The folder is removed
 * afterwards, also where the line breaks (session.h). Nothing but fio must be installed there.
 * Bursts that need a log of every request are refused, because no log is sent.
 *
 *	struct study_remote r = { 0 };
 *	int ret = study_remote_parse(&r, "root@host:/mnt/new", NULL, &err);
 *
 *	ret = study_by_remote(&r, &study, &case, &err);
 *	study_remote_release(&r);
 */
#ifndef ANALYZER_WHATIF_STUDY_STUDY_REMOTE_H
#define ANALYZER_WHATIF_STUDY_STUDY_REMOTE_H

#include "analyzer/measure/plan.h"
#include "analyzer/whatif/study/study.h"

struct study_remote {
	struct plan_target target; /* ssh and directory are owned */
};

/* Returns whether a target is on another machine: it has a colon before its first slash. */
bool study_remote_is(const char *text);
/*
 * Takes "[USER@]HOST:/FOLDER" apart. ssh_config is a file for ssh, or NULL; borrowed. Returns 0,
 * -EINVAL or -ENOMEM. Release r whatever this returns.
 */
int study_remote_parse(struct study_remote *r, const char *text, const char *ssh_config,
		       struct err *err);
/*
 * Measures a case. Returns 0, -EINVAL for a load that cannot be mimicked, -EIO with what the other
 * machine says, -ETIMEDOUT or -EINTR.
 */
int study_by_remote(const struct study_remote *r, const struct study *s, struct study_case *c,
		    struct err *err);
void study_remote_release(struct study_remote *r);

#endif
