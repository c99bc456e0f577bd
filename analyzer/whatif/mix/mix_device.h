/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mix_device: this module answers for a mix of stored loads (mix_fit.h) on a simulated device.
 *
 * The requests of each load are multiplied by its count (stored_scale.h), and all of them are
 * simulated together (study_simulate.h). Each mix is simulated once, and its answers are kept. A
 * load never gets faster, nor any copy of it more done, where copies of any load are added.
 *
 *	struct mix_device d = { .target = &model, .study = &study, .replay = &plans, .seed = 1 };
 *	struct mix_fit m = { .device = &d, ... };
 *	int ret = mix_largest(&m, ...);
 *
 *	mix_device_release(&d);
 */
#ifndef ANALYZER_WHATIF_MIX_MIX_DEVICE_H
#define ANALYZER_WHATIF_MIX_MIX_DEVICE_H

#include "analyzer/whatif/simulate/study_simulate.h"

/* A mix with more requests is not simulated, unless each load is in it once at most. */
#define MIX_DEVICE_REQUESTS 4000000.0

struct mix_device_run {
	size_t counts[STUDY_LOADS_MAX];
	struct study_case answers; /* by load with a count above 0 */
};

struct mix_device {
	const struct device_model *target; /* borrowed */
	const struct study *study;	   /* borrowed: the loads */
	const struct study_replay *replay; /* borrowed: the plans of all loads */
	uint64_t seed;
	double most_requests; /* of one mix; 0: MIX_DEVICE_REQUESTS */
	/*
	 * The largest factor by which a mean was changed so that no load gets faster beside more
	 * others; 0 or 1: none was. A factor far from 1 is more than the random numbers of the
	 * simulations explain.
	 */
	double most_change;
	struct mix_device_run *runs; /* owned: the mixes so far */
	size_t nr_runs, cap_runs;
};

/* Returns how many requests a mix may have. */
double mix_device_most(const struct mix_device *d);
/*
 * Sets the answers about a mix, which d keeps until the next call; NULL if it has too many
 * requests. The rates are of all copies of a load. Returns 0, -ENOMEM or -EINVAL.
 */
int mix_device_solve(struct mix_device *d, const size_t *counts, const struct study_case **out,
		     struct err *err);
void mix_device_release(struct mix_device *d);

#endif
