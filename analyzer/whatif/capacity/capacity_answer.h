/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity_answer: the capacity of a target by sizes and mix, and how much of it loads use, as a
 * value that every renderer shows (answer.h).
 */
#ifndef ANALYZER_CAPACITY_ANSWER_H
#define ANALYZER_CAPACITY_ANSWER_H

#include "analyzer/answer/answer.h"
#include "analyzer/characterize/profile_set.h"
#include "analyzer/whatif/capacity/capacity.h"

struct capacity_result {
	struct capacity capacity;
	struct capacity_part *parts; /* owned, as all arrays that follow */
	size_t nr_parts;
	/* each part has the whole capacity, so there is one total per part; otherwise one in all */
	bool alone;
	bool of_requests;
	struct capacity_value *totals;
	struct capacity_check *checks;
	size_t nr_checks;
	double bound;		/* |deviation_ratio| of a check beyond which C is not constant */
	const char *objectives; /* borrowed: the objectives that are kept, as text; NULL: none */
	/* borrowed, by load */
	const struct profile_group *const *loads;
	size_t nr_loads;
	/* one entry per load, followed by one for all together where there are several */
	struct capacity_use *uses;
};

/* Returns whether all loads together fit, also where there are none. */
bool capacity_fits(const struct capacity_result *r);
/* The caller owns the answer. */
struct answer *capacity_answer(const struct capacity_result *r);

#endif
