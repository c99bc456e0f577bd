/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target: makes the shell scripts that a run needs on a target, and reads those lines of their
 * output that do not come from the load.
 *
 * A keeper session holds the target for the whole campaign. It checks that everything needed is
 * there, and makes the folder in which the load's files stay from run to run. When the session is
 * hung up, it removes the folder after the current load has ended.
 *
 * Lines of the output that begin with @ come from these scripts: @ready before the barrier, @begin
 * TIME and @cpu BUSY TOTAL before the load's output, @from TIME within it where the warm-up is
 * over, @cpu and @end TIME STATUS after it, and @memory MEAN MOST after @end.
 */
#ifndef ANALYZER_MEASURE_TARGET_H
#define ANALYZER_MEASURE_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/measure/driver.h"
#include "analyzer/measure/plan.h"
#include "base/memory/buf.h"

/*
 * Appends the path of the folder that a campaign uses on a target. It lies in the target's
 * directory.
 */
int target_folder(const struct plan *p, const struct plan_target *t, struct buf *out);
int target_keeper_script(const struct plan *p, const struct plan_target *t, const char *folder,
			 struct buf *out);
int target_run_script(const struct drive *d, const struct plan_target *t, const char *folder,
		      struct buf *out, struct err *err);
/* run is the name under which segments are kept, if the plan keeps any. */
int target_agent_script(const struct plan *p, const struct plan_target *t, const char *folder,
			const char *run, struct buf *out);

struct target_times {
	double begin_s, end_s; /* begin and end of the load: s since 1970, the target's clock */
	double from_s;	       /* when the load began to measure; begin_s where it does not say */
	double cpu_ratio;      /* busy share of the target's CPUs from begin to end; may be NaN */
	double memory_kib, memory_most_kib; /* memory in use on the target meanwhile: mean and most;
					     * may be NaN */
	int status;			    /* exit status of the load */
	const char *load;		    /* output of the load */
	size_t load_len;
	bool ended;
};

/* Splits the output of a run's session into its parts. t->load points into output. */
void target_times(const char *output, size_t len, struct target_times *t);
/*
 * Copies what the keeper printed about the folder's device: "/dev/vdb1 (ext4, scheduler none), 12
 * GiB free". The text is "" where the keeper printed nothing.
 */
void target_place(const char *output, size_t len, char *out, size_t size);
bool target_is_ready(const char *output, size_t len);

#endif
