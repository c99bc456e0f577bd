/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_run: this module sends a plan (causal.h) to a device or file, past the page cache.
 *
 * Every lane has a thread of its own that submits asynchronously, so that the number of clients is
 * the recorded one. The kernel threads together are one more client. Writes hold random bytes, and
 * overwrite the target.
 */
#ifndef ANALYZER_CAUSAL_RUN_H
#define ANALYZER_CAUSAL_RUN_H

#include <signal.h>

#include "analyzer/models/storage/device/device_load.h"
#include "analyzer/replay/causal.h"

#define CAUSAL_LANES_MAX 512

struct causal_result {
	struct device_times times; /* times of completed reads, writes and flushes */
	/* requests of the plan that were not sent because the duration was over */
	uint64_t nr_not_sent;
	uint64_t begin_real_ns; /* by CLOCK_REALTIME; nothing was sent before this time */
	double elapsed_s;
	double wake_s; /* how late this machine wakes a sleeping thread; subtracted from the gaps */
};

struct causal_run {
	const struct causal_plan *plan; /* borrowed */
	const char *target;
	double duration_s; /* nothing is sent after this time; 0: the whole plan is sent */
	/*
	 * When *stop is set, nothing more is sent, and the run ends with -EINTR. NULL means that
	 * the run cannot be stopped.
	 */
	const volatile sig_atomic_t *stop;
};

/*
 * Runs all plans side by side, and returns when all sent requests have completed. Release each item
 * of out whatever this function returns; they need not be initialized. Returns 0,
 * -ENOMEM, -EINVAL (more lanes than CAUSAL_LANES_MAX), -EAGAIN (fs.aio-max-nr leaves no room),
 * -EINTR after *stop, or the error of the target with one line that names the request; -EIO also if
 * a request transferred fewer bytes, as beyond the end of a file.
 */
int causal_runs(const struct causal_run *runs, size_t nr, struct causal_result *out,
		struct err *err);
/* Returns the number of requests that completed. */
uint64_t causal_result_nr(const struct causal_result *r);
void causal_result_release(struct causal_result *r);

#endif
