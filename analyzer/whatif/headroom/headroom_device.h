/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headroom_device: this module computes by how much stored loads can grow on a simulated device
 * before an objective is broken.
 *
 * The requests of all loads are multiplied by a factor (stored_scale.h) and simulated together on
 * the device (study_simulate.h). The factor is doubled, or halved if the objective is broken today,
 * until the answer changes, and the interval between is bisected. Of several loads the slowest one
 * decides. At a factor of 1 the times are those of study migrate, or of study consolidate for
 * several loads.
 *
 * A simulation is random, so that more load may by chance seem to be faster. Therefore no time
 * with more load counts as shorter than with less. The search does not go beyond what the campaign
 * of the device measured; if the objective still holds there, the answer is "at least".
 *
 *	struct headroom_device d = { .target = &model, .study = &study, .replay = &plans };
 *	int ret = headroom_find_device(&found, &d, &objective, &err);
 *
 *	headroom_device_rates(&result, &d);
 *	headroom_device_release(&d);
 *
 * The simulations are kept for the next objective. An objective needs HEADROOM_DEVICE_RUNS at most,
 * each of at most HEADROOM_DEVICE_REQUESTS requests, or of those stored where there are more. All
 * objectives together have HEADROOM_POINTS simulations at most, which are the points of the curve.
 */
#ifndef ANALYZER_WHATIF_HEADROOM_HEADROOM_DEVICE_H
#define ANALYZER_WHATIF_HEADROOM_HEADROOM_DEVICE_H

#include "analyzer/whatif/headroom/headroom_answer.h"
#include "analyzer/whatif/simulate/study_simulate.h"

#define HEADROOM_DEVICE_RUNS	 HEADROOM_NET_POINTS
#define HEADROOM_DEVICE_FACTOR	 64.0
#define HEADROOM_DEVICE_REQUESTS 4000000.0

/* This struct is one simulation, with the times of the slowest load. */
struct headroom_device_run {
	double factor; /* simulated requests over stored requests */
	struct headroom_point times[2][STUDY_POINTS];
	double rate_per_s; /* of all loads */
	char why[HEADROOM_WHY_BYTES];
};

struct headroom_device {
	const struct device_model *target; /* borrowed */
	const struct study *study;	   /* borrowed: the loads */
	const struct study_replay *replay; /* borrowed: the plans of all loads */
	uint64_t seed;
	double most_requests; /* of one simulation; 0: HEADROOM_DEVICE_REQUESTS */
	/* These are the simulations so far, ascending by factor; owned. */
	struct headroom_device_run *runs;
	size_t nr_runs, cap_runs;
};

/*
 * Returns 0, -ENOMEM, or -EINVAL if no load has such a time. Release d whatever this returns.
 */
int headroom_find_device(struct headroom *h, struct headroom_device *d,
			 const struct headroom_objective *o, struct err *err);
/* Fills the three rates of a result that headroom_find_device() found. */
void headroom_device_rates(struct headroom_result *r, const struct headroom_device *d);
void headroom_device_release(struct headroom_device *d);

#endif
