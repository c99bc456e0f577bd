/* SPDX-License-Identifier: Apache-2.0 */
/* mix_answer: shows how many loads fit together on a target as an answer (answer.h). */
#ifndef ANALYZER_WHATIF_MIX_MIX_ANSWER_H
#define ANALYZER_WHATIF_MIX_MIX_ANSWER_H

#include "analyzer/answer/answer.h"
#include "analyzer/whatif/mix/mix_fit.h"

struct mix_result {
	struct mix_fit mix;
	size_t free[2], nr_free; /* the loads whose counts are searched */
	bool fits;		 /* used if no count is searched */
	bool none, none_upper;	 /* used if a count is searched: not even the other loads fit */
	/*
	 * If one count is searched, most[0] holds its answer. If two are searched, the array holds
	 * the most of the first load, by the count of the second.
	 */
	size_t most[PREDICTOR_LOADS_MAX + 1], nr;
	size_t most_upper[PREDICTOR_LOADS_MAX + 1], nr_upper; /* by the intervals' upper ends */
	char why[MIX_WHY_BYTES];
};

/* Returns whether any mix of at least one load fits. */
bool mix_is_fit(const struct mix_result *r);
/*
 * Returns whether no conclusion is possible: a mix that is said to fit lies outside the models'
 * training range, or no mix fits because the target gives a load fewer requests than it offers, or
 * the smallest mix has too many requests to be simulated.
 */
bool mix_cannot_tell(const struct mix_result *r);
/* Returns the name of the load whose count is searched; k: 0 or 1. */
const char *mix_free_name(const struct mix_result *r, size_t k);
/* Returns the answer "blkcast.mix/1" without pictures; NULL if memory is out. */
struct answer *mix_answer(const struct mix_result *r);

#endif
