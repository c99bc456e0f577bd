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
 * The same plans, model and random seed give the same result. O(n log n) for n requests; memory: 20
 * bytes per request beside the plan.
 */
#ifndef ANALYZER_WHATIF_SIMULATE_STORED_SIM_H
#define ANALYZER_WHATIF_SIMULATE_STORED_SIM_H

#include "analyzer/models/storage/device/device_load.h"
#include "analyzer/replay/causal.h"

struct stored_result {
	/* elapsed_s is the time until the last completion of this load's first pass. */
	struct device_times times;
	/*
	 * the time from the completion of the first twentieth of the requests to that of all but
	 * the last twentieth, as the plan has it of the recording
	 */
	double middle_s;
	/* requests that found more other requests under way than the model covers */
	uint64_t nr_beyond;
	/* requests that were not sent, since another copy's section covered theirs */
	uint64_t nr_covered;
	/* The load no longer began anew while others still ran, because REPEATS_MAX was reached. */
	bool ended_early;
};

/*
 * out has one entry per plan; release each whatever this returns. Returns 0, -ENOMEM, or -EINVAL if
 * requests wait for each other, which no plan of causal_make() does.
 */
int stored_sim_run(const struct causal_plan *const *plans, size_t nr, const struct device_model *m,
		   uint64_t seed, struct stored_result *out, struct err *err);
/*
 * Returns the requests per second of a load for each that it had where the plan was recorded, and
 * where it offered offered_per_s over the time that was watched. It is 1 where the requests took as
 * long as recorded. The watched time becomes longer by as much as the requests did; what passed
 * before and after them stays. By how much they did is taken from the middle of them: a recording
 * often begins before the application does, and threads that end early leave the storage to the
 * others.
 */
double stored_rate_ratio(const struct causal_plan *plan, const struct stored_result *r,
			 double offered_per_s);
void stored_result_release(struct stored_result *r);

#endif
