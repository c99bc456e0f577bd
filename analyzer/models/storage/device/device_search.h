/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_search: the steps of a search for the device that fits a table. device_calibrate.c chooses
 * servers and limits with them, and device_parts.c the parts that a device may have beside.
 *
 * The numbers of this search choose where it starts, how long it goes on and when it prefers a
 * simpler model. docs/studies compares them with no other values; the errors of held-out
 * configurations say how good the result is.
 */
#ifndef ANALYZER_STORAGE_DEVICE_SEARCH_H
#define ANALYZER_STORAGE_DEVICE_SEARCH_H

#include "analyzer/models/storage/device/device_fit.h"
#include "analyzer/models/storage/device/device_guess.h"

#define DEVICE_STEPS_START 5  /* steps for each number of servers */
#define DEVICE_STEPS_PART  8  /* steps to find out how much a part improves the fit */
#define DEVICE_STEPS_FINAL 20 /* steps at the end; device_fit_run() stops earlier without a gain */
/* A part stays in the model if it lowers the loss by this ratio. */
#define DEVICE_WORTH_RATIO 0.05
/* tokens in requests of mean size: the largest burst that is tried */
#define DEVICE_BURST_MOST 1024

struct device_search {
	struct device_fit fit;
	const struct device_table *table;
	const struct device_task *task;
	struct device_guess guess; /* the first guess from the rows */
	bool service_only;	   /* fits change service times and latencies alone */
	/* Numbers of fits, for the progress: done, expected in all, sure to follow the search. */
	double done, all, last;
};

/* Each of the following functions returns 0 or -ENOMEM. */

/* Fits m by at most so many steps, with all parameters that the rows can determine. */
int device_search_fit(struct device_search *s, struct device_model *m, unsigned int steps,
		      double *loss);
/*
 * Fits a copy of from, and keeps it as *best with its *loss if it lowers that loss by the share
 * worth.
 */
int device_search_try(struct device_search *s, const struct device_model *from, unsigned int steps,
		      struct device_model *best, double *loss, double worth);
/* Keeps a model if its loss is smaller, without a fit. */
int device_search_look(struct device_search *s, const struct device_model *m,
		       struct device_model *best, double *loss);
/*
 * Chooses by a grid how much service times and waits vary. These parameters act on each other and
 * have several local optima, in which a search by derivatives stops.
 */
int device_search_spread(struct device_search *s, struct device_model *m, double *loss);
/* Completes a device that has its servers and limits: adds the parts that improve the fit. */
int device_search_finish(struct device_search *s, struct device_model *m, double *loss);

#endif
