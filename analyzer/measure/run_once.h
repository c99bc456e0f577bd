/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_once: measures one configuration once, on all targets at the same time. The loads start
 * together when every target is ready.
 */
#ifndef ANALYZER_MEASURE_RUN_ONCE_H
#define ANALYZER_MEASURE_RUN_ONCE_H

#include <signal.h>

#include "analyzer/measure/plan.h"
#include "analyzer/measure/readings.h"
#include "analyzer/measure/results.h"
#include "analyzer/measure/session.h"

/* One target in a run. A zeroed struct has no sessions. */
struct lane {
	const struct plan_target *target;
	const char *folder; /* borrowed */
	const char *place;  /* borrowed: device and file system of the folder, target_place() */
	struct session load, agent;
	struct params params;
};

struct run_once {
	const struct plan *plan;
	const volatile sig_atomic_t *stop;
	struct lane lanes[PLAN_TARGETS_MAX];
	size_t nr_lanes;
	const char *name; /* name of the run; its segments are kept in a folder of that name */
	double deadline_s;
	bool stopped; /* The stop rule has ended the run. */
	/* results: */
	struct readings readings;
	unsigned int nr_intervals;
	struct results_artifact artifacts[5 * PLAN_TARGETS_MAX]; /* Their contents belong to the
								  * sessions. */
	size_t nr_artifacts;
	char traces[4096];
};

/*
 * Measures the configuration in cells. The caller has set target and folder of the lanes. Returns
 * 0; -EINTR after *stop; any other error means a failed run, with its reason in err. The caller
 * calls run_once_release() in every case.
 */
int run_once(struct run_once *r, const double *cells, struct err *err);
void run_once_release(struct run_once *r);

#endif
