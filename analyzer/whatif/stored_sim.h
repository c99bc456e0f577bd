/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_sim: stored requests on a simulated device, each sent when what it had waited for has happened.
 *
 * What a request waits for is found by causal.h, and the rules of sending are those of causal_run.h, by
 * which stored requests are replayed on a real target: think times stay, bursts keep their depth, and a
 * thread that waited for a completion or a flush waits for it here as well. The device answers instead of a target
 * (device_sim.h). Several loads may run on one device at a time; each has a part of it for itself.
 *
 *	struct causal_plan plan;	(causal_load())
 *	const struct causal_plan *plans[] = { &plan };
 *	struct stored_result result;
 *	int ret = stored_sim_run(plans, 1, &model, 1, &result, &err);
 *
 *	p95_s = device_times_at(&result.times, DEVICE_READ, DEVICE_P95);
 *	stored_result_release(&result);
 *
 * The same plans, model and random seed give the same result. O(n log n) for n requests; memory: 16 bytes per
 * request beside the plan.
 */
#ifndef ANALYZER_WHATIF_STORED_SIM_H
#define ANALYZER_WHATIF_STORED_SIM_H

#include "analyzer/models/storage/device_load.h"
#include "analyzer/replay/causal.h"

struct stored_result {
	struct device_times times; /* elapsed_s: to this load's last completion */
	uint64_t nr_beyond; /* requests that met more others under way than the model covers */
};

/*
 * out: one per plan; release each whatever this returns. 0, -ENOMEM, or -EINVAL where requests wait for
 * each other, which no plan of causal_make() does.
 */
int stored_sim_run(const struct causal_plan *const *plans, size_t nr, const struct device_model *m,
		   uint64_t seed, struct stored_result *out, struct err *err);
void stored_result_release(struct stored_result *r);

#endif
