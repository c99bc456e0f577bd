/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_answer: shows the gain of a cache for one load or for several loads as an answer
 * (answer.h).
 */
#ifndef ANALYZER_WHATIF_CACHE_CACHE_ANSWER_H
#define ANALYZER_WHATIF_CACHE_CACHE_ANSWER_H

#include "analyzer/answer/answer.h"
#include "analyzer/characterize/profile_set.h"
#include "analyzer/whatif/cache/cache_advice.h"
#include "analyzer/whatif/headroom/study_slo.h"

struct cache_result {
	const struct profile_group *const *loads; /* borrowed */
	const struct cache_advice *advice;	  /* one per load; borrowed */
	size_t nr;
	double hit_ratio; /* the requested hit ratio; NaN: none requested */
	/*
	 * One cache for all loads, in bytes; the arrays of parts have one entry per load, are
	 * borrowed, and NULL with one load.
	 */
	double size_bytes; /* with one load: its own cache; 0: at the knee */
	const double *shared, *equal, *parted;
	const struct cache_stream *streams; /* borrowed */
	/* These are the objectives on means, and the verdict of cache_judge(). */
	struct study_slo slo;
	enum study_slo_verdict slo_verdict;
	char slo_words[512];
};

/*
 * This struct holds the times of a load by direction: those of hits, and those of misses with the
 * upper end of their interval.
 */
struct cache_times {
	double hit_s, miss_s[2], miss_high_s[2]; /* NaN: unknown */
};

/*
 * Judges the objectives for every load, with the share of the cache that the load has. The curve
 * counts reads and writes together: the mean of a direction is that with the hits of both, and the
 * upper end of its interval is that with as few hits as the curve allows for the direction.
 */
void cache_judge(struct cache_result *r, const struct cache_times *times);

/* Writes "host device" to out. */
void cache_load_name(const struct cache_result *r, size_t load, char out[128]);
/* Returns the share of all references that hit if each load has its part. */
double cache_hits(const struct cache_result *r, const double *part);
/* Returns the answer "blkcast.cache/1" without pictures; NULL if memory is out. */
struct answer *cache_answer(const struct cache_result *r);

#endif
