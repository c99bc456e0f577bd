/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_study: how stored requests do on another storage, of which there is a simulated device.
 *
 * Each load's requests are simulated by cause (stored_sim.h) on the device of the target. Where there is a
 * device of the storage on which the load was recorded as well, the answer is relative: what was measured, times
 * simulated on the target over simulated on the old storage. What the simulation gets wrong about the load
 * cancels out (Mesnier, Wachs, Sambasivan, Zheng, Ganger, Modeling the Relative Fitness of Storage, SIGMETRICS
 * 2007), and a load that stays where it is gets what was measured.
 *
 * The 90 % intervals come from the errors of the device's configurations that were held out in its
 * calibration. A load that does what the campaign has not measured cannot be told.
 *
 *	struct device_study s = { .target = &model, .loads = loads, .nr = 1 };
 *	int ret = device_study_solve(&s, &err);
 *
 *	a = ret ? NULL : device_study_answer(&s);
 *	device_study_release(&s);
 */
#ifndef ANALYZER_WHATIF_DEVICE_STUDY_H
#define ANALYZER_WHATIF_DEVICE_STUDY_H

#include "analyzer/answer/answer.h"
#include "analyzer/whatif/stored_sim.h"

#define DEVICE_STUDY_WORDS_BYTES 1024

struct device_study_load {
	char name[128];			/* "host device" */
	const struct causal_plan *plan; /* borrowed */
	double measured_s[2]; /* means of reads and writes that were measured on the target; NaN none */
};

/* One load, type and point. */
struct device_study_row {
	size_t load;
	enum device_type type;
	enum device_point point;
	/* Seconds; NaN unknown. low and high are the ends of the 90 % interval. */
	double before_s, target_s, low, high, measured_s;
};

/* What a load got. */
struct device_study_result {
	double offered_per_s, target_per_s; /* requests */
	struct device_times times;	    /* on the target */
	char why[256];			    /* why it cannot be told; "" it can */
};

struct device_study {
	const struct device_model *target;
	const struct device_model *old; /* NULL: absolute answers */
	const struct device_study_load *loads;
	size_t nr;
	uint64_t seed;
	/* The results of device_study_solve(): */
	struct device_study_row *rows; /* owned */
	size_t nr_rows;
	struct device_study_result *results; /* owned, one per load */
	char conclusion[DEVICE_STUDY_WORDS_BYTES];
	bool cannot_tell;
};

/* 0, -ENOMEM, -EINVAL. Release s whatever this returns. */
int device_study_solve(struct device_study *s, struct err *err);
void device_study_release(struct device_study *s);
/* The answer "blkcast.study/1"; NULL where memory is out. */
struct answer *device_study_answer(const struct device_study *s);

/*
 * Whether a plan does what the campaign of the model has not measured; says what in why (256 bytes).
 * Concurrency is not looked at: it shows in the simulation.
 */
bool device_study_outside(const struct causal_plan *plan, const struct device_model *m, char *why);

#endif
