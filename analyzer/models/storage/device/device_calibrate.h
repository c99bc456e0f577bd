/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_calibrate: finds the parameters of a simulated device that reproduce what a campaign has
 * measured.
 *
 * Each configuration of the campaign is simulated. The logarithms of the simulated response times
 * (mean, median, p95 and p99 of reads, writes and flushes) are compared with the logarithms of the
 * measured ones. The parameters are found by robust non-linear least squares: the method of
 * Levenberg and Marquardt (Nocedal and Wright, Numerical Optimization, 2006, section 10.3)
 * minimizes a robust loss, with derivatives by finite differences. Finite differences are possible
 * because every simulation draws the same random numbers (device_sim.h). The first guess comes
 * from the rows that have the fewest requests under way. The search starts again for each number
 * of servers. After that, limits, pauses and a write-back cache are added or left out, depending
 * on how much each improves the fit.
 *
 * The errors that the model reports are those of configurations that were held out: the
 * configurations are divided into folds, and each fold is predicted by a model that was fitted to
 * the other folds. The choice of the device's parts is made only once, from all rows.
 *
 * The same table and random seed give the same model, whatever the number of threads.
 */
#ifndef ANALYZER_STORAGE_DEVICE_CALIBRATE_H
#define ANALYZER_STORAGE_DEVICE_CALIBRATE_H

#include "analyzer/models/storage/device/device_table.h"

#define DEVICE_ROWS_LEAST 8 /* fewer rows cannot determine the parameters */
#define DEVICE_FOLDS	  5

struct device_task {
	uint64_t seed;
	unsigned int nr_threads; /* 0 means all processors */
	uint64_t nr_requests;	 /* requests simulated per configuration; 0 means 2000 */
	/* Called from time to time with the share of the work that is done. May be NULL. */
	void (*progress)(void *ctx, double ratio);
	void *ctx;
};

/*
 * The predictions of each row of the table, made while the row was held out. NaN where nothing was
 * measured.
 */
struct device_held_out {
	double simulated_s[DEVICE_NR_TYPES][DEVICE_NR_POINTS];
};

/*
 * Fits m to the table. held_out has one item per row and belongs to the caller; it may be NULL.
 * Returns 0, -ENOMEM, or -EINVAL if the table has too few rows.
 */
int device_calibrate(struct device_model *m, const struct device_table *d,
		     const struct device_task *task, struct device_held_out *held_out,
		     struct err *err);

#endif
