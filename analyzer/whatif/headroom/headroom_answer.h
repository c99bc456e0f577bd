/* SPDX-License-Identifier: Apache-2.0 */
/* headroom_answer: shows how much the load may grow for each objective as an answer (answer.h). */
#ifndef ANALYZER_WHATIF_HEADROOM_HEADROOM_ANSWER_H
#define ANALYZER_WHATIF_HEADROOM_HEADROOM_ANSWER_H

#include "analyzer/answer/answer.h"
#include "analyzer/whatif/headroom/headroom.h"

#define HEADROOM_WORDS_BYTES 768

/* This struct holds the result for one objective. All pointers are borrowed. */
struct headroom_result {
	const char *text; /* the text of the objective: "read.p95=20ms" */
	const struct headroom_objective *objective;
	const struct headroom *found;
	/*
	 * These are requests per second: observed, predicted for today, and where the objective
	 * breaks. NaN means unknown.
	 */
	double offered_per_s, today_per_s, limit_per_s;
};

/* Fills the three rates. */
void headroom_find_rates(struct headroom_result *r, struct predictor *p,
			 const struct load_facts *loads, size_t nr);
/* Returns whether the target serves clearly fewer requests than today's load offers. */
bool headroom_is_overloaded(const struct headroom_result *r);
/*
 * Returns whether a variable lies outside the model's training range, so that the result is
 * extrapolated.
 */
bool headroom_is_outside(const struct headroom *h);
/* Writes the result as one sentence. */
void headroom_conclude(const struct headroom_result *r, char out[HEADROOM_WORDS_BYTES]);
/*
 * Returns the answer "blkcast.headroom/1" without pictures; NULL if memory is out. The conclusion
 * is about the tightest objective; the notes are about the others.
 */
struct answer *headroom_answer(const struct headroom_result *results, size_t nr, size_t tightest);

#endif
