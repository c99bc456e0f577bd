/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_advice: how much cache is worth having for one load, by its miss-ratio curve.
 *
 * Hits are shares of all block references, reads and writes, because that is what the curve counts. How
 * often reads alone hit cannot be told from it. So the expected response time is that of all requests
 * of a cache that serves reads and writes: hit x hit_s + (1 - hit) x miss_s, with miss_s the mean over
 * reads and writes as they were characterized, behind
 * whatever cached them then: rates and queues stay as they are, so the gain is a lower bound.
 */
#ifndef ANALYZER_CACHE_ADVICE_H
#define ANALYZER_CACHE_ADVICE_H

#include <stdbool.h>

#include "analyzer/whatif/cache_share.h"

#define CACHE_SIZES_MAX 12

struct cache_step {
	double bytes, hit_ratio;
	double gain_per_gib; /* hit ratio on the way to twice the size */
	double response_s;   /* mean over reads and writes; NaN: times unknown */
};

struct cache_advice {
	struct cache_step steps[CACHE_SIZES_MAX]; /* sizes doubling up to the curve's end */
	size_t nr;
	double knee_bytes, knee_hit_ratio; /* NaN: no knee */
	double most_bytes, most_hit_ratio; /* what no larger cache exceeds */
	double wanted_bytes;		   /* for the hit ratio asked for; NaN: none has it */
	double miss_s;			   /* mean over reads and writes; NaN unknown */
	bool reads_only;		   /* so that response_s is the time of reads */
};

/*
 * hit_s, miss_s (NaN: of the profile), wanted (hit ratio): NaN where not known or asked. -ENODATA
 * where the profile has no curve.
 */
int cache_advise(struct cache_advice *out, const struct profile_group *g, double hit_s,
		 double miss_s, double wanted);

#endif
