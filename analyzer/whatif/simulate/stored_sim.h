/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_sim: this module runs stored requests on a simulated device. Each request is sent when the
 * requests that it had waited for have completed.
 *
 * causal.h finds what a request waits for. The rules of sending are those of causal_run.h, with
 * which stored requests are replayed on a real target: think times stay, bursts keep their depth,
 * and a thread that waited for a completion or a flush waits for it here as well. The simulated
 * device (device_sim.h) takes the role of the target. Several loads may run on one device at a
 * time; each has its own part of the device. A load that completes while others still run begins
 * anew, so that all of them meet the others all the time. Only its first pass counts. Requests that
 * a cache serves take the cache's time, and have no part in the times of the device.
 *
 *	struct causal_plan plan;	(causal_load())
 *	const struct causal_plan *plans[] = { &plan };
 *	struct stored_result result;
 *	int ret = stored_sim_run(plans, 1, &model, 1, &result, &err);
 *
 *	p95_s = device_times_at(&result.times, DEVICE_READ, DEVICE_P95);
 *	stored_result_release(&result);
 *
 * The same plans, model and random seed give the same result. O(n log n) for n requests; memory: 16
 * bytes per request beside the plan.
 */
#ifndef ANALYZER_WHATIF_SIMULATE_STORED_SIM_H
#define ANALYZER_WHATIF_SIMULATE_STORED_SIM_H

#include "analyzer/models/storage/device/device_load.h"
#include "analyzer/replay/causal.h"

struct stored_result {
	/* elapsed_s is the time until the last completion of this load's first pass. */
	struct device_times times;
	/* requests that found more other requests under way than the model covers */
	uint64_t nr_beyond;
	/* The load no longer began anew while others still ran, because REPEATS_MAX was reached. */
	bool ended_early;
};

/*
 * out has one entry per plan; release each whatever this returns. Returns 0, -ENOMEM, or -EINVAL if
 * requests wait for each other, which no plan of causal_make() does.
 */
int stored_sim_run(const struct causal_plan *const *plans, size_t nr, const struct device_model *m,
		   uint64_t seed, struct stored_result *out, struct err *err);
void stored_result_release(struct stored_result *r);

/* This struct is one of several simulations that do not depend on each other. */
struct stored_run {
	const struct causal_plan *const *plans; /* borrowed, as are the members below */
	size_t nr_plans;
	const struct device_model *model;
	struct stored_result *out; /* one entry per plan */
};

/*
 * Runs all simulations, on all processors and among all ranks (parallel.h). Each gives what
 * stored_sim_run() gives, for any number of processors. Returns what the first simulation that
 * failed returned; release all results whatever this returns.
 */
int stored_sim_run_all(const struct stored_run *runs, size_t nr, uint64_t seed, struct err *err);
/*
 * Returns how many of the simulations run at the same time: as many as there are processors, but
 * together they take 1 GiB beside the plans at most, or what the largest one takes alone.
 */
unsigned stored_sim_at_once(const struct stored_run *runs, size_t nr);

#endif
