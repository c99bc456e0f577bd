/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_target: --run of blkcast study: how the loads are run on a real target, and whether that may be.
 *
 * Stored requests are replayed; profiles, and requests that cannot be replayed, are run as mimics. Before
 * anything is written, the target is judged (target_guard.h), the room for all of it is checked, and one
 * line says what will be written where.
 */
#ifndef ANALYZER_CMD_STUDY_TARGET_H
#define ANALYZER_CMD_STUDY_TARGET_H

#include "analyzer/cmd/cli.h"
#include "analyzer/whatif/study.h"
#include "analyzer/whatif/study_replay.h"

struct study_target {
	const struct cli *cli;
	struct study *study;
	const char *path;	  /* --run; NULL: the loads are not run */
	const char *overwrite;	  /* --overwrite, or NULL */
	bool by_profile;	  /* mimics of stored requests, too */
	const char *const *paths; /* by load: where it was read */
	const struct study_case *cases;
	size_t nr_cases;
	/* results: */
	bool replays;
	struct study_replay replay;
};

/* 0; -EINVAL and -EFBIG with what must change before the loads can be run; errors of the files. */
int study_target_open(struct study_target *t, struct err *err);
/* Runs one case. Errors as study_by_replay() and study_by_run(). */
int study_target_run(struct study_target *t, struct study_case *c, struct err *err);
/* Removes what was made. Legal on a zeroed one that has a study. */
void study_target_release(struct study_target *t);

#endif
