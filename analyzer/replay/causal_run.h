/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_run: a plan (causal.h) sent to a device or file, past the page cache.
 *
 * Every lane is a thread of its own, which submits asynchronously, so that clients are as many as
 * they were; the kernel's threads are one more. Writes hold random bytes, and overwrite the target.
 */
#ifndef ANALYZER_CAUSAL_RUN_H
#define ANALYZER_CAUSAL_RUN_H

#include <signal.h>

#include "analyzer/replay/causal.h"

#define CAUSAL_LANES_MAX 512

struct causal_result {
	uint64_t nr[2]; /* reads and writes completed */
	uint64_t nr_flushes;
	uint64_t nr_not_sent;	/* of the plan: the duration was over */
	double mean_s[2];	/* response times, NaN none */
	uint64_t begin_real_ns; /* by CLOCK_REALTIME; nothing was sent before it */
	double elapsed_s;
	double wake_s; /* how late this machine wakes who sleeps; taken off the gaps */
};

struct causal_run {
	const struct causal_plan *plan; /* borrowed */
	const char *target;
	double duration_s; /* nothing is sent after it; 0: all of the plan */
	/* Set: nothing more is sent, and the run ends with -EINTR. NULL: there is no such wish. */
	const volatile sig_atomic_t *stop;
};

/*
 * All of them side by side. Returns when what was sent has completed. 0, -ENOMEM, -EINVAL (more lanes
 * than CAUSAL_LANES_MAX), -EAGAIN (fs.aio-max-nr leaves no room), -EINTR after *stop, or what the target answered, with
 * one line that names the request; -EIO also where one came back short, as beyond a file's end.
 */
int causal_runs(const struct causal_run *runs, size_t nr, struct causal_result *out,
		struct err *err);

#endif
