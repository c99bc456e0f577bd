/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study: response times of stored loads on a target, alone and together.
 *
 * study_points.h adds percentiles and flushes if the answer is predicted.
 *
 * A case is a set of loads that run at once. Its answer for each load is the mean response time of
 * reads and of writes. The answer is measured, by running the loads' mimics side by side on the
 * target, or predicted (predictor.h), or simulated (study_simulate.h). Delta RT of a measurement is
 * |RT_app - RT_ref| / RT_ref, where RT_ref is the answer here (Noorshams, Modeling and Prediction
 * of I/O Performance in Virtualized Environments, 2015, eq. 9.1).
 *
 * If the old storage has been measured too (`from`), the answer for a load alone is relative: the
 * time that was measured on the old storage, times the prediction for the new one over the
 * prediction for the old one. Errors that both models make about the load cancel out (Mesnier,
 * Wachs, Sambasivan, Zheng, Ganger, Modeling the Relative Fitness of Storage, SIGMETRICS 2007). If
 * both storages are the same, the answer is the measured time.
 */
#ifndef ANALYZER_STUDY_H
#define ANALYZER_STUDY_H

#include <jansson.h>
#include <signal.h>

#include "analyzer/characterize/profile_set.h"
#include "analyzer/replay/mimic.h"
#include "analyzer/replay/target_guard.h"
#include "analyzer/whatif/predict/loads.h"
#include "analyzer/whatif/predict/peak.h"
#include "analyzer/whatif/predict/predictor.h"
#include "analyzer/whatif/study/study_points.h"

#define STUDY_LOADS_MAX 16
#define STUDY_WHY_BYTES 384

struct study_load {
	const struct profile_group *group; /* borrowed */
	struct load_facts facts;
	double base_s[2]; /* mean of reads, of writes where the load was characterized; NaN: none */
	/* the measured times of all types and points */
	double measured_s[STUDY_TYPES][STUDY_POINTS];
};

struct study_answer {
	double s[2], low[2], high[2]; /* NaN: no value, or no interval */
	/* Requests per second; the ends of the interval are NaN if there is none. */
	double rate_per_s, rate_low_per_s, rate_high_per_s;
	/*
	 * Percentiles, and all times of flushes; the means of reads and writes are in s, low and
	 * high.
	 */
	struct study_time points[STUDY_TYPES][STUDY_POINTS];
	const char *limited_by; /* the busy part of a simulated device; NULL: none, or unknown */
};

/* Returns the answer for one type and point, wherever it stands in the struct. */
struct study_time study_get_time(const struct study_answer *a, unsigned int type,
				 unsigned int point);
void study_set_time(struct study_answer *a, unsigned int type, unsigned int point,
		    const struct study_time *t);

struct study_case {
	size_t loads[STUDY_LOADS_MAX], nr;
	struct study_answer answers[STUDY_LOADS_MAX];
	/* why the case has no sure answer, as a sentence without its end; "": it has one */
	char why[STUDY_WHY_BYTES];
};

struct study {
	struct study_load loads[STUDY_LOADS_MAX];
	size_t nr;
	struct predictor *predictor; /* borrowed; NULL: the study runs or simulates the loads */
	bool simulated;		     /* answers come from a simulated device (study_simulate.h) */
	/* predictor of the old storage; borrowed; NULL: absolute answers */
	struct predictor *from;
	struct mimic_options run;
	double time_limit_s; /* of a run, beyond its duration */
	/* for runs: describes run.target; the caller takes the guard */
	struct target_guard target;
	/* when set, runs end with -EINTR and remove their files */
	const volatile sig_atomic_t *stop;
};

/* Adds loads, of which there are at most STUDY_LOADS_MAX, with their facts. */
void study_take_loads(struct study *s, const struct loads *l);
/* Returns 0, -EINVAL for a load that cannot be mimicked or asked about, -EIO with the message of
 * fio, -ETIMEDOUT or -EINTR. */
int study_predict(const struct study *s, struct study_case *c, struct err *err);
/*
 * Gives the bytes that the mimic of each load needs: the size of its files in a folder, else the
 * end of its range on the target. Returns the same errors as mimic_make().
 */
int study_run_bytes(const struct study *s, uint64_t bytes[STUDY_LOADS_MAX], struct err *err);
int study_by_run(const struct study *s, struct study_case *c, struct err *err);
/* Fills the answer from the JSON that fio prints at its end. */
void study_run_sum(const json_t *root, struct study_answer *a);

/* Finds when the sum of the loads was highest, and which loads made it (peak.h). */
int study_peak(const struct study *s, struct align_sum *sum);

#endif
