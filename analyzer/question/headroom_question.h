/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headroom_question: how many times today's load a target bears before an objective breaks
 * (whatif/headroom). By models or a net the loads are scaled; on a simulated device the stored
 * requests are multiplied and simulated.
 */
#ifndef ANALYZER_QUESTION_HEADROOM_QUESTION_H
#define ANALYZER_QUESTION_HEADROOM_QUESTION_H

#include "analyzer/question/question.h"
#include "analyzer/whatif/headroom/headroom_answer.h"
#include "analyzer/whatif/headroom/headroom_device.h"

/* One objective, and what was found for it. */
struct headroom_part {
	struct headroom_objective objective;
	struct headroom found;
	struct load_rows rows;
	struct load_own own;
	struct busy_curves busy;
};

struct headroom_question {
	struct question of;
	const char *load;      /* the variable that is scaled, "think", or NULL: the model's own */
	const char *intervals; /* a table of recorded applications, or NULL */
	/* The members below are set while the question is answered. */
	struct headroom_device device;
	struct application_errors errors;
	struct load_facts *facts; /* owned; of each load */
	size_t nr_facts;
	unsigned int missing;	     /* enum load_missing, of any load */
	struct headroom_part *parts; /* owned; one per objective */
	struct headroom_result results[WORD_LIST_MAX];
};

/* Returns 0 with *out, which the caller frees, or -errno. Release q whatever this returns. */
int headroom_question_answer(struct answer **out, struct headroom_question *q, struct err *err);
void headroom_question_release(struct headroom_question *q);

#endif
