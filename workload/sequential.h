/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequential: the interleaved-sequential ratio (Algorithm 1 of docs/methods.md) in one pass.
 *
 * Request j continues request i when it begins at the sector where i ended. In subsets of a fixed
 * number of requests, in order of arrival, each request takes the first later one that continues it
 * and both are counted and removed; the result is the mean over the subsets of counted / size (eq.
 * 5.12), the last subset possibly shorter.
 *
 * The definition reads as two nested loops, O(size^2). Here an arriving request looks up its first
 * sector among the open ends: the oldest request open there is closed by it and it is itself
 * closed; otherwise it opens its own end. The matching is the same one: for each sector, the i-th
 * request left open is taken by the next arrival that begins there, and whether a request is
 * removed as a continuation is settled before its own turn comes. tests/unit/test_sequential.c
 * holds the counts against the literal loops.
 *
 * Beside it, stream_ratio: the share of requests that continue any earlier request of the subset or
 * are continued by a later one, over all requests; and continuing_ratio: the share of those that
 * continue an earlier one, (N-1)/N for runs of N, as fio counts.
 *
 * Ends wrap at 2^64 sectors. A subset ends where a period ends. An
 * arrival out of order by a little keeps its place in the list as fed. Cost O(1) expected; memory
 * 24 bytes per request of a subset (96 KiB at 4096), once it has one; where `grows` is set, up to 48 bytes
 * for each request that the largest subset had so far.
 */
#ifndef WORKLOAD_SEQUENTIAL_H
#define WORKLOAD_SEQUENTIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEQUENTIAL_SUBSET_REQUESTS 4096	 /* the default */
#define SEQUENTIAL_SUBSET_MAX	   32768 /* request numbers are 16 bits */

struct sequential_end;

struct sequential {
	uint32_t subset_requests; /* 1 to SEQUENTIAL_SUBSET_MAX */
	bool grows;	   /* memory grows with use; else it is taken whole at the first request */
	uint32_t cap;	   /* requests that ends has room for */
	unsigned int bits; /* of the table of ends */
	uint16_t *table;   /* request number + 1 of the first with that end; 0: free */
	struct sequential_end *ends;		 /* [cap], by request number */
	uint32_t nr;				 /* requests of the open subset */
	uint32_t counted, streaming, continuing; /* of them: paired; in a stream; not its first */
	uint64_t nr_closed;			 /* finished subsets ... */
	double sum_ratios;			 /* ... and the sum of their ratios */
	/* of finished subsets */
	uint64_t all_requests, all_counted, all_streaming, all_continuing;
};

/* Takes a subset size in range. Allocates nothing. */
void sequential_init(struct sequential *s, uint32_t subset_requests);
void sequential_release(struct sequential *s);
/* Empties it, keeping the memory. */
void sequential_clear(struct sequential *s);
/* One request: first sector, and the sector after its last. 0, or -ENOMEM (not counted). */
int sequential_add(struct sequential *s, uint64_t start, uint64_t end);
/* 0..1; NaN while empty. */
double sequential_ratio(const struct sequential *s);
double sequential_stream_ratio(const struct sequential *s);
double sequential_continuing_ratio(const struct sequential *s);
/* Requests counted by Algorithm 1 over all subsets, finished or not. */
uint64_t sequential_counted(const struct sequential *s);
uint64_t sequential_streaming(const struct sequential *s);
size_t sequential_memory(const struct sequential *s);

#endif
