// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/cache_knee.h"

#include <math.h>

/*
 * The curve itself has an error of about 0.02 of miss ratio, so a point nearer to the line is
 * noise.
 */
#define CACHE_KNEE_LEAST_DEPTH 0.02

size_t cache_knee(const struct cache_point *points, size_t nr)
{
	size_t knee = nr;
	double deepest = CACHE_KNEE_LEAST_DEPTH, from, to;

	if (nr < 3)
		return nr;
	from = log((double)points[0].cache_bytes);
	to = log((double)points[nr - 1].cache_bytes);
	for (size_t i = 1; i + 1 < nr; i++) {
		double along = (log((double)points[i].cache_bytes) - from) / (to - from);
		double line = points[0].miss_ratio +
			      along * (points[nr - 1].miss_ratio - points[0].miss_ratio);

		if (line - points[i].miss_ratio > deepest) {
			deepest = line - points[i].miss_ratio;
			knee = i;
		}
	}
	return knee;
}
