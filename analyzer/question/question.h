/* SPDX-License-Identifier: Apache-2.0 */
/*
 * question: what all questions about loads on a target have in common: the loads, the objectives,
 * and how the target is predicted: by models, a measurement store, or a simulated device.
 *
 * A question is filled with what a person chose. One function answers it (study_question.h and the
 * others), and hands back an answer with its pictures. Remarks go to the teller.
 *
 *	struct mix_question q = { .of.teller = teller, .r.mix.most = 64 };
 *
 *	ret = mix_question_answer(&answer, &q, &err);
 *	...
 *	mix_question_release(&q);
 */
#ifndef ANALYZER_QUESTION_QUESTION_H
#define ANALYZER_QUESTION_QUESTION_H

#include "analyzer/answer/answer.h"
#include "analyzer/whatif/headroom/study_device.h"
#include "analyzer/whatif/predict/loads.h"

/* This is what the command that asks the question returns. */
enum question_verdict {
	QUESTION_YES,
	QUESTION_NO,	      /* an objective is broken, or the target cannot carry the loads */
	QUESTION_CANNOT_TELL, /* the question lies outside of what is known */
};

struct question {
	const struct teller *teller;
	struct load_choice choice;
	struct predictor_options by;
	struct word_list slo;
	const char *storage; /* the file of a simulated device, or NULL */
	/* The members below are set while the question is answered. */
	struct loads loads;
	struct predictor predictor;
	struct study study; /* the loads, for a device or a study */
	struct study_device target;
	enum question_verdict verdict;
};

/*
 * Opens the device with the stored requests of all loads; errors may be NULL. Returns as
 * study_device_open().
 */
int question_open_device(struct question *q, const struct application_errors *errors,
			 struct err *err);
/*
 * Adds the objectives to slo. A question that knows only means (only: "a cache tells means")
 * refuses objectives of percentiles. Returns 0 or -EINVAL.
 */
int question_objectives(const struct question *q, struct study_slo *slo, const char *only,
			struct err *err);
void question_release(struct question *q);

#endif
