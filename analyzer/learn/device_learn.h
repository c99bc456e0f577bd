/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_learn: makes a simulated device from a campaign of a measurement store, and writes the
 * device to a file (models/storage/device). The caller fills the members above the results, calls
 * device_learn(), and shows and frees the answer.
 */
#ifndef ANALYZER_LEARN_DEVICE_LEARN_H
#define ANALYZER_LEARN_DEVICE_LEARN_H

#include "analyzer/answer/answer.h"
#include "analyzer/answer/progress.h"
#include "analyzer/answer/teller.h"
#include "analyzer/models/storage/device/device_calibrate.h"
#include "base/data/table.h"

struct device_learn {
	const struct teller *teller;
	const char *db, *output;       /* the measurement store, and the file that is written */
	const char *campaign, *target; /* names one if there are several, or NULL */
	bool all_points;	       /* the answer has percentiles beside the means */
	struct device_task task;       /* nr_requests, seed and nr_threads are the caller's */
	struct answer *answer;	       /* a result, which the caller frees */
	/* The members below are set by device_learn(). */
	struct progress progress;
	struct table table;
	struct device_table rows;
	struct device_held_out *held;
	struct device_model model;
};

/* Returns 0 or -errno with one line in err. Release j whatever this returns. */
int device_learn(struct device_learn *j, struct err *err);
void device_learn_release(struct device_learn *j);

#endif
