/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_answer: the gain of a cache for one load or for several loads, as an answer that can be
 * shown.
 */
#ifndef ANALYZER_WHATIF_CACHE_ANSWER_H
#define ANALYZER_WHATIF_CACHE_ANSWER_H

#include "analyzer/answer/answer.h"
#include "analyzer/characterize/profile_set.h"
#include "analyzer/whatif/cache_advice.h"

struct cache_result {
	const struct profile_group *const *loads; /* borrowed */
	const struct cache_advice *advice;	  /* one per load; borrowed */
	size_t nr;
	double hit_ratio; /* the requested hit ratio; NaN: none requested */
	/*
	 * One cache for all loads, in bytes; the arrays of parts have one entry per load, are
	 * borrowed, and NULL with one load.
	 */
	double size_bytes;
	const double *shared, *equal, *parted;
	const struct cache_stream *streams; /* borrowed */
};

/* Writes "host device" to out. */
void cache_load_name(const struct cache_result *r, size_t load, char out[128]);
/* Returns the share of all references that hit if each load has its part. */
double cache_hits(const struct cache_result *r, const double *part);
/* Returns the answer "blkcast.cache/1" without pictures; NULL if memory is out. */
struct answer *cache_answer(const struct cache_result *r);

#endif
