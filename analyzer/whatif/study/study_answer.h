/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_answer: the results of the cases of a study, as rows, a conclusion and an answer that can
 * be shown.
 *
 * Every load and direction of every case is one row: the time on the target beside the time before.
 * The case's baseline decides what "before" means: another case (the load alone on the target), or
 * the load itself as it was characterized. The conclusion is about the most important row: rows
 * that surely become slower come first, then rows whose interval leaves this open, then the others.
 *
 *	struct study_result r = { .verb = "migrate", .how = "models", .study = &s, ... };
 *
 *	ret = study_conclude(&r);
 *	a = ret ? NULL : study_answer(&r, utc);
 *	...
 *	study_result_release(&r);
 */
#ifndef ANALYZER_STUDY_ANSWER_H
#define ANALYZER_STUDY_ANSWER_H

#include "analyzer/answer/answer.h"
#include "analyzer/whatif/study/study.h"

#define STUDY_WORDS_BYTES 1024

/* One load, type and point of a case, beside the value that it is compared with. */
struct study_row {
	size_t case_index, load;
	int side; /* enum study_type */
	enum study_point point;
	enum study_way way;
	/*
	 * These are response times; NaN means unknown. low and high are the ends of the 90 %
	 * interval of target_s, and NaN as well where the models had no error (is_exact).
	 */
	double before_s, target_s, low, high, change_ratio, measured_s;
	double delta_rt; /* |measured_s - target_s| / target_s */
	bool is_exact;
};

struct study_result {
	const char *verb, *how; /* how: "models", "net", "relative", "device", "run" or "replay" */
	const struct study *study;
	const struct study_case *cases;
	size_t nr_cases;
	/*
	 * Per case: the case with which its loads are compared; its own number: compared with the
	 * time where the load was characterized.
	 */
	const size_t *baseline;
	const double (*measured)[2]; /* per load: times measured in its last case; NaN none */
	bool has_peak;
	struct align_sum peak;
	/* The members below are results of study_conclude(). */
	struct study_row *rows; /* owned */
	size_t nr_rows;
	char conclusion[STUDY_WORDS_BYTES];
	bool cannot_tell;	/* the conclusion says that no conclusion is possible */
	bool overloaded;	/* the target surely serves fewer requests than a load offers */
	const char *limited_by; /* "storage", "clients"; NULL unknown */
};

/* Writes "host device" to out. */
void study_name(const struct study *s, size_t load, char out[128]);
/* Writes "alone", "with load 2" or "all together". */
void study_case_name(const struct study_result *r, size_t case_index, char out[64]);
/* Returns whether the study asks for this case; the other cases serve only as baselines. */
bool study_is_asked(const struct study_result *r, size_t case_index);
/* Fills the results. Returns 0 or -ENOMEM; release r whatever this returns. */
int study_conclude(struct study_result *r);
void study_result_release(struct study_result *r);
/* Returns the answer "blkcast.study/1" without pictures; NULL if memory is out. */
struct answer *study_answer(const struct study_result *r, bool utc);

#endif
