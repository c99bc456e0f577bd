/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_humps: divides the response times of one run into those of requests that the cache
 * served and those of requests that went on to the array, if their distribution has two humps
 * (Noorshams, Modeling and Prediction of I/O Performance in Virtualized Environments, 2015,
 * section 7.4.3.1).
 *
 * The density of the histogram over the logarithm of time is smoothed by a Gaussian of two buckets
 * (4.4 %). A valley is a low point whose density is at most half of the lower of the peaks on its
 * two sides. Hits may have several humps themselves, so that there may be several valleys. The
 * valley that leaves the most variance between its two sides is the cut (Otsu, A threshold
 * selection method from gray-level histograms, IEEE Trans. SMC 9, 1979). There are two humps if
 * there is a valley and either side of it holds at least 1 % of the requests; otherwise the humps
 * have merged. The cost is O(buckets^2), which is a few thousand steps.
 */
#ifndef ANALYZER_STORAGE_HUMPS_H
#define ANALYZER_STORAGE_HUMPS_H

#include "analyzer/models/storage/fit/storage_table.h"

#define HUMPS_VALLEY	  0.5
#define HUMPS_LEAST_SHARE 0.01

struct hump {
	double nr, mean_s, sd_s; /* computed from the middles of buckets: accurate to 1.1 % */
};

struct humps {
	bool two;
	double cut_s; /* NaN if the humps have merged */
	/* density at the cut over the lower peak: 0 is a clean cut, 1 is none */
	double valley;
	struct hump fast, slow; /* if the humps have merged, `slow` describes all requests */
};

/* Divides the response times. nr = 0 gives no requests in either hump. Returns 0 or -ENOMEM. */
int humps_part(struct humps *h, const struct storage_bucket *b, size_t nr);

#endif
