/* SPDX-License-Identifier: Apache-2.0 */
/* cache_answer: what a cache is worth to one load or to several, as an answer that can be shown. */
#ifndef ANALYZER_WHATIF_CACHE_ANSWER_H
#define ANALYZER_WHATIF_CACHE_ANSWER_H

#include "analyzer/answer/answer.h"
#include "analyzer/characterize/profile_set.h"
#include "analyzer/whatif/cache_advice.h"

struct cache_result {
	const struct profile_group *const *loads; /* borrowed */
	const struct cache_advice *advice;	  /* of each load; borrowed */
	size_t nr;
	double hit_ratio; /* asked for; NaN: none */
	/* One cache for all loads, in bytes; the parts are by load, borrowed, and NULL with one load. */
	double size_bytes;
	const double *shared, *equal, *parted;
	const struct cache_stream *streams; /* borrowed */
};

/* "host device", in out. */
void cache_load_name(const struct cache_result *r, size_t load, char out[128]);
/* The share of all references that hit where each load has its part. */
double cache_hits(const struct cache_result *r, const double *part);
/* The answer "blkcast.cache/1" without pictures; NULL where memory is out. */
struct answer *cache_answer(const struct cache_result *r);

#endif
