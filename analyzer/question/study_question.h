/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_question: what happens when loads move to a target, share it, or get neighbours there
 * (whatif/study): by models, on a simulated device, or by runs on the real target.
 */
#ifndef ANALYZER_QUESTION_STUDY_QUESTION_H
#define ANALYZER_QUESTION_STUDY_QUESTION_H

#include "analyzer/question/question.h"
#include "analyzer/whatif/mix/space_answer.h"
#include "analyzer/whatif/study/study_target.h"

#define STUDY_CASES_MAX (2 * STUDY_LOADS_MAX)

enum study_verb { STUDY_MIGRATE, STUDY_CONSOLIDATE, STUDY_INTERFERENCE };
extern const char *const study_verb_names[];

/* of.study.run says how loads are run; target.path, overwrite and others say where, if they are. */
struct study_question {
	struct question of;
	enum study_verb verb;
	const char *intervals;		/* a table of recorded applications, or NULL */
	const char *from, *from_target; /* a store, or a device, of the old storage, or NULL */
	struct word_list measured;	/* profiles of what was measured on the target */
	/* Interference over these sizes and mixes of the neighbour, where is_space. */
	bool is_space;
	struct neighbour_space space;
	struct study_target target;
	/* The members below are set while the question is answered. */
	struct study_slo objectives;
	struct application_errors errors;
	struct predictor old;
	struct predictor_options old_by;
	struct study_case cases[STUDY_CASES_MAX];
	size_t nr_cases, baseline[STUDY_CASES_MAX];
	double truth[STUDY_LOADS_MAX][2];
};

/* Returns 0 with *out, which the caller frees, or -errno. Release q whatever this returns. */
int study_question_answer(struct answer **out, struct study_question *q, struct err *err);
void study_question_release(struct study_question *q);

#endif
