/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closed: describes the intensity of a load as a closed system: active clients, requests in flight,
 * and think time.
 *
 * Clients (eq. 5.4 of docs/methods.md): the period is divided into intervals of 1/phi from its
 * begin. In each interval the distinct threads that submitted a request are counted, without kernel
 * threads and unknown submitters. The result is the mean of these counts, weighted by the length of
 * the intervals, since the end of the period may cut the last one short. A request that arrived
 * before the current interval counts in the current interval, because its client was still waiting.
 *
 * In flight: the exact integral of the number of requests between arrival and completion. A period
 * holds the requests that completed in it. The whole time of a request, from arrival to completion,
 * counts in the period in which it completed. Little's law N = X R is therefore an identity in
 * every period, and adjacent periods sum to the whole exactly, to the nanosecond. In a steady state
 * the time that a period takes over from before its begin equals the time that it leaves to the
 * period after its end.
 *
 * A request that was under way during a pause (REQUEST_PAUSED) is not counted in flight, because
 * its service time is unknown.
 *
 * Think time: a sample is the gap from a completion to the next arrival of the same thread. The
 * thread must have had nothing else outstanding from that request's arrival to its completion, so
 * threads with several outstanding requests give no samples. closed_clear() keeps the last
 * completion of each thread.
 *
 * Memory: CLOSED_MAX_CLIENTS threads, which take 72 bytes each when full (288 KiB). When the table
 * is full, threads not seen in the current interval are removed, and their next gap gives no think
 * time. Where all were seen, further threads are counted by linear counting on a bitmap of 2^15
 * bits (4 KiB, standard error below 1 % for up to 60 000 more) and give no think time.
 *
 * A request costs O(1) amortized.
 */
#ifndef WORKLOAD_CLOSED_H
#define WORKLOAD_CLOSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/u64map.h"
#include "formats/request.h"

#define CLOSED_MAX_CLIENTS 4096
#define CLOSED_INTERVAL_NS 1000000000ull /* 1/phi by default */

struct closed_client;

struct closed {
	uint64_t begin_ns, interval_ns;
	uint64_t interval_begin_ns; /* begin of the interval being filled */
	uint32_t interval;	    /* its number; marks the clients seen in it */
	uint32_t period;	    /* number of the period; closed_clear() changes it */
	uint32_t seen;		    /* distinct clients of that interval in the table */
	uint32_t swept;		    /* the interval in which the table was last cleaned */
	uint64_t *overflow;	    /* bitmap for the clients that the table cannot hold; NULL until
				     * needed */
	bool overflowed;
	double client_area; /* clients times ns of the finished intervals */

	unsigned __int128 flight_ns;	/* sum of completion - arrival */
	uint64_t nr, nr_timed;		/* requests; nr_timed: those with a known completion */
	uint64_t nr_kernel, nr_unknown; /* requests of kernel threads, and of unknown submitters */

	uint64_t think_ns, nr_think;

	struct u64map index; /* tid to clients[] */
	struct closed_client *clients;
	size_t cap_clients;
};

/* Allocates nothing. interval_ns must be above 0. */
void closed_init(struct closed *c, uint64_t begin_ns, uint64_t interval_ns);
void closed_release(struct closed *c);
/* Begins the next period. The threads and their last completions are kept. */
void closed_clear(struct closed *c, uint64_t begin_ns);
/* Notes a time that was not observed: the next gap of every thread gives no think time. */
void closed_forget_completions(struct closed *c);
/* Returns 0, or -ENOMEM where some clients and think times are missing. */
int closed_add_many(struct closed *c, const struct request *r, size_t nr);

/*
 * Returns the mean number of clients over [begin, end_ns); NaN if end_ns <= begin or if no
 * request's submitter was known.
 */
double closed_clients_mean(const struct closed *c, uint64_t end_ns);
/* Returns NaN if end_ns <= begin or if more than 1 % of the completions are unknown. */
double closed_in_flight_mean(const struct closed *c, uint64_t end_ns);
/* Returns the mean think time; NaN without a sample. */
double closed_think_time_mean_s(const struct closed *c);
size_t closed_memory(const struct closed *c);

#endif
