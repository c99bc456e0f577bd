/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity_device: this module asks a simulated device for the throughputs that a capacity
 * (capacity.h) is made of: reads alone and writes alone, at random offsets, with as many requests
 * under way as the device's campaign measured, at the smallest and the largest size that it
 * measured and at sizes four times apart in between. The standard error of a throughput is that of
 * the device's held-out mean times.
 *
 *	struct capacity c = { 0 };
 *	int ret = capacity_of_device(&c, &model, &err);
 *
 *	if (!ret)
 *		ret = capacity_finish(&c, &err);
 */
#ifndef ANALYZER_WHATIF_CAPACITY_DEVICE_H
#define ANALYZER_WHATIF_CAPACITY_DEVICE_H

#include "analyzer/models/storage/device_model.h"
#include "analyzer/whatif/capacity.h"

/* Returns 0, -ENOMEM, or -EINVAL if the campaign measured no reads, no writes or no common size. */
int capacity_of_device(struct capacity *c, const struct device_model *m, struct err *err);

#endif
