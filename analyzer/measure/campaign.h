/* SPDX-License-Identifier: Apache-2.0 */
/*
 * campaign: measures a plan into a measurement store, tells beforehand what that would be, and
 * takes the runs of a store out as a table.
 *
 *	struct campaign c = { .teller = teller, .db = "results.sqlite" };
 *
 *	ret = plan_read(&c.plan, path, overrides, nr, &err);
 *	if (!ret)
 *		ret = campaign_run(&c, &err);
 *	... c.runner has the counts ...
 *	campaign_release(&c);
 */
#ifndef ANALYZER_MEASURE_CAMPAIGN_H
#define ANALYZER_MEASURE_CAMPAIGN_H

#include <stdio.h>

#include "analyzer/answer/progress.h"
#include "analyzer/answer/teller.h"
#include "analyzer/measure/plan.h"
#include "analyzer/measure/results.h"
#include "analyzer/measure/runner.h"

struct campaign {
	const struct teller *teller;
	const char *db; /* the measurement store */
	bool resume;	/* goes on with a campaign that was begun */
	bool retry_failed;
	struct plan plan; /* owned once it is read */
	/* The members below are set while it runs. */
	struct runner runner; /* with the counts of its runs */
	struct progress progress;
	uint64_t nr_runs, nr_reported;
};

/*
 * Prints the configurations of the plan, how many runs they are, and about how long these take; as
 * JSON only the numbers. Measures nothing. Returns 0 or -errno.
 */
int campaign_outline(const struct plan *p, bool json, FILE *out, struct err *err);
/*
 * Measures, until all runs are done or stop_catch() tells it to end. Returns 0, also where runs
 * failed; -EINTR where it was stopped; or an error of the store or of runner_run().
 */
int campaign_run(struct campaign *c, struct err *err);
/* Prints the counts of a campaign that has run. Returns 0 or -EIO. */
int campaign_print(const struct campaign *c, bool json, FILE *out);
void campaign_release(struct campaign *c);

/*
 * Writes the done runs of a campaign as CSV to a file, or to standard output where output is "-".
 * name NULL: the only campaign; response NULL: all metrics. Returns 0 or -errno.
 */
int campaign_export(const char *db, const char *name, const char *response, const char *output,
		    struct err *err);

#endif
