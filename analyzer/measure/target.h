/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target: the shell that a run needs on a target, and what its output says besides the load's.
 *
 * A keeper session holds the target for the whole campaign: it looks whether everything needed is
 * there, makes the folder in which the load's files live from run to run, and removes it when it
 * is hung up on, after the load of that moment has ended.
 *
 * Lines of the run's output that begin with @ are ours: @ready before the barrier, @begin TIME and
 * @cpu BUSY TOTAL before the load's output, @cpu and @end TIME STATUS behind it;
 * @from TIME within, where the warm-up is over; @memory MEAN MOST after @end.
 */
#ifndef ANALYZER_MEASURE_TARGET_H
#define ANALYZER_MEASURE_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/measure/driver.h"
#include "analyzer/measure/plan.h"
#include "base/buf.h"

/* The folder of a campaign's target: one of its own within the target's directory. */
int target_folder(const struct plan *p, const struct plan_target *t, struct buf *out);
int target_keeper_script(const struct plan *p, const struct plan_target *t, const char *folder,
			 struct buf *out);
int target_run_script(const struct drive *d, const struct plan_target *t, const char *folder,
		      struct buf *out, struct err *err);
/* run: a name for the kept segments, if the plan keeps any. */
int target_agent_script(const struct plan *p, const struct plan_target *t, const char *folder,
			const char *run, struct buf *out);

struct target_times {
	double begin_s, end_s; /* of the load by the target's clock, since 1970 */
	double from_s;	       /* when it began to measure, where it says so; else begin_s */
	double cpu_ratio;      /* busy share of its CPUs meanwhile; NaN */
	double memory_kib, memory_most_kib; /* in use there meanwhile: mean and most; NaN */
	int status;			    /* of the load */
	const char *load;		    /* what the load printed */
	size_t load_len;
	bool ended;
};

/* Takes the output of a run session apart; load points into it. */
void target_times(const char *output, size_t len, struct target_times *t);
/*
 * What the folder of a target lies on, as the keeper printed it: "/dev/vdb1 (ext4, scheduler none), 12 GiB
 * free". "" where it did not.
 */
void target_place(const char *output, size_t len, char *out, size_t size);
bool target_is_ready(const char *output, size_t len);

#endif
