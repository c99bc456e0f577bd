/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_question: answers how machines on storages behave, as several files describe them
 * (whatif/scenario). Each file is a scenario, and the answer shows the scenarios side by side. The
 * loads are named in the files; the caller chooses none.
 */
#ifndef ANALYZER_QUESTION_SCENARIO_QUESTION_H
#define ANALYZER_QUESTION_SCENARIO_QUESTION_H

#include "analyzer/answer/teller.h"
#include "analyzer/question/question.h"
#include "analyzer/whatif/scenario/scenario_answer.h"

struct scenario_question {
	struct question of;	  /* only its teller, objectives and verdict are used */
	const char *const *paths; /* files of the scenarios, at most SCENARIOS_MAX */
	size_t nr;
	/* "DEVICE.json" or "NAME=DEVICE.json": what is simulated in place of the files' storages */
	struct word_list storages;
};

/* Returns 0 with *out, which the caller frees, or -errno. */
int scenario_question_answer(struct answer **out, struct scenario_question *q, struct err *err);

#endif
