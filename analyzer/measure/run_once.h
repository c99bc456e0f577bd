/* SPDX-License-Identifier: Apache-2.0 */
/* run_once: one configuration, one repetition, on all targets in step. */
#ifndef ANALYZER_MEASURE_RUN_ONCE_H
#define ANALYZER_MEASURE_RUN_ONCE_H

#include <signal.h>

#include "analyzer/measure/plan.h"
#include "analyzer/measure/readings.h"
#include "analyzer/measure/results.h"
#include "analyzer/measure/session.h"

/* One target in a run. A zeroed one is empty. */
struct lane {
	const struct plan_target *target;
	const char *folder; /* borrowed */
	const char *place;  /* borrowed: what the folder lies on, target_place() */
	struct session load, agent;
	struct params params;
};

struct run_once {
	const struct plan *plan;
	const volatile sig_atomic_t *stop;
	struct lane lanes[PLAN_TARGETS_MAX];
	size_t nr_lanes;
	const char *name; /* of the run, for the folder of its segments */
	double deadline_s;
	bool stopped; /* by the stop rule */
	/* results: */
	struct readings readings;
	unsigned int nr_intervals;
	struct results_artifact artifacts[5 * PLAN_TARGETS_MAX]; /* point into the sessions */
	size_t nr_artifacts;
	char traces[4096];
};

/*
 * Measures cells. target and folder of the lanes are given. 0; -EINTR after *stop; anything else is
 * a failed run with its reason in err. The caller calls run_once_release() in any case.
 */
int run_once(struct run_once *r, const double *cells, struct err *err);
void run_once_release(struct run_once *r);

double monotonic_s(void);

#endif
