/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_question: answers what a cache in front of a target is worth to some loads (whatif/cache).
 * The answer has the hits of each load and, if the times of hits and misses are known, mean
 * response times; it knows no percentiles. At most CACHE_LOADS_MAX loads are allowed.
 */
#ifndef ANALYZER_QUESTION_CACHE_QUESTION_H
#define ANALYZER_QUESTION_CACHE_QUESTION_H

#include "analyzer/question/question.h"
#include "analyzer/whatif/cache/cache_answer.h"
#include "analyzer/whatif/cache/cache_share.h"

#define CACHE_LOADS_MAX 64

struct cache_question {
	struct question of;
	uint64_t size_bytes;  /* size of a cache for all loads; 0: the knees of all */
	double hit_ratio;     /* the share of hits that is asked for; NaN: none */
	double hit_s, miss_s; /* times of requests that hit and that miss; NaN: not given */
	/* The members below are set while the question is answered. */
	struct cache_advice advice[CACHE_LOADS_MAX];
	struct cache_stream streams[CACHE_LOADS_MAX];
	double shared[CACHE_LOADS_MAX], equal[CACHE_LOADS_MAX], parted[CACHE_LOADS_MAX];
	struct cache_times times[CACHE_LOADS_MAX];
	bool is_outside; /* a load lies outside of what the target's model knows */
};

/*
 * Returns 0 with *out, which the caller frees, or -errno. question_release() releases what the
 * question holds, whatever this returns.
 */
int cache_question_answer(struct answer **out, struct cache_question *q, struct err *err);

#endif
