/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_advice: this module tells from a load's miss-ratio curve how much cache is worth having for
 * the load.
 *
 * Hits are shares of all block references, reads and writes, because the curve counts both. The hit
 * ratio of reads alone cannot be computed from it. Therefore the expected response time is that of
 * all requests to a cache that serves reads and writes: hit x hit_s + (1 - hit) x miss_s. miss_s is
 * the mean over reads and writes as they were characterized, with the caches that existed then.
 * Rates and queues are taken as unchanged, so that the gain is a lower bound.
 */
#ifndef ANALYZER_CACHE_ADVICE_H
#define ANALYZER_CACHE_ADVICE_H

#include <stdbool.h>

#include "analyzer/whatif/cache/cache_share.h"

#define CACHE_SIZES_MAX 12

struct cache_step {
	double bytes, hit_ratio;
	double gain_per_gib; /* gain in hit ratio per GiB up to twice the size */
	double response_s;   /* mean over reads and writes; NaN: times unknown */
};

struct cache_advice {
	/* Each size is twice the one before, up to the end of the curve; the knee is one too. */
	struct cache_step steps[CACHE_SIZES_MAX + 1];
	size_t nr;
	double knee_bytes, knee_hit_ratio; /* NaN: no knee */
	double most_bytes, most_hit_ratio; /* the size and hit ratio that no larger cache exceeds */
	/* size for the requested hit ratio; NaN: no size reaches it */
	double wanted_bytes;
	double miss_s;	 /* mean over reads and writes; NaN unknown */
	bool reads_only; /* response_s is the time of reads only */
};

/*
 * hit_s, miss_s (NaN: the value of the profile) and wanted (a hit ratio) are NaN if they are not
 * given. Returns 0, or -ENODATA if the profile has no curve.
 */
int cache_advise(struct cache_advice *out, const struct profile_group *g, double hit_s,
		 double miss_s, double wanted);

#endif
