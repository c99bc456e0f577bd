/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runner: measures the configurations of a plan one after the other, on all targets at the same
 * time.
 *
 * Each run has these steps: setup and preparation on every target, a barrier, start of the
 * monitors, load (warm-up and intervals), end of the monitors, teardown, computation of the
 * metrics, storing. A run that fails is stored with its reason, and the campaign goes on.
 *
 * The measurement store is made, and the campaign begun in it, when every target has accepted the
 * plan. A plan that a target refuses leaves nothing behind.
 */
#ifndef ANALYZER_MEASURE_RUNNER_H
#define ANALYZER_MEASURE_RUNNER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyzer/measure/plan.h"
#include "analyzer/measure/results.h"

struct runner_report { /* The report of one run. */
	size_t number, nr_configurations;
	unsigned int repetition;
	const char *error; /* NULL: the run is done */
	double seconds, overhead_s;
};

struct runner {
	const struct plan *plan;
	const char *db;	   /* the measurement store, which is made where it is missing */
	bool resume;	   /* go on with a campaign that was begun */
	bool retry_failed; /* with resume: measure failed runs once more */
	const volatile sig_atomic_t
		*stop; /* When it is set, the campaign ends as soon as possible. */
	void (*report)(void *ctx, const struct runner_report *r);
	/*
	 * The runner calls this function once for each target before the first run. `place`
	 * describes the device and file system of the target's directory.
	 */
	void (*place)(void *ctx, const struct plan_target *target, const char *place);
	/* Called once, when all targets have accepted the plan and the campaign begins. */
	void (*begin)(void *ctx);
	void *ctx;
	/* results: */
	size_t nr_done, nr_failed, nr_before; /* nr_before: runs that the store had already */
	double seconds, overhead_most_s;
};

/*
 * Returns 0, also where runs failed (nr_failed); -EINTR after *stop; -EHOSTUNREACH where a target
 * does not answer or lacks something, which is also stored as an event; or an error of the store.
 */
int runner_run(struct runner *r, struct err *err);

#endif
