/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closed: intensity as a closed system sees it: active clients, requests in flight, think time.
 *
 * Clients (eq. 5.4): the period is cut into intervals of 1/phi from its begin on; in each, the
 * distinct threads that submitted a request are counted, kernel threads and unknown submitters
 * excluded, and the counts are averaged, weighted by the length of the intervals (the last may be
 * cut short by the period's end). A request that arrived before the interval being filled counts
 * in that one: its client was still waiting.
 *
 * In flight: the exact integral of the number of requests between arrival and completion. A period
 * holds the requests that completed in it, and each is credited whole, from its arrival to its
 * completion, to the period in which it completed. So Little's law N = X R is an identity in every
 * period; the sum over adjacent periods is the whole to the nanosecond; and in a steady state what
 * a period takes in from before its begin is what it hands on past its end.
 *
 * One that was under way in a pause (REQUEST_PAUSED) is not: how long it was served is not known.
 *
 * Think time: a sample is the gap from a completion to the thread's next arrival, where the thread
 * had nothing else outstanding from that request's arrival to its completion. Threads with several
 * requests outstanding give none. After closed_clear() a thread's last completion is remembered.
 *
 * Memory: CLOSED_MAX_CLIENTS threads, 72 bytes each when full (288 KiB). When it is full, threads
 * not seen in the current interval are forgotten (their next gap gives no think time); where all
 * were seen, further ones are counted by linear counting on a bitmap of 2^15 bits (4 KiB, standard
 * error below 1 % up to 60 000 more) and give no think time.
 *
 * The cost of a request is O(1) amortized.
 */
#ifndef WORKLOAD_CLOSED_H
#define WORKLOAD_CLOSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"
#include "base/u64map.h"

#define CLOSED_MAX_CLIENTS 4096
#define CLOSED_INTERVAL_NS 1000000000ull /* 1/phi by default */

struct closed_client;

struct closed {
	uint64_t begin_ns, interval_ns;
	uint64_t interval_begin_ns; /* of the interval being filled */
	uint32_t interval;	    /* changes with it: marks who was seen */
	uint32_t period;	    /* changes with closed_clear() */
	uint32_t seen;		    /* distinct clients of the interval being filled ... */
	uint32_t swept;		    /* the interval in which the table was last cleaned */
	uint64_t *overflow;	    /* ... beside those in this bitmap, NULL or as needed */
	bool overflowed;
	double client_area; /* clients times ns of the finished intervals */

	unsigned __int128 flight_ns;	/* sum of completion - arrival */
	uint64_t nr, nr_timed;		/* requests; of them, with a known completion */
	uint64_t nr_kernel, nr_unknown; /* from kernel threads; from nobody known */

	uint64_t think_ns, nr_think;

	struct u64map index; /* tid to clients[] */
	struct closed_client *clients;
	size_t cap_clients;
};

/* Allocates nothing. interval_ns > 0. */
void closed_init(struct closed *c, uint64_t begin_ns, uint64_t interval_ns);
void closed_release(struct closed *c);
/* The next period; threads and their last completions stay. */
void closed_clear(struct closed *c, uint64_t begin_ns);
/* What comes next is no think time of anybody: nothing ran in between. */
void closed_forget_completions(struct closed *c);
/* 0, or -ENOMEM: some clients and think times are missing. */
int closed_add_many(struct closed *c, const struct request *r, size_t nr);

/* Over [begin, end_ns); NaN where end_ns <= begin, or where no request's submitter was known. */
double closed_clients_mean(const struct closed *c, uint64_t end_ns);
/* NaN where end_ns <= begin, or where more than 1 % of the completions are unknown. */
double closed_in_flight_mean(const struct closed *c, uint64_t end_ns);
/* NaN without a sample. */
double closed_think_time_mean_s(const struct closed *c);
size_t closed_memory(const struct closed *c);

#endif
