/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_question: sends stored requests to a target here and now, each when what it had waited for
 * has completed (replay/causal_run.h), and says how long they took.
 */
#ifndef ANALYZER_QUESTION_REPLAY_QUESTION_H
#define ANALYZER_QUESTION_REPLAY_QUESTION_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/replay/causal_run.h"
#include "analyzer/store/scan/selection_told.h"

struct replay_question {
	const struct teller *teller;
	struct selection *sel; /* the requests */
	const char *target;    /* a device or a file */
	const char *overwrite; /* see target_guard_take() */
	double duration_s;     /* nothing is sent after it; 0: everything is sent */
	/* The members below are results. */
	struct causal_plan plan;
	struct causal_result result;
};

/* Returns 0, or -errno with one line in err. Release q whatever this returns. */
int replay_question_run(struct replay_question *q, struct err *err);
json_t *replay_question_json(const struct replay_question *q);
void replay_question_print(const struct replay_question *q, FILE *out);
void replay_question_release(struct replay_question *q);

#endif
