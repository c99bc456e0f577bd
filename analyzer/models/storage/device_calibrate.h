/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_calibrate: the parameters of a simulated device that give back what a campaign has measured.
 *
 * Each configuration of the campaign is simulated, and the logarithms of its simulated response times
 * (mean, median, p95, p99 of reads, writes and flushes) are compared with the measured ones. The
 * parameters are found by robust non-linear least squares: Levenberg and Marquardt's method (Nocedal,
 * Wright, Numerical Optimization, 2006, section 10.3) on Huber's loss, with derivatives by differences.
 * That works because a simulation repeats its random numbers (device_sim.h). The first guess comes from
 * the rows with the fewest requests under way. The search starts again for each number of servers; then
 * limits, pauses and a write-back cache are added or left out, as far as they make the fit better.
 *
 * The errors that the model tells are those of configurations that were held out: the configurations are
 * cut into folds, and each fold is predicted by a model that was fitted to the others. What the
 * device consists of is chosen once, from all rows.
 *
 * The same table and random seed give the same model, whatever the number of threads.
 */
#ifndef ANALYZER_STORAGE_DEVICE_CALIBRATE_H
#define ANALYZER_STORAGE_DEVICE_CALIBRATE_H

#include "analyzer/models/storage/device_table.h"

#define DEVICE_ROWS_LEAST 8 /* fewer do not tell the parameters */
#define DEVICE_FOLDS	  5

struct device_task {
	uint64_t seed;
	unsigned int nr_threads; /* 0: all processors */
	uint64_t nr_requests;	 /* simulated per configuration; 0: 2000 */
	/* Called now and then with the share of the work that is done; may be NULL. */
	void (*progress)(void *ctx, double ratio);
	void *ctx;
};

/* What each row of the table got where it was held out; NaN where it was not measured. */
struct device_held_out {
	double simulated_s[DEVICE_NR_TYPES][DEVICE_NR_POINTS];
};

/*
 * Fits m to the table. held_out: one per row, the caller's; may be NULL. 0, -ENOMEM, or -EINVAL where there
 * are too few rows.
 */
int device_calibrate(struct device_model *m, const struct device_table *d,
		     const struct device_task *task, struct device_held_out *held_out,
		     struct err *err);

#endif
