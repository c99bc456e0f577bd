/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_simulate: this module answers the cases of a study (study.h) by simulation: the stored
 * requests of all loads of a case are sent by cause to one simulated device (stored_sim.h).
 *
 * Each load has its own requests, its own part of the device and its own times; the loads wait for
 * each other only inside the device. A load that runs alone gets the answer of device_study.h. No
 * time is shorter than that of the load alone, because other loads only add work for the storage:
 * what is shorter by the random numbers of the simulation becomes the time alone.
 *
 * The 90 % intervals come from the held-out configurations of the device, which may be replaced by
 * errors of recorded applications (application_errors.h), and are wider where the load has few
 * requests of a type (device_times_chance()). Those of loads beside others, or beside copies of
 * themselves, may be wider (device_model_shared()), also where the time alone replaces the
 * simulated one.
 *
 *	struct study_simulate sim = { .target = &model, .replay = &plans, .seed = 1 };
 *	int ret = study_simulate_cases(&sim, &study, cases, nr, &err);
 *
 * Several loads are simulated twice, in both orders, because requests that are sent at the same
 * instant are served in the order of the loads. Equal loads thus get equal times. The simulations
 * of all cases run side by side, on all processors and among all ranks (parallel.h).
 */
#ifndef ANALYZER_WHATIF_SIMULATE_STUDY_SIMULATE_H
#define ANALYZER_WHATIF_SIMULATE_STUDY_SIMULATE_H

#include "analyzer/models/storage/device/device_model.h"
#include "analyzer/whatif/study/study_replay.h"

struct study_simulate {
	const struct device_model *target; /* borrowed */
	const struct study_replay *replay; /* borrowed: the plans of all loads */
	uint64_t seed;
	/*
	 * The errors of the target come from a table of the user, and hold for loads beside others
	 * too.
	 */
	bool errors_given;
	/*
	 * These numbers are borrowed. They say how many copies each load stands for; the load's
	 * plan has the requests of all its copies. NULL means one copy of each.
	 */
	const size_t *copies;
	/* These are the answers of loads alone, which study_simulate_cases() keeps. */
	struct study_answer alone[STUDY_LOADS_MAX];
	bool has_alone[STUDY_LOADS_MAX];
};

/*
 * Fills the answers of all cases, and says in a case's why where the requests lie outside what the
 * campaign of the device measured. Returns 0, -ENOMEM or -EINVAL.
 */
int study_simulate_cases(struct study_simulate *sim, const struct study *s,
			 struct study_case *cases, size_t nr, struct err *err);
/* Simulates one case, as study_simulate_cases() simulates many. */
int study_simulate_case(struct study_simulate *sim, const struct study *s, struct study_case *c,
			struct err *err);
/*
 * Replaces times of an answer that are shorter than those of the same load beside fewer others,
 * and a throughput that is higher than factor times the one there. factor is the number of copies
 * of the load divided by that number there. Intervals keep their width relative to the time.
 * Returns the largest factor by which a mean was multiplied or divided, 1 where none was changed.
 */
double study_simulate_at_least(const struct study_answer *less, double factor,
			       struct study_answer *a);
/* Does the opposite: `more` is the answer beside more others. */
double study_simulate_at_most(const struct study_answer *more, double factor,
			      struct study_answer *a);

#endif
