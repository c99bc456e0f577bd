/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_target: how the loads of a study are run on a real target, and whether that is permitted.
 *
 * Stored requests are replayed. Profiles, and requests that cannot be replayed, are run as mimics.
 * Before anything is written, the target is checked (target_guard.h), the room for everything is
 * checked, and one line says what will be written where. On another machine only mimics run, in a
 * folder (study_remote.h).
 */
#ifndef ANALYZER_WHATIF_STUDY_STUDY_TARGET_H
#define ANALYZER_WHATIF_STUDY_STUDY_TARGET_H

#include "analyzer/answer/teller.h"
#include "analyzer/whatif/study/study.h"
#include "analyzer/whatif/study/study_remote.h"
#include "analyzer/whatif/study/study_replay.h"

struct study_target {
	const struct teller *teller;
	struct study *study;
	const char *path;	  /* NULL: the loads are not run */
	const char *overwrite;	  /* the path again, where what it carries may be destroyed */
	const char *ssh_config;	  /* of ssh to another machine, or NULL */
	bool by_profile;	  /* also use mimics for stored requests */
	const char *const *paths; /* by load: the path that it was read from */
	const struct study_case *cases;
	size_t nr_cases;
	/* The members below are results: */
	bool replays, is_remote;
	uint64_t reach_bytes; /* the farthest end of a new file with holes; 0: none has holes */
	struct study_remote remote;
	struct study_replay replay;
};

/*
 * Returns 0; -EINVAL or -EFBIG with what must change before the loads can be run; or an error of
 * the files.
 */
int study_target_open(struct study_target *t, struct err *err);
/* Runs one case. Errors are those of study_by_replay() and study_by_run(). */
int study_target_run(struct study_target *t, struct study_case *c, struct err *err);
/* Removes what was made. It may be called for a zeroed object that has a study. */
void study_target_release(struct study_target *t);

#endif
