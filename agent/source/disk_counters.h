/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk_counters: reads one line of /proc/diskstats, computes the difference of two such lines, and
 * derives a profile from the difference. The format is described in the kernel's
 * Documentation/admin-guide/iostats.rst.
 */
#ifndef AGENT_DISK_COUNTERS_H
#define AGENT_DISK_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/profile/profile.h"

#define DISK_NAME_BYTES 64
/* The least number of columns: major, minor, name and eleven counters. */
#define DISK_COUNTERS_COLUMNS  14
#define DISK_COUNTERS_DISCARDS 18 /* Linux 4.18 added four counters of discards. */
#define DISK_COUNTERS_FLUSHES  20 /* Linux 5.5 added two counters of flushes. */

/*
 * Arrays are indexed by OPERATION_READ, _WRITE, _DISCARD and _FLUSH. A value that the kernel does
 * not count is 0.
 */
#define DISK_OPERATIONS (OPERATION_FLUSH + 1)

struct disk_counters {
	uint32_t device;
	unsigned int nr_columns;
	char name[DISK_NAME_BYTES];
	uint64_t completed[DISK_OPERATIONS];
	uint64_t merged[DISK_OPERATIONS];
	uint64_t sectors[DISK_OPERATIONS];
	uint64_t ms[DISK_OPERATIONS]; /* sum of the response times */
	uint64_t in_flight;	      /* requests in flight at the time of reading */
	uint64_t busy_ms;	      /* time during which at least one request was in flight */
	/* the kernel's own integral of the requests in flight over time */
	uint64_t queue_ms;
};

/*
 * Parses one line, which ends with '\n' or 0. Returns 0, or -EINVAL where the line has another
 * format; out is then untouched.
 */
int disk_counters_parse(struct disk_counters *out, const char *line);

/*
 * Computes after - before; in_flight is taken from after. Counters wrap at 2^32 where the kernel
 * keeps or prints 32 bits, which it does for all times. Returns false where the device's counters
 * were reset in between, so that no difference exists.
 */
bool disk_counters_change(const struct disk_counters *before, const struct disk_counters *after,
			  struct disk_counters *out);
/* Returns whether nothing happened during this interval and nothing is in flight at its end. */
bool disk_counters_are_idle(const struct disk_counters *change);

/*
 * Fills p from a difference over this many seconds (> 0): counts, bytes, mean sizes, mean response
 * times, the request rate, and the mean number of requests in flight by Little's law (the sum of
 * all response times divided by the interval). All other fields keep what profile_init() set, and
 * counts that are unknown are marked as unknown. Flush commands contribute neither to the rate nor
 * to the requests in flight, because the write that waited for a flush already does.
 */
void disk_counters_profile(const struct disk_counters *change, double seconds, struct profile *p);

#endif
