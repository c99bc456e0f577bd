/* SPDX-License-Identifier: Apache-2.0 */
/* mix_answer: how many loads fit together, as an answer that can be shown. */
#ifndef ANALYZER_WHATIF_MIX_ANSWER_H
#define ANALYZER_WHATIF_MIX_ANSWER_H

#include "analyzer/answer/answer.h"
#include "analyzer/whatif/mix_fit.h"

struct mix_result {
	struct mix_fit mix;
	size_t free[2], nr_free; /* the loads whose counts are asked for */
	bool fits;		 /* where no count is asked for */
	bool none, none_upper;	 /* where one is asked for: not even the other loads fit */
	/* Where one count is asked for: [0]. With two: of the first load, by the count of the second. */
	size_t most[PREDICTOR_LOADS_MAX + 1], nr;
	size_t most_upper[PREDICTOR_LOADS_MAX + 1], nr_upper; /* by the intervals' upper ends */
	char why[MIX_WHY_BYTES];
};

/* Whether anything fits. */
bool mix_is_fit(const struct mix_result *r);
/*
 * Whether the answer is that nobody can tell: a mix that is said to fit lies outside what the model knows,
 * or nothing fits because the target does not give a load the requests that it offers.
 */
bool mix_cannot_tell(const struct mix_result *r);
/* The name of the load whose count is asked for; k: 0 or 1. */
const char *mix_free_name(const struct mix_result *r, size_t k);
/* The answer "blkcast.mix/1" without pictures; NULL where memory is out. */
struct answer *mix_answer(const struct mix_result *r);

#endif
