/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compact_plan: chooses which bundles of a cluster are written together into one larger object.
 *
 * A bundle is full when it has COMPACT_FULL_SEGMENTS segments or COMPACT_FULL_BYTES bytes; it is
 * then left alone until half of its bytes are no longer used. Bundles of one day that have been
 * written equally often are joined by COMPACT_FAN_IN, so that each byte is copied about
 * log(full / received) / log(COMPACT_FAN_IN) times. Bundles of days that are over are joined across
 * days as long as the largest of them is at most half of the result, so that few small ones remain.
 *
 * A day's own bundles stay apart from another day's while they can, because retention removes
 * requests by age and then empties whole objects.
 */
#ifndef ANALYZER_COMPACT_PLAN_H
#define ANALYZER_COMPACT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMPACT_FAN_IN	      8
#define COMPACT_FULL_SEGMENTS 16384u
#define COMPACT_MAX_SEGMENTS  32768u
#define COMPACT_FULL_BYTES    (3ull << 30)
#define COMPACT_MAX_BYTES     (4ull << 30) /* S3 takes at most 5 GiB in one put */

struct compact_bundle {
	uint64_t id, bytes, used_bytes, nr_segments;
	int64_t day;	 /* days since 1970 on which its segments were received */
	uint32_t copies; /* how often its segments were copied by compaction */
};

struct compact_group {
	size_t first, nr; /* a range of the bundles */
	uint32_t copies;  /* of the bundle that takes their place */
};

/*
 * Reorders the bundles and finds the next group to be joined. Days before today are over. max_bytes
 * bounds the bytes of a group's whole bundles, and is at most COMPACT_MAX_BYTES. Returns false if
 * there is none.
 */
bool compact_plan(struct compact_bundle *bundles, size_t nr, int64_t today, uint64_t max_bytes,
		  struct compact_group *out);

#endif
