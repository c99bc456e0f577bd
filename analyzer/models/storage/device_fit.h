/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_fit: one robust least-squares fit of chosen parameters of a device to chosen rows; the step that
 * device_calibrate.h repeats.
 */
#ifndef ANALYZER_STORAGE_DEVICE_FIT_H
#define ANALYZER_STORAGE_DEVICE_FIT_H

#include "analyzer/models/storage/device_calibrate.h"

enum device_parameter {
	PARAMETER_BASE_READ,
	PARAMETER_BASE_WRITE,
	PARAMETER_BYTE_READ,
	PARAMETER_BYTE_WRITE,
	PARAMETER_SEEK_READ,
	PARAMETER_SEEK_WRITE,
	PARAMETER_LATENCY_READ,
	PARAMETER_LATENCY_WRITE,
	PARAMETER_SIGMA_READ,
	PARAMETER_SIGMA_WRITE,
	PARAMETER_WAIT_SIGMA,
	PARAMETER_FLUSH,
	PARAMETER_DURABLE,
	PARAMETER_PAUSE_RATIO,
	PARAMETER_PAUSE,
	PARAMETER_OPS,
	PARAMETER_OPS_WRITE,
	PARAMETER_BYTES,
	PARAMETER_BYTES_WRITE,
	PARAMETER_CACHE,
	PARAMETER_CACHE_BASE,
	PARAMETER_CACHE_BYTE,
	PARAMETER_DRAIN,
	DEVICE_NR_PARAMETERS,
};

struct device_fit {
	const struct device_table *table; /* borrowed, as the task */
	const struct device_task *task;
	const bool *use;		 /* by row: whether it counts; NULL: all */
	bool free[DEVICE_NR_PARAMETERS]; /* which parameters are searched */
};

double *device_parameter_at(struct device_model *m, enum device_parameter p);

/*
 * Simulates every row that is used, or (others set) every row that is not, into out: one per row. 0 or
 * -ENOMEM.
 */
int device_fit_simulate(const struct device_fit *f, const struct device_model *m, bool others,
			struct device_held_out *out);
/* The loss of a model: smaller is better. NaN is never returned. 0 or -ENOMEM. */
int device_fit_loss(const struct device_fit *f, const struct device_model *m, double *loss);
/*
 * Changes m by up to nr_steps steps, each of which makes the loss smaller; *loss is that of the result.
 * 0 or -ENOMEM.
 */
int device_fit_run(const struct device_fit *f, struct device_model *m, unsigned int nr_steps,
		   double *loss);

#endif
