/* SPDX-License-Identifier: Apache-2.0 */
/*
 * long_run: a run that turned out to be long goes on as independent runs on all processors.
 *
 * One run of a net cannot use more than one processor. Where a rare colour needs a billion events,
 * the run so far becomes the first of several: the others have its model time, a random seed and a
 * warm-up of their own. Each is cut into 8 samples, and all samples together make the estimate, as
 * batches and replications do alone. Whether a run is long is decided by numbers of events, never
 * by time, so that the seed alone determines the result, for any number of threads and processes.
 */
#ifndef ANALYZER_LONG_RUN_H
#define ANALYZER_LONG_RUN_H

#include "analyzer/models/solve/batch_run.h"
#include "analyzer/models/solve/solve.h"

/*
 * Returns whether the run `lead` should go on as several: it has had o->long_events, and needs more
 * than three times as many as it has had (`needed` in all; infinite where that is not known).
 */
bool long_run_is(const struct batch_run *lead, double needed, const struct solve_options *o);

/*
 * Returns how many times as fast the rest of a run will go, because it will go on as several. A
 * run that is not long so far may become so.
 */
unsigned long_run_times_as_fast(const struct batch_run *lead, double needed,
				const struct solve_options *o);

/*
 * Runs until the precision is reached, or o->max_events in all have happened. *out has the estimate
 * of the lead alone, and gets that of all runs, with quantiles. Returns 0, an error of
 * qpn_sim_run(), or -ENOMEM.
 */
int long_run_go_on(struct solution *out, const struct batch_run *lead,
		   const struct solve_options *o, struct err *err);

#endif
