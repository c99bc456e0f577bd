/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_answer: what a simulated device is, how well it was calibrated, and what it answers, as
 * values that every renderer shows (answer.h). The caller owns each answer that is returned.
 */
#ifndef ANALYZER_DEVICE_ANSWER_H
#define ANALYZER_DEVICE_ANSWER_H

#include "analyzer/answer/answer.h"
#include "analyzer/models/storage/device/device_calibrate.h"
#include "analyzer/models/storage/device/device_load.h"

/* Returns the parameters of a device and, if it was calibrated, what its campaign covered. */
struct answer *device_model_answer(const struct device_model *m);
/*
 * Adds a table of every configuration with its prediction when it was held out; held_out has one
 * item per row. Without all_points the table has the means alone.
 */
void device_answer_held_out(struct answer *a, const struct device_table *rows,
			    const struct device_held_out *held_out, bool all_points);
/*
 * Returns the response times of one synthetic load, and which part of the device limits the load.
 */
struct answer *device_times_answer(const struct device_times *times);

#endif
