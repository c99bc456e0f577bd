/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_share: what several loads gain from a cache, shared or parted, by their miss-ratio curves.
 *
 * A curve is straight between its points, 1 at no cache, flat beyond its end. Shared LRU, the loads
 * independent and steady: in a time T load i fills c_i(T) bytes with d c_i / dT = rate_i m_i(c_i),
 * since only misses bring in new data (Xiang, Ding, Luo and Bao, "HOTL: a Higher Order Theory of
 * Locality", ASPLOS 2013); a cache of C bytes holds the last T for which all c_i(T) sum to C, and
 * load i misses m_i(c_i(T)). On straight pieces the time is (ln m_2 - ln m_1) / (slope rate).
 * A load takes no more than its footprint. Parted: the least misses of all ways to deal out
 * 512ths of the cache (dynamic programming), of equal parts, and of the parts that sharing gives.
 *
 * No allocation but in cache_parted(). Sharing takes O(loads x points) per step of a bisection.
 */
#ifndef ANALYZER_CACHE_SHARE_H
#define ANALYZER_CACHE_SHARE_H

#include <stddef.h>

#include "analyzer/characterize/profile_set.h"

struct cache_stream {
	const struct cache_point *points; /* borrowed; by cache_bytes ascending */
	size_t nr;			  /* 0: nothing ever hits */
	double bytes_per_s;		  /* referenced, reads and writes; above 0 */
	double footprint_bytes;		  /* NaN: the curve's end */
};

/* Of a load: its curve and footprint, and the bytes per second of its description (load_facts.h). */
struct cache_stream cache_stream_of(const struct profile_group *g);
/* Miss ratio with a cache to itself. */
double cache_miss_ratio(const struct cache_stream *s, double bytes);
/* The least cache with at least that hit ratio; NaN: none has it. */
double cache_size_for(const struct cache_stream *s, double hit_ratio);
/* part[nr]: the bytes that each has of a shared cache of that size; they sum to at most that. */
void cache_shared(const struct cache_stream *s, size_t nr, double bytes, double *part);
/* part[nr]: parts that sum to at most `bytes` and leave few misses. 0 or -ENOMEM. */
int cache_parted(const struct cache_stream *s, size_t nr, double bytes, double *part);
/* Miss ratio of all references together with these parts. */
double cache_misses(const struct cache_stream *s, size_t nr, const double *part);

#endif
