/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrival_tally: counts, on three fixed grids, the state of the device that requests found when
 * they arrived.
 *
 * The grids are those of the pictures that storage engineers know from vscsiStats: how many other
 * requests were under way (TALLY_OUTSTANDING), how long ago the request before had arrived
 * (TALLY_INTERARRIVAL), and how far from the end of the request before this one begins
 * (TALLY_SEEK). The grids never depend on the data, so that the tallies of windows, devices and
 * hosts are added without any loss. A bucket is named by its upper end, which belongs to it:
 *
 *   outstanding   0, 1, ... 16, then four per power of two (20, 24, 28, 32, 40, ... 1024), then
 *                 TALLY_OUTSTANDING_MORE for every larger number
 *   interarrival  i for more than 2^((i-8)/32) and up to 2^(i/32) seconds: each eighth bucket of
 *                 a histogram of response times (formats/histogram.h), i a multiple of 8 from
 *                 -952 to 448. The first also holds 0, the last also what is longer.
 *   seek          0 where the request goes on at that end, 2^k for more than 2^(k-1) and up to
 *                 2^k sectors forward, -2^k for the same backward, k from 0 to 54
 *
 * An estimator counts in plain arrays, by index (workload/arrivals.h). A profile keeps the buckets
 * that have a count, in ascending order; a window of a steady load has some ten of each kind.
 */
#ifndef FORMATS_ARRIVAL_TALLY_H
#define FORMATS_ARRIVAL_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/histogram.h"

enum arrival_kind {
	TALLY_OUTSTANDING,
	TALLY_INTERARRIVAL,
	TALLY_SEEK,
};
#define NR_TALLIES	       3

#define TALLY_NEAR_SECTORS     256  /* 128 KiB: the reach of read-ahead and merging */
#define TALLY_OUTSTANDING_MOST 1024 /* larger numbers share a bucket */
#define TALLY_OUTSTANDING_MORE (TALLY_OUTSTANDING_MOST + 1)

/* Numbers of buckets. */
#define TALLY_NR_OUTSTANDING  42
#define TALLY_NR_INTERARRIVAL 176
#define TALLY_NR_SEEK	      111
#define TALLY_NR_MOST	      TALLY_NR_INTERARRIVAL

/* Return the index of a bucket, from 0 on, in ascending order of the buckets. */
static inline unsigned int arrival_outstanding_index(uint64_t nr)
{
	unsigned int octave;

	if (nr <= 16)
		return (unsigned int)nr;
	if (nr > TALLY_OUTSTANDING_MOST)
		return TALLY_NR_OUTSTANDING - 1;
	octave = 63 - (unsigned int)__builtin_clzll(nr - 1); /* 4 to 9 */
	return 17 + (octave - 4) * 4 + (unsigned int)((nr - 1) >> (octave - 2) & 3);
}

static inline unsigned int arrival_interarrival_index(uint64_t gap_ns)
{
	/* Rounds up to a multiple of 8; the shift makes the sum positive and keeps multiples. */
	return (unsigned int)(histogram_bucket(gap_ns) + 960 + 7) / 8 - 1;
}

/*
 * from_sector is the sector after the end of the request before; sectors lie below
 * REQUEST_END_SECTOR_MAX.
 */
static inline unsigned int arrival_seek_index(uint64_t from_sector, uint64_t to_sector)
{
	bool is_ahead = to_sector >= from_sector;
	uint64_t sectors = is_ahead ? to_sector - from_sector : from_sector - to_sector;
	unsigned int away = sectors > 1 ? 65 - (unsigned int)__builtin_clzll(sectors - 1)
					: (unsigned int)sectors;

	if (away > TALLY_NR_SEEK / 2)
		away = TALLY_NR_SEEK / 2;
	return is_ahead ? TALLY_NR_SEEK / 2 + away : TALLY_NR_SEEK / 2 - away;
}

/* Returns the number of buckets of a grid, and the name of the bucket of an index. */
unsigned int arrival_tally_nr(enum arrival_kind kind);
int64_t arrival_tally_bucket(enum arrival_kind kind, unsigned int index);
/* Returns whether the grid has a bucket of that name. */
bool arrival_tally_is_bucket(enum arrival_kind kind, int64_t bucket);

struct arrival_tally_count {
	int64_t bucket;
	uint64_t count; /* above 0 */
};

/* A zeroed struct is empty. */
struct arrival_tally {
	struct arrival_tally_count *counts; /* owned; by bucket ascending */
	size_t nr;
};

void arrival_tally_release(struct arrival_tally *t);
/* Makes the tally of the counts of all buckets, by index. t is empty. Returns 0 or -ENOMEM. */
int arrival_tally_make(struct arrival_tally *t, enum arrival_kind kind, const uint64_t *by_index);
/* Makes a deep copy; *dst is overwritten. Returns 0, or -ENOMEM with dst empty. */
int arrival_tally_copy(struct arrival_tally *dst, const struct arrival_tally *src);
/* Adds src to dst. Returns 0, or -ENOMEM with dst unchanged. */
int arrival_tally_merge(struct arrival_tally *dst, const struct arrival_tally *src);
uint64_t arrival_tally_total(const struct arrival_tally *t);
/* Returns the counts in buckets of `from` to `to`, both included. */
uint64_t arrival_tally_between(const struct arrival_tally *t, int64_t from, int64_t to);
/* Returns the share of these counts among all, 0 to 1; NaN while empty. */
double arrival_tally_share(const struct arrival_tally *t, int64_t from, int64_t to);
/*
 * Returns the mean of the buckets' names, which must be numbers (TALLY_OUTSTANDING); NaN if empty.
 */
double arrival_tally_mean(const struct arrival_tally *t);
/*
 * Sets *bucket to the bucket with the value of rank ceil(p nr), 0 < p < 1. Returns false if empty.
 */
bool arrival_tally_quantile(const struct arrival_tally *t, double p, int64_t *bucket);

#endif
