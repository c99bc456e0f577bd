/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study: response times of stored loads on a target, alone and together.
 *
 * Percentiles, and flushes, come from study_points.h, where the answer is predicted.
 *
 * A case is a set of loads at once; its answer for each of them is the mean response time of reads
 * and of writes, either measured, by running their mimics there side by side, or predicted
 * (predictor.h). Delta RT of what was measured is |RT_app - RT_ref| / RT_ref, where RT_ref is the answer
 * here (Noorshams, Modeling and Prediction of I/O Performance in Virtualized Environments, 2015, eq. 9.1).
 *
 * Where the old storage has been measured too (`from`), the answer for a load alone is relative: the time
 * that was measured on the old storage, times the prediction for the new one over the prediction for
 * the old one. What both models get wrong about the load cancels out (Mesnier, Wachs, Sambasivan, Zheng,
 * Ganger, Modeling the Relative Fitness of Storage, SIGMETRICS 2007). If both are the same, the answer is
 * what was measured.
 */
#ifndef ANALYZER_STUDY_H
#define ANALYZER_STUDY_H

#include <signal.h>

#include "analyzer/characterize/profile_set.h"
#include "analyzer/replay/mimic.h"
#include "analyzer/whatif/peak.h"
#include "analyzer/whatif/predictor.h"
#include "analyzer/replay/target_guard.h"
#include "analyzer/whatif/study_points.h"

#define STUDY_LOADS_MAX 16

struct study_load {
	const struct profile_group *group; /* borrowed */
	struct load_facts facts;
	double base_s[2]; /* mean of reads, of writes where it was characterized; NaN none */
	double measured_s[STUDY_TYPES][STUDY_POINTS]; /* the same of all types and points */
};

struct study_answer {
	double s[2], low[2], high[2]; /* NaN: none, or no interval */
	/* Requests per second; the ends of the interval are NaN where there is none. */
	double rate_per_s, rate_low_per_s, rate_high_per_s;
	/* Percentiles, and all of flushes; the means of reads and writes are in s, low and high. */
	struct study_time points[STUDY_TYPES][STUDY_POINTS];
};

struct study_case {
	size_t loads[STUDY_LOADS_MAX], nr;
	struct study_answer answers[STUDY_LOADS_MAX];
	const char *outside; /* predicted: a variable outside the training range, or NULL */
};

struct study {
	struct study_load loads[STUDY_LOADS_MAX];
	size_t nr;
	struct predictor *predictor; /* borrowed; NULL: by runs */
	struct predictor *from;	     /* of the old storage; borrowed; NULL: absolute answers */
	struct mimic_options run;
	double time_limit_s;		   /* of a run, beyond its duration */
	struct target_guard target;	   /* of runs: what run.target is; taken by the caller */
	const volatile sig_atomic_t *stop; /* set: runs end with -EINTR, and leave nothing */
};

/* 0; -EINVAL: a load that cannot be mimicked or asked; -EIO with fio's words; -ETIMEDOUT; -EINTR. */
int study_predict(const struct study *s, struct study_case *c, struct err *err);
/*
 * The bytes that the mimic of each load takes: the size of its files in a folder, else how far it reaches
 * into the target. Errors as mimic_make().
 */
int study_run_bytes(const struct study *s, uint64_t bytes[STUDY_LOADS_MAX], struct err *err);
int study_by_run(const struct study *s, struct study_case *c, struct err *err);

/* When the loads' sum was highest, and whose it was (peak.h). */
int study_peak(const struct study *s, struct align_sum *sum);

#endif
