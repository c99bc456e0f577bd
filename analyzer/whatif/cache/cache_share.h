/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_share: this module computes from miss-ratio curves what several loads gain from a shared or
 * a partitioned cache.
 *
 * A curve is linear between its points, 1 without a cache, and flat beyond its last point. For a
 * shared LRU cache and independent, steady loads: in a time T load i fills c_i(T) bytes with d c_i
 * / dT = rate_i m_i(c_i), because only misses bring in new data (Xiang, Ding, Luo and Bao, "HOTL: a
 * Higher Order Theory of Locality", ASPLOS 2013). A cache of C bytes holds the data of the last T
 * for which all c_i(T) sum to C, and load i misses m_i(c_i(T)). On a linear piece the time is (ln
 * m_2 - ln m_1) / (slope rate). A load takes no more than its footprint. For a partitioned cache
 * the result is the best of three: the best allocation of 512ths of the cache (dynamic
 * programming), equal parts, and the parts that sharing gives.
 *
 * Only cache_parted() allocates memory. Sharing takes O(loads x points) per step of a bisection.
 */
#ifndef ANALYZER_CACHE_SHARE_H
#define ANALYZER_CACHE_SHARE_H

#include <stddef.h>

#include "analyzer/characterize/profile_set.h"

struct cache_stream {
	const struct cache_point *points; /* borrowed; sorted by cache_bytes, ascending */
	size_t nr;			  /* 0: no reference ever hits */
	double bytes_per_s;		  /* referenced, reads and writes; above 0 */
	double footprint_bytes;		  /* NaN: the end of the curve */
};

/*
 * Returns the stream of a load: its curve and footprint, and the bytes per second of its
 * description (load_facts.h).
 */
struct cache_stream cache_stream_of(const struct profile_group *g);
/* Returns the miss ratio of a stream that has a cache of its own. */
double cache_miss_ratio(const struct cache_stream *s, double bytes);
/* Returns the smallest cache with at least that hit ratio; NaN if no size reaches it. */
double cache_size_for(const struct cache_stream *s, double hit_ratio);
/*
 * Gives in part[nr] the bytes that each stream occupies in a shared cache of that size; their sum
 * is at most the size.
 */
void cache_shared(const struct cache_stream *s, size_t nr, double bytes, double *part);
/*
 * Gives in part[nr] sizes that sum to at most `bytes` and leave few misses. Returns 0 or -ENOMEM.
 */
int cache_parted(const struct cache_stream *s, size_t nr, double bytes, double *part);
/* Returns the miss ratio of all references together with these parts. */
double cache_misses(const struct cache_stream *s, size_t nr, const double *part);

#endif
