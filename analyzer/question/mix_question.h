/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mix_question: answers how many of some loads fit together on a target (whatif/mix). The caller
 * fills q.of and, if the target was measured, q.capacity with its throughputs; r.mix.most limits
 * the counts that are tried. question.h shows the calls in order.
 */
#ifndef ANALYZER_QUESTION_MIX_QUESTION_H
#define ANALYZER_QUESTION_MIX_QUESTION_H

#include "analyzer/question/question.h"
#include "analyzer/whatif/capacity/capacity.h"
#include "analyzer/whatif/mix/mix_answer.h"

struct mix_question {
	struct question of;
	bool is_measured; /* capacity has the measured throughputs of the target */
	struct capacity capacity;
	/* The members below are set while the question is answered; r.mix.most before. */
	struct mix_device device;
	struct mix_result r;
};

/* Returns 0 with *out, which the caller frees, or -errno. Release q whatever this returns. */
int mix_question_answer(struct answer **out, struct mix_question *q, struct err *err);
void mix_question_release(struct mix_question *q);

#endif
