/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare: compares two profiles dimension by dimension: how much they differ, how certain the
 * difference is, and whether it is better or worse.
 *
 * The standard error of each side comes from the first of these that is possible:
 * - the spread of its windows (batch means, Student's t, Welch's degrees of freedom), where at
 *   least COMPARE_MIN_WINDOWS windows have a value. This also holds for correlated requests.
 * - otherwise a formula that takes requests as independent: for rates the variance of the count by
 *   the largest known index of dispersion; for means the variance in the histogram; for quantiles
 *   the order statistics at n p +- 1.96 sqrt(n p (1-p)); for shares p (1-p) / n.
 *
 * The difference has an interval of 95 %. The verdict is `same` where the whole interval lies
 * within the tolerance around no difference. Where all of it lies outside, the verdict is `better`
 * or `worse` (a smaller response time or loss is better), or `different` for dimensions that have
 * no better. Otherwise it is `cannot tell`.
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
/* Returns the name, "same" to "cannot tell", as a static string. */
const char *verdict_name(enum verdict v);

enum compare_unit { UNIT_PER_S, UNIT_BYTES, UNIT_BYTES_PER_S, UNIT_S, UNIT_RATIO, UNIT_COUNT };

struct comparison {
	const char *dimension; /* static, for example "read.response.total.p95" */
	enum compare_unit unit;
	double a, b;		   /* NaN: unknown */
	double difference, lo, hi; /* b - a and its interval; NaN where it is unknown */
	const char *method;	   /* static; method of the less certain side */
	enum verdict verdict;
	bool of_load; /* the dimension describes the load (rates, mix, sizes) */
};

size_t compare_nr_dimensions(void);
/* Keeps only a mean and a sum of squares of each dimension; for the member sum of profile_set. */
profile_set_sum compare_sum_window;
/*
 * Compares dimension i, 0 <= i < compare_nr_dimensions(). tolerance_ratio is relative to the value
 * of a. Costs O(windows log windows).
 */
void compare_dimension(const struct profile_group *a, const struct profile_group *b, size_t i,
		       double tolerance_ratio, struct comparison *out);

#endif
