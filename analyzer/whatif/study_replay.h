/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_replay: the cases of a study by replay (causal.h) of the loads' stored requests, where there
 * are any, rather than by mimics of their profiles.
 */
#ifndef ANALYZER_STUDY_REPLAY_H
#define ANALYZER_STUDY_REPLAY_H

#include "analyzer/replay/causal.h"
#include "analyzer/whatif/study.h"

struct study_replay {
	struct causal_plan plans[STUDY_LOADS_MAX]; /* by load */
	size_t nr;
	bool laid_out; /* the new file that is the target was written in full */
};

/*
 * Plans of all loads of s, each from the store or segment at paths[load], the first run.duration_s of
 * it. r need not be initialized; release it whatever this returns. 0; -ENODATA: a path is of a profile;
 * -EINVAL: requests have no times or are of several runs of the agent; and the store's errors.
 */
int study_replay_load(struct study_replay *r, const struct study *s, const char *const *paths,
		      struct err *err);
/*
 * Measures a case. In a folder each load has a file of its own, written in full before and removed
 * after; a target that is a new file is written in full before the first case. Errors as causal_runs(), and of the files.
 */
int study_by_replay(struct study_replay *r, const struct study *s, struct study_case *c,
		    struct err *err);
/* The bytes of a load's writes: what a replay of it writes at most. */
uint64_t study_replay_written(const struct causal_plan *plan);
void study_replay_release(struct study_replay *r);

#endif
