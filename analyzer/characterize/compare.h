/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare: two profiles, dimension by dimension: by how much they differ, how sure that is, and
 * what it means.
 *
 * Each side's standard error comes, in this order, from
 *  - the spread of its windows (batch means, Student's t, Welch's degrees of freedom), where it has
 *    at least COMPARE_MIN_WINDOWS with a value: it holds for correlated requests too;
 *  - else, taking requests as independent: for rates the count's variance by the largest index of
 *    dispersion known; for means the variance in the histogram; for quantiles the order statistics
 *    at n p +- 1.96 sqrt(n p (1-p)); for shares p (1-p) / n.
 * The interval of the difference is that of 95 %. The verdict: `same` where all of it lies within
 * the tolerance around no difference; `better`, `worse` (response times and losses: less is
 * better) or `different` (what has no better) where none of it does; else `cannot tell`.
 */
#ifndef ANALYZER_COMPARE_H
#define ANALYZER_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/characterize/profile_set.h"

#define COMPARE_CONFIDENCE  0.95
#define COMPARE_MIN_WINDOWS 8
#define COMPARE_TOLERANCE   0.05

enum verdict {
	VERDICT_SAME,
	VERDICT_BETTER,
	VERDICT_WORSE,
	VERDICT_DIFFERENT,
	VERDICT_CANNOT_TELL,
};
#define NR_VERDICTS 5
/* "same", ..., "cannot tell"; static strings. */
const char *verdict_name(enum verdict v);

enum compare_unit { UNIT_PER_S, UNIT_BYTES, UNIT_BYTES_PER_S, UNIT_S, UNIT_RATIO, UNIT_COUNT };

struct comparison {
	const char *dimension; /* "read.response.total.p95"; static */
	enum compare_unit unit;
	double a, b;		   /* NaN unknown */
	double difference, lo, hi; /* b - a and its interval; NaN where it cannot be told */
	const char *method;	   /* static; of the less certain side */
	enum verdict verdict;
	bool of_load; /* the dimension describes what was asked for (rates, mix, sizes) */
};

size_t compare_nr_dimensions(void);
/*
 * Compares dimension i, 0 <= i < compare_nr_dimensions(). tolerance_ratio: of a's value.
 * O(windows log windows).
 */
void compare_dimension(const struct profile_group *a, const struct profile_group *b, size_t i,
		       double tolerance_ratio, struct comparison *out);

#endif
