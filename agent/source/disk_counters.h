/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk_counters: a line of /proc/diskstats, what changed between two of them, and the profile that
 * follows from it. Format: the kernel's Documentation/admin-guide/iostats.rst.
 */
#ifndef AGENT_DISK_COUNTERS_H
#define AGENT_DISK_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/profile/profile.h"

#define DISK_NAME_BYTES	       64
#define DISK_COUNTERS_COLUMNS  14 /* at least: major, minor, name and eleven counters */
#define DISK_COUNTERS_DISCARDS 18 /* since 4.18: four of discards */
#define DISK_COUNTERS_FLUSHES  20 /* since 5.5: two of flushes */

/* By operation: OPERATION_READ, _WRITE, _DISCARD, _FLUSH. What a kernel does not count is 0. */
#define DISK_OPERATIONS (OPERATION_FLUSH + 1)

struct disk_counters {
	uint32_t device;
	unsigned int nr_columns;
	char name[DISK_NAME_BYTES];
	uint64_t completed[DISK_OPERATIONS];
	uint64_t merged[DISK_OPERATIONS];
	uint64_t sectors[DISK_OPERATIONS];
	uint64_t ms[DISK_OPERATIONS]; /* sum of response times */
	uint64_t in_flight;	      /* now */
	uint64_t busy_ms;	      /* with something under way */
	uint64_t queue_ms;	      /* the kernel's own integral of what is under way */
};

/* One line, ended by '\n' or 0. 0, or -EINVAL: it is no such line; out is untouched then. */
int disk_counters_parse(struct disk_counters *out, const char *line);

/*
 * after - before; in_flight is after's. Counters wrap at 2^32 where the kernel keeps or prints 32
 * bits (times everywhere). False: the device began anew in between, nothing can be told.
 */
bool disk_counters_change(const struct disk_counters *before, const struct disk_counters *after,
			  struct disk_counters *out);
/* Whether nothing at all happened in this change, nor is under way. */
bool disk_counters_are_idle(const struct disk_counters *change);

/*
 * What a change over so many seconds (> 0) says: counts, bytes, mean sizes and response times, the
 * rate, and the mean in flight by Little's law: the sum of all response times over the period. All
 * else stays as profile_init() left it, with the counts that are unknown marked. Flush commands
 * have no part in the rate or in flight: the write that waited for one has.
 */
void disk_counters_profile(const struct disk_counters *change, double seconds, struct profile *p);

#endif
