/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequential: the interleaved-sequential ratio (Algorithm 1 of docs/methods.md) in one pass.
 *
 * Request j continues request i when it begins at the sector where i ended. The requests are
 * divided, in order of arrival, into subsets of a fixed number. In a subset each request is paired
 * with the first later request that continues it, and both are counted and removed. The result is
 * the mean over the subsets of counted / size (eq. 5.12). The last subset may be shorter.
 *
 * The definition has two nested loops and costs O(size^2). Here an arriving request looks up its
 * first sector among the open ends. If a request is open there, the oldest such request and the
 * arriving one are closed; otherwise the arriving request opens its own end. Both ways match the
 * same requests: for each sector, the i-th request left open is taken by the next arrival that
 * begins there, and whether a request is removed as a continuation is known before its own turn
 * comes. tests/unit/workload/test_sequential.c compares the counts with those of the literal loops.
 *
 * Two more ratios are computed. stream_ratio is the share of requests that continue any earlier
 * request of the subset or are continued by a later one. continuing_ratio is the share of those
 * that continue an earlier one; it is (N-1)/N for runs of N, as fio counts.
 *
 * Ends wrap at 2^64 sectors. A subset ends where a period ends. A request that arrives slightly out
 * of order keeps the position in which it was fed. Cost: O(1) expected. Memory: 24 bytes per
 * request of a subset (96 KiB at 4096) from the first request on. Where `grows` is set, it is up to
 * 48 bytes for each request of the largest subset so far.
 */
#ifndef WORKLOAD_SEQUENTIAL_H
#define WORKLOAD_SEQUENTIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEQUENTIAL_SUBSET_REQUESTS 4096	 /* the default */
#define SEQUENTIAL_SUBSET_MAX	   32768 /* because request numbers have 16 bits */

struct sequential_end;

struct sequential {
	uint32_t subset_requests;    /* 1 to SEQUENTIAL_SUBSET_MAX */
	bool grows;		     /* grows with use; else memory is allocated whole at first */
	uint32_t cap;		     /* number of requests for which ends has room */
	unsigned int bits;	     /* log2 of the slots in the table of ends */
	uint64_t secret;	     /* decides where an end goes, and nothing else */
	uint16_t *table;	     /* number + 1 of the first request with that end; 0: free */
	struct sequential_end *ends; /* [cap], by request number */
	uint32_t nr;		     /* requests of the subset being filled */
	uint32_t counted, streaming, continuing; /* of these: paired; in a stream; not its first */
	uint64_t nr_closed;			 /* number of finished subsets */
	double sum_ratios;			 /* sum of the ratios of finished subsets */
	/* of finished subsets */
	uint64_t all_requests, all_counted, all_streaming, all_continuing;
};

/* subset_requests must be in its range. Allocates nothing. */
void sequential_init(struct sequential *s, uint32_t subset_requests);
void sequential_release(struct sequential *s);
/* Empties the struct and keeps its memory. */
void sequential_clear(struct sequential *s);
/*
 * Adds a request by its first sector and the sector after its last. Returns 0, or -ENOMEM where it
 * is not counted.
 */
int sequential_add(struct sequential *s, uint64_t start, uint64_t end);
/* Each ratio is in 0..1, or NaN while empty. */
double sequential_ratio(const struct sequential *s);
double sequential_stream_ratio(const struct sequential *s);
double sequential_continuing_ratio(const struct sequential *s);
/* Counts requests over all subsets, including the unfinished one. */
uint64_t sequential_counted(const struct sequential *s);
size_t sequential_memory(const struct sequential *s);

#endif
