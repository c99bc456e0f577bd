/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_humps: parts the response times of one run into those served by the cache and those
 * that went on to the array, where their distribution has two humps (Noorshams, Modeling and
 * Prediction of I/O Performance in Virtualized Environments, 2015, section 7.4.3.1).
 *
 * The histogram's density over the logarithm of time is smoothed by a Gaussian of two buckets
 * (4.4 %). A valley is a low point at half the lower of the peaks on its two sides or below; of
 * several that is the cut which leaves most variance between its sides (Otsu, IEEE Trans. SMC 9,
 * 1979), as hits may have humps of their own. The humps are two where there is a valley and
 * either side holds 1 % of the requests; else they have merged. O(buckets^2), a few thousand.
 */
#ifndef ANALYZER_STORAGE_HUMPS_H
#define ANALYZER_STORAGE_HUMPS_H

#include "analyzer/models/storage/storage_table.h"

#define HUMPS_VALLEY	  0.5
#define HUMPS_LEAST_SHARE 0.01

struct hump {
	double nr, mean_s, sd_s; /* means and spreads of bucket middles: within 1.1 % */
};

struct humps {
	bool two;
	double cut_s;		/* NaN where they have merged */
	double valley;		/* density at the cut against the lower peak: 0 clean, 1 none */
	struct hump fast, slow; /* of all requests in `slow` where merged */
};

/* nr 0 gives no requests at all. 0 or -ENOMEM. */
int humps_part(struct humps *h, const struct storage_bucket *b, size_t nr);

#endif
