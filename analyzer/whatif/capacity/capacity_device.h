/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity_device: this module asks a simulated device, or models of response times, for the
 * throughputs that a capacity (capacity.h) is made of: reads alone and writes alone, at random
 * offsets, at the smallest and the largest size that was measured and at sizes four times apart in
 * between. As many requests are under way as were measured at most or, with objectives, as many as
 * keep those of the direction: the time is taken to grow with the requests under way. The standard
 * error of a throughput is that of the device's held-out mean times, or of the models' intervals.
 *
 *	struct capacity c = { 0 };
 *	struct capacity_limits limits = { .objectives = objectives, .nr = nr };
 *	int ret = capacity_of_device(&c, &model, &limits, &err);
 *
 *	if (!ret)
 *		ret = capacity_finish(&c, &err);
 */
#ifndef ANALYZER_WHATIF_CAPACITY_CAPACITY_DEVICE_H
#define ANALYZER_WHATIF_CAPACITY_CAPACITY_DEVICE_H

#include "analyzer/models/storage/device/device_model.h"
#include "analyzer/whatif/capacity/capacity.h"
#include "analyzer/whatif/headroom/headroom.h"

struct capacity_limits {
	const struct headroom_objective *objectives; /* borrowed */
	size_t nr;
	/*
	 * These are the smallest and the largest request that the caller asks for; 0 means all that
	 * were measured. An objective need not hold at other sizes.
	 */
	double low_bytes, high_bytes;
	/*
	 * If no size is asked for, this is the first size that is left out, because a single
	 * request of this size breaks an objective while smaller ones keep all. 0 means that no
	 * size is left out.
	 */
	uint64_t left_out_bytes;
	/*
	 * If broken is set, already a single request breaks an objective. The other two members are
	 * this objective and the size of the request.
	 */
	bool broken;
	size_t broken_objective;
	uint64_t broken_bytes;
};

/*
 * Returns 0, 1 with limits->broken, -ENOMEM, or -EINVAL if the campaign measured no reads, no
 * writes or no common size.
 */
int capacity_of_device(struct capacity *c, const struct device_model *m,
		       struct capacity_limits *limits, struct err *err);
/*
 * Does what capacity_of_device() does, with a predictor, whose models must know the size and the
 * requests under way, or with the predictor's net. Returns the errors of predictor_ask() as well.
 */
int capacity_of_models(struct capacity *c, struct predictor *p, struct capacity_limits *limits,
		       struct err *err);

#endif
