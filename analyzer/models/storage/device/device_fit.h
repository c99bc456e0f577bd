/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_fit: makes one robust least-squares fit of chosen parameters of a device to chosen rows.
 * device_calibrate.h repeats this step.
 */
#ifndef ANALYZER_STORAGE_DEVICE_FIT_H
#define ANALYZER_STORAGE_DEVICE_FIT_H

#include "analyzer/models/storage/device/device_calibrate.h"

enum device_parameter {
	PARAMETER_BASE_READ,
	PARAMETER_BASE_WRITE,
	PARAMETER_BYTE_READ,
	PARAMETER_BYTE_WRITE,
	PARAMETER_SEEK_READ,
	PARAMETER_SEEK_WRITE,
	PARAMETER_LATENCY_READ,
	PARAMETER_LATENCY_WRITE,
	PARAMETER_LATENCY_BYTE_READ,
	PARAMETER_LATENCY_BYTE_WRITE,
	PARAMETER_SIGMA_READ,
	PARAMETER_SIGMA_WRITE,
	PARAMETER_WAIT_SIGMA,
	PARAMETER_WAIT_WINDOW,
	PARAMETER_FLUSH,
	PARAMETER_FLUSH_BYTE,
	PARAMETER_FLUSH_CLEAN,
	PARAMETER_FLUSH_WAIT,
	PARAMETER_DURABLE,
	PARAMETER_PAUSE_RATIO,
	PARAMETER_PAUSE,
	PARAMETER_OPS,
	PARAMETER_OPS_WRITE,
	PARAMETER_OPS_BURST,
	PARAMETER_BYTES,
	PARAMETER_BYTES_WRITE,
	PARAMETER_BYTES_BURST,
	PARAMETER_CACHE,
	PARAMETER_CACHE_BASE,
	PARAMETER_CACHE_BYTE,
	PARAMETER_DRAIN,
	DEVICE_NR_PARAMETERS,
};

struct device_fit {
	const struct device_table *table; /* borrowed, like the task */
	const struct device_task *task;
	/* one flag per row: whether the row counts; NULL means all rows */
	const bool *use;
	bool free[DEVICE_NR_PARAMETERS]; /* the parameters that the search may change */
};

double *device_parameter_at(struct device_model *m, enum device_parameter p);

/*
 * Sets a parameter by the natural logarithm of its value. A value outside the bounds of the fit
 * becomes the nearest bound, so that the model is always one that device_model_load() takes.
 */
void device_parameter_set(struct device_model *m, enum device_parameter p, double log_value);

/*
 * Simulates every row that is used or, if others is true, every row that is not used. out has one
 * item per row. Returns 0 or -ENOMEM.
 */
int device_fit_simulate(const struct device_fit *f, const struct device_model *m, bool others,
			struct device_held_out *out);
/*
 * Improves m by at most nr_steps steps, each of which lowers the loss. *loss becomes the loss of
 * the result. Returns 0 or -ENOMEM.
 */
int device_fit_run(const struct device_fit *f, struct device_model *m, unsigned int nr_steps,
		   double *loss);

/* Assigns whole configurations to folds, by their numbers in the order of the table. */
void device_fit_folds(const struct device_table *d, size_t *fold);
/*
 * Computes the model's errors from what each row was predicted while it was held out. scratch has
 * one item per row.
 */
void device_fit_errors(struct device_model *m, const struct device_table *d,
		       const struct device_held_out *held, double *scratch);

#endif
