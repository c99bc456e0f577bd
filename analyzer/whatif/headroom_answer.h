/* SPDX-License-Identifier: Apache-2.0 */
/* headroom_answer: how much more load each objective allows, as an answer that can be shown. */
#ifndef ANALYZER_WHATIF_HEADROOM_ANSWER_H
#define ANALYZER_WHATIF_HEADROOM_ANSWER_H

#include "analyzer/answer/answer.h"
#include "analyzer/whatif/headroom.h"

#define HEADROOM_WORDS_BYTES 768

/* What was found for one objective. All pointers are borrowed. */
struct headroom_result {
	const char *text; /* the objective as it was given: "read.p95=20ms" */
	const struct headroom_objective *objective;
	const struct headroom *found;
	/* Requests per second: as watched, as predicted today, and where the objective breaks; NaN unknown. */
	double offered_per_s, today_per_s, limit_per_s;
};

/* Fills the three rates. */
void headroom_find_rates(struct headroom_result *r, struct predictor *p,
			 const struct load_facts *loads, size_t nr);
/* Whether the target serves clearly fewer requests than today's load offers. */
bool headroom_is_overloaded(const struct headroom_result *r);
/* Whether a variable lies outside what the model knows, so that the result is extrapolated. */
bool headroom_is_outside(const struct headroom *h);
/* The result in one sentence. */
void headroom_conclude(const struct headroom_result *r, char out[HEADROOM_WORDS_BYTES]);
/*
 * The answer "blkcast.headroom/1" without pictures; NULL where memory is out. The conclusion is that of
 * the tightest objective; the notes are those of the others.
 */
struct answer *headroom_answer(const struct headroom_result *results, size_t nr, size_t tightest);

#endif
