/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_study: this module predicts response times of stored requests on another storage for which
 * there is a simulated device.
 *
 * Each load's requests are simulated by cause (stored_sim.h) on the device of the target. If there
 * is also a device of the storage on which the load was recorded, the answer is relative: the
 * measured time, times the simulated time on the target over the simulated time on the old storage.
 * Errors of the simulation that depend on the load cancel out (Mesnier, Wachs, Sambasivan, Zheng,
 * Ganger, Modeling the Relative Fitness of Storage, SIGMETRICS 2007), and a load that stays on its
 * storage gets the measured time.
 *
 * The 90 % intervals come from the errors of those configurations of the device that were held out
 * in its calibration, and from what is left to chance (device_chance.h). There is no answer for a
 * load whose requests lie outside what the campaign measured.
 *
 *	struct device_study s = { .target = &model, .loads = loads, .nr = 1 };
 *	int ret = device_study_solve(&s, &err);
 *
 *	a = ret ? NULL : device_study_answer(&s);
 *	device_study_release(&s);
 */
#ifndef ANALYZER_WHATIF_SIMULATE_DEVICE_STUDY_H
#define ANALYZER_WHATIF_SIMULATE_DEVICE_STUDY_H

#include "analyzer/answer/answer.h"
#include "analyzer/whatif/simulate/stored_sim.h"

#define DEVICE_STUDY_WORDS_BYTES 1024

struct device_study_load {
	char name[128];			/* "host device" */
	const struct causal_plan *plan; /* borrowed */
	/* recorded, over the time that was watched; 0: of the plan's requests over its time */
	double rate_per_s;
	/* mean times of reads and writes that were measured on the target; NaN: not measured */
	double measured_s[2];
};

/* This struct is the answer about one load, type and point. */
struct device_study_row {
	size_t load;
	enum device_type type;
	enum device_point point;
	/* Seconds; NaN unknown. low and high are the ends of the 90 % interval. */
	double before_s, target_s, low, high, measured_s;
};

/* This struct holds the results of one load. */
struct device_study_result {
	double offered_per_s, target_per_s; /* requests */
	struct device_times times;	    /* on the target */
	char why[256];			    /* why there is no answer; "": there is one */
};

struct device_study {
	const struct device_model *target;
	const struct device_model *old; /* NULL: absolute answers */
	const struct device_study_load *loads;
	size_t nr;
	uint64_t seed;
	/* The members below are results of device_study_solve(). */
	struct device_study_row *rows; /* owned */
	size_t nr_rows;
	struct device_study_result *results; /* owned, one per load */
	char conclusion[DEVICE_STUDY_WORDS_BYTES];
	bool cannot_tell;
};

/* Returns 0, -ENOMEM or -EINVAL. Release s whatever this returns. */
int device_study_solve(struct device_study *s, struct err *err);
void device_study_release(struct device_study *s);
/* Returns the answer "blkcast.study/1"; NULL if memory is out. */
struct answer *device_study_answer(const struct device_study *s);

/*
 * Returns whether a plan lies outside what the campaign of the model has measured, and says in why
 * (256 bytes) in which respect. Concurrency is not checked here, because the simulation reports it.
 */
bool device_study_outside(const struct causal_plan *plan, const struct device_model *m, char *why);

#endif
