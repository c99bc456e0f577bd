/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/arrivals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of completions for which there is room at first, and at most. */
#define ARRIVALS_FIRST_ENDS 32
#define ARRIVALS_MOST_ENDS  ((size_t)TALLY_OUTSTANDING_MORE)
/* At most this many completions are moved one by one before a binary search begins. */
#define ARRIVALS_NEAR 32

void arrivals_release(struct arrivals *a)
{
	free(a->ends);
	memset(a, 0, sizeof(*a));
}

void arrivals_clear(struct arrivals *a)
{
	memset(a->direction, 0, sizeof(a->direction));
}

void arrivals_forget(struct arrivals *a)
{
	a->has_before = a->has_arrival = false;
	a->resume_ns = 0;
}

void arrivals_break(struct arrivals *a, uint64_t end_ns)
{
	if (a->has_before)
		a->resume_ns = end_ns;
}

/*
 * Makes room for one more completion behind the others. The array is twice as long as what can be
 * under way, so that the others are moved to its begin only once for many requests.
 */
static int arrivals_make_room(struct arrivals *a)
{
	size_t cap = a->cap_ends ? 2 * a->cap_ends : ARRIVALS_FIRST_ENDS;
	uint64_t *ends;

	if (a->first + a->nr < a->cap_ends)
		return 0;
	if (a->nr && a->first)
		memmove(a->ends, a->ends + a->first, a->nr * sizeof(*a->ends));
	a->first = 0;
	if (2 * a->nr < a->cap_ends || a->cap_ends > ARRIVALS_MOST_ENDS)
		return 0;
	ends = realloc(a->ends, cap * sizeof(*ends));
	if (!ends)
		return a->nr < a->cap_ends ? 0 : -ENOMEM;
	a->ends = ends;
	a->cap_ends = cap;
	return 0;
}

/* Returns how many of the completions, which ascend, are not later than end_ns. */
static size_t arrivals_place_of(const uint64_t *ends, size_t nr, uint64_t end_ns)
{
	size_t first = 0, end = nr;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (ends[middle] <= end_ns)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* Puts a completion among nr others. Near the end, moving one by one is cheaper. */
static void arrivals_insert(uint64_t *ends, size_t nr, uint64_t end_ns)
{
	size_t near = nr > ARRIVALS_NEAR ? nr - ARRIVALS_NEAR : 0, at = nr;

	for (; at > near && ends[at - 1] > end_ns; at--)
		ends[at] = ends[at - 1];
	if (at == near && at) {
		size_t place = arrivals_place_of(ends, at, end_ns);

		memmove(ends + place + 1, ends + place, (at - place) * sizeof(*ends));
		at = place;
	}
	ends[at] = end_ns;
}

static int arrivals_put_end(struct arrivals *a, uint64_t end_ns)
{
	int ret;

	if (a->nr == ARRIVALS_MOST_ENDS) { /* drop the earliest, maybe this one */
		if (end_ns <= a->ends[a->first])
			return 0;
		a->first++;
		a->nr--;
	}
	ret = arrivals_make_room(a);
	if (ret)
		return ret;
	arrivals_insert(a->ends + a->first, a->nr, end_ns);
	a->nr++;
	return 0;
}

static void arrivals_drop_ended(struct arrivals *a)
{
	while (a->nr && a->ends[a->first] <= a->latest_ns) {
		a->first++;
		a->nr--;
	}
}

/* The time since the latest arrival, which is now that of this request where it is later. */
static uint64_t arrivals_advance(struct arrivals *a, uint64_t arrival_ns)
{
	uint64_t gap_ns = arrival_ns > a->latest_ns ? arrival_ns - a->latest_ns : 0;

	a->latest_ns += gap_ns;
	return gap_ns;
}

/* The agent has counted what was under way (agent/capture/reorder.h); importers have not. */
static bool arrivals_knows_depth(const struct request *r)
{
	return r->source == SOURCE_BPF || r->source == SOURCE_BLKTRACE ||
	       r->source == SOURCE_TRACEFS;
}

static void arrivals_count_found(struct arrivals *a, struct arrival_counts *c,
				 const struct request *r)
{
	uint64_t gap_ns = arrivals_advance(a, r->arrival_ns), nr = r->queue_depth;

	if (a->has_arrival)
		c->interarrival[arrival_interarrival_index(gap_ns)]++;
	if (!arrivals_knows_depth(r)) {
		arrivals_drop_ended(a);
		nr = a->nr;
	}
	c->outstanding[arrival_outstanding_index(nr)]++;
}

static int arrivals_add(struct arrivals *a, const struct request *r)
{
	struct arrival_counts *c = &a->direction[r->operation == OPERATION_WRITE];
	bool is_known = !(r->flags & REQUEST_NO_ARRIVAL);

	if (a->resume_ns && r->arrival_ns >= a->resume_ns)
		arrivals_forget(a);
	if (a->has_before)
		c->seek[arrival_seek_index(a->end_sector, r->sector)]++;
	if (is_known)
		arrivals_count_found(a, c, r);
	a->has_before = true;
	a->has_arrival = is_known;
	a->end_sector = r->sector + request_sectors(r);
	if (arrivals_knows_depth(r) || r->flags & REQUEST_NO_COMPLETION ||
	    r->completion_ns <= a->latest_ns)
		return 0;
	return arrivals_put_end(a, r->completion_ns);
}

int arrivals_add_many(struct arrivals *a, const struct request *r, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr; i++)
		if (request_is_data(&r[i]))
			ret |= arrivals_add(a, &r[i]);
	return ret ? -ENOMEM : 0;
}

int arrivals_tallies(const struct arrivals *a, enum operation operation,
		     struct arrival_tally tallies[NR_TALLIES])
{
	const struct arrival_counts *c = &a->direction[operation];
	int ret =
		arrival_tally_make(&tallies[TALLY_OUTSTANDING], TALLY_OUTSTANDING, c->outstanding);

	if (!ret)
		ret = arrival_tally_make(&tallies[TALLY_INTERARRIVAL], TALLY_INTERARRIVAL,
					 c->interarrival);
	if (!ret)
		ret = arrival_tally_make(&tallies[TALLY_SEEK], TALLY_SEEK, c->seek);
	return ret;
}

size_t arrivals_memory(const struct arrivals *a)
{
	return a->cap_ends * sizeof(*a->ends);
}
