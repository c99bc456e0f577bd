/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_histogram: checks whether two histograms hold the same durations, in whichever form each of
 * them holds its counts.
 */
#ifndef TESTS_SAME_HISTOGRAM_H
#define TESTS_SAME_HISTOGRAM_H

#include <stdbool.h>

#include "formats/histogram.h"

static inline bool same_histogram(const struct histogram *a, const struct histogram *b)
{
	for (int i = HISTOGRAM_BUCKET_MIN; i <= HISTOGRAM_BUCKET_MAX; i++)
		if (histogram_count(a, i) != histogram_count(b, i))
			return false;
	return a->nr == b->nr && a->min_ns == b->min_ns && a->max_ns == b->max_ns &&
	       a->sum_ns == b->sum_ns && a->sum_high == b->sum_high;
}

#endif
