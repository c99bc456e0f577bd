/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runner: measures the configurations of a plan, one after the other, all targets in step.
 *
 * Per run: setup and prepare on every target, barrier, monitors on, load (warm-up, intervals),
 * monitors off, teardown, compute, store. What fails is stored with its reason and does not end
 * the campaign.
 */
#ifndef ANALYZER_MEASURE_RUNNER_H
#define ANALYZER_MEASURE_RUNNER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyzer/measure/plan.h"
#include "analyzer/measure/results.h"

struct runner_report { /* one run */
	size_t number, nr_configurations;
	unsigned int repetition;
	const char *error; /* NULL: done */
	double seconds, overhead_s;
};

struct runner {
	const struct plan *plan;
	struct results *store;
	int64_t campaign;
	bool retry_failed;
	const volatile sig_atomic_t *stop; /* set: end as soon as may be */
	void (*report)(void *ctx, const struct runner_report *r);
	/* Said once for each target before the first run: what its directory lies on. */
	void (*place)(void *ctx, const struct plan_target *target, const char *place);
	void *ctx;
	/* results: */
	size_t nr_done, nr_failed, nr_before; /* nr_before: were in the store already */
	double seconds, overhead_most_s;
};

/*
 * 0, also where runs failed (nr_failed); -EINTR after *stop; -EHOSTUNREACH where a target is not
 * there or lacks something (also stored as an event); errors of the store.
 */
int runner_run(struct runner *r, struct err *err);

#endif
