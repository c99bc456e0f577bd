/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_replay: this module measures the cases of a study by replay (causal.h) of the loads' stored
 * requests. It is used instead of mimics of profiles if requests are stored.
 */
#ifndef ANALYZER_STUDY_REPLAY_H
#define ANALYZER_STUDY_REPLAY_H

#include "analyzer/models/storage/device/device_load.h"
#include "analyzer/replay/causal.h"
#include "analyzer/whatif/study/replay_files.h"
#include "analyzer/whatif/study/study.h"

struct study_replay {
	struct causal_plan plans[STUDY_LOADS_MAX]; /* by load */
	size_t nr;
	bool quiet;    /* no progress is shown while files are written */
	bool laid_out; /* the target is a new file, and was written */
};

/*
 * Makes plans for all loads of s, each from the store or segment at paths[load], from the first
 * run.duration_s of it. r need not be initialized; release it whatever this returns. Returns 0;
 * -ENODATA if a path leads to a profile; -EINVAL if requests have no times or come from several
 * runs of the agent; and the store's errors.
 */
int study_replay_load(struct study_replay *r, const struct study *s, const char *const *paths,
		      struct err *err);
/*
 * Makes the plan of one load, as study_replay_load() does. A duration_s of 0 means all that is
 * stored. The plan must be zeroed before; release it whatever this function returns.
 */
int study_replay_plan(struct causal_plan *plan, const struct profile *p, const char *path,
		      double duration_s, struct err *err);
/*
 * Measures a case: means, p50, p95 and p99 of reads, writes and flushes, each with the 90 %
 * interval in which the application itself would be, by what recorded applications were off and
 * by how many requests there are. In a folder each load has a file of its own, which is written
 * before (replay_files.h) and removed after. A target that is a new file is written before the
 * first case. Returns the errors of causal_runs() and of the files.
 */
int study_by_replay(struct study_replay *r, const struct study *s, struct study_case *c,
		    struct err *err);
/*
 * Sets a time of a device or of a replay, if enough requests tell it. half is half the width of the
 * interval of its logarithm without chance, which is added.
 */
void study_set_device_time(struct study_answer *a, const struct device_times *times,
			   unsigned int type, unsigned int point, double half);
/*
 * Gives the response times of the plan's requests where they were recorded. They are the plan's:
 * they must not be released, and end with it.
 */
void study_replay_recorded(const struct causal_plan *plan, struct device_times *out);
/*
 * Makes what each load's times are compared with those of the requests that are replayed, which
 * may be the beginning of what is stored.
 */
void study_replay_compare(const struct study_replay *r, struct study *s);
/*
 * Finds what is written before a replay: by load, or, in a file that all of them share, into
 * parts[0] alone. Release all of them whatever this returns: 0 or -ENOMEM.
 */
int study_replay_files(const struct study_replay *r, struct replay_parts parts[STUDY_LOADS_MAX],
		       bool is_shared);
/* Returns the bytes of a load's writes: the most that a replay of the load writes. */
uint64_t study_replay_written(const struct causal_plan *plan);
void study_replay_release(struct study_replay *r);

#endif
