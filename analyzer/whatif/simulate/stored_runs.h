/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_runs: this module runs several simulations of stored requests (stored_sim.h) that do not
 * depend on each other, on all processors and among all ranks.
 */
#ifndef ANALYZER_WHATIF_SIMULATE_STORED_RUNS_H
#define ANALYZER_WHATIF_SIMULATE_STORED_RUNS_H

#include "analyzer/whatif/simulate/stored_sim.h"

/* This struct is one of several simulations that do not depend on each other. */
struct stored_run {
	const struct causal_plan *const *plans; /* borrowed, as are the members below */
	size_t nr_plans;
	const struct device_model *model;
	struct stored_result *out; /* one entry per plan */
	uint64_t turn;		   /* is added to the seed of the call */
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
