/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrivals: counts the state of the device that each read and write found when it arrived, on the
 * grids of formats/profile/arrival_tally.h: how many other requests of the device were under way,
 * how long ago the one before had arrived, and how far from the end of the one before it begins.
 * Reads and writes are counted apart; the request before may be of either kind.
 *
 * How many are under way is in the requests that an agent captured (queue_depth), also across
 * periods. In traces of others, under way are the reads and writes that were fed before and
 * complete after the latest arrival so far. Their completion times are kept in ascending order, at
 * most TALLY_OUTSTANDING_MORE of them. Where there are more, the earliest completion is dropped.
 * The number of those left stays exact up to that bound, above which the grid tells no numbers
 * apart. A request that completes in a later period is fed there, so that requests which arrived
 * after it and completed earlier do not find it. The counts of short periods of such traces are
 * therefore slightly too low: at most the requests under way at the end of a period are missed.
 *
 * An arrival with a time before the latest arrival has the distance 0 from it and leaves the latest
 * unchanged, also in later periods. Requests of unknown arrival have only a distance on the device.
 * Requests of unknown direction count as reads, and window_profile.c adds reads and writes up where
 * there are any. Flushes, discards and the like are ignored.
 *
 * A captured request costs O(1). One of another trace costs O(1) where requests complete nearly in
 * the order in which they arrive, and a binary search and a memmove() of at most 8 KiB otherwise.
 * Memory: the struct, 5 KiB, and for traces of others 16 KiB where a thousand requests are under
 * way. Merging adds the counts.
 */
#ifndef WORKLOAD_ARRIVALS_H
#define WORKLOAD_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/profile/profile.h"
#include "formats/request.h"

struct arrival_counts { /* counts of one direction, by index of the bucket */
	uint64_t outstanding[TALLY_NR_OUTSTANDING];
	uint64_t interarrival[TALLY_NR_INTERARRIVAL];
	uint64_t seek[TALLY_NR_SEEK];
};

struct arrivals {
	struct arrival_counts direction[2]; /* read, write */
	uint64_t *ends;			    /* owned; completions under way, ascending */
	size_t first, nr, cap_ends;	    /* the completions are at [first, first + nr) */
	uint64_t latest_ns;		    /* latest arrival */
	uint64_t end_sector;		    /* end of the request before */
	uint64_t resume_ns;		    /* if not 0: the time up to here was not observed */
	bool has_arrival;		    /* The arrival of the request before is known. */
	bool has_before;		    /* There was a request before. */
};

/* A zeroed struct is empty. */
void arrivals_release(struct arrivals *a);
/* Begins the next period. The request before and those under way are kept. */
void arrivals_clear(struct arrivals *a);
/* Forgets the request before after a pause: the next request has none before it. */
void arrivals_forget(struct arrivals *a);
/*
 * Marks the time up to end_ns as not observed. The first request that arrives afterwards has no
 * request before it.
 */
void arrivals_break(struct arrivals *a, uint64_t end_ns);
/* Returns 0, or -ENOMEM where some requests are missing among those under way. */
int arrivals_add_many(struct arrivals *a, const struct request *r, size_t nr);
/* Writes the counts of a direction (as enum operation) to empty tallies. Returns 0 or -ENOMEM. */
int arrivals_tallies(const struct arrivals *a, enum operation operation,
		     struct arrival_tally tallies[NR_TALLIES]);
size_t arrivals_memory(const struct arrivals *a);

#endif
