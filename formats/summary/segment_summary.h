/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_summary: holds the facts that retention keeps of segments of one stream whose requests it
 * removed: their names and hashes, the facts of their headers, and one merged profile per device.
 * Once the profiles are removed too, the number of requests that they described is kept.
 * formats/summary/segment_summary.md is the normative text.
 */
#ifndef FORMATS_SEGMENT_SUMMARY_H
#define FORMATS_SEGMENT_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory/buf.h"
#include "base/text/err.h"
#include "formats/ledger.h"
#include "formats/profile/profile.h"
#include "formats/segment/segment.h"

#define SUMMARY_VERSION	       1
#define SUMMARY_MAX_BYTES      (8u << 20)  /* size of a file */
#define SUMMARY_MAX_TEXT_BYTES (16u << 20) /* size of its uncompressed text */
/* size of one profile or other item of a list in the text */
#define SUMMARY_MAX_ITEM_BYTES (256u << 10)
#define SUMMARY_MAX_MEMBERS    65536u
#define SUMMARY_MAX_DEVICES    8192u
#define SUMMARY_MAX_LOSSES     16384u
/* memory of all profiles by summary_profile_bytes() */
#define SUMMARY_MAX_PROFILE_BYTES (16u << 20)
#define SUMMARY_MAX_SIZES	  2048u /* entries that summary_fit() leaves in a list of sizes */
#define SUMMARY_WINDOW_LOG	  21	/* most of the zstd frame */

struct summary_member { /* One segment of the summary. */
	uint64_t sequence;
	struct segment_hash hash; /* hash of the segment as it was acknowledged */
};

struct summary_device {
	uint32_t device;
	char name[SEGMENT_NAME_BYTES];
	uint64_t size_bytes;
	/* requests that are summarized or dropped */
	uint64_t requests[NR_OPERATIONS], bytes[NR_OPERATIONS];
};

struct summary {
	char host[SEGMENT_NAME_BYTES], boot_id[SEGMENT_NAME_BYTES];
	/*
	 * of two summaries that name the same segment, the one with the higher generation is valid
	 */
	uint64_t epoch, generation;
	uint8_t source, layer;
	/* from the beginning of the first interval to the end of the last */
	struct clock_anchor begin, end;
	/* first arrival and last completion; 0 where there are no requests */
	uint64_t first_real_ns, last_real_ns;
	uint64_t segment_bytes; /* bytes that the segments took */
	uint64_t nr_captured;
	/* requests that the segments held, summarized and dropped ones together */
	uint64_t nr_requests;
	/*
	 * The number of these requests whose profiles are gone too, and the interval that the
	 * profiles covered. An end of 0 means that no profile is gone.
	 */
	uint64_t nr_dropped, dropped_begin_real_ns, dropped_end_real_ns;
	struct ledger ledger;		/* owned */
	struct summary_member *members; /* owned; ordered by sequence */
	size_t nr_members;
	struct summary_device *devices; /* owned; ordered by number and name */
	size_t nr_devices;
	struct profile
		/*
		 * owned; one per device, and a second one where the device was also observed by
		 * counters
		 */
		*profiles;
	size_t nr_profiles;
};

void summary_init(struct summary *s);
void summary_release(struct summary *s);

/*
 * Adds src to dst, which is initialized or of the same stream: members, counts, profiles. Returns
 * 0, -EEXIST where both have the same member, -E2BIG above SUMMARY_MAX_MEMBERS, or -ENOMEM; dst
 * must then be released.
 */
int summary_merge(struct summary *dst, const struct summary *src);
/* Adds a profile of one more period, which stays the caller's. Returns 0 or -ENOMEM. */
int summary_add_profile(struct summary *s, const struct profile *p);
/*
 * Returns the device of this number and name, which is added where it is new; NULL where memory is
 * short.
 */
struct summary_device *summary_device(struct summary *s, uint32_t device, const char *name);
/* Removes the profiles and counts their requests as dropped. */
void summary_drop_profiles(struct summary *s);
/* Returns whether two profiles are of the same host, device, layer and kind of source. */
bool summary_is_one_series(const struct profile *a, const struct profile *b);
/* Returns the bytes that a profile takes in memory once it was read from a file. */
size_t summary_profile_bytes(const struct profile *p);
/*
 * Removes detail from profiles that exceed the limits of a file: the response times by size, and
 * all but SUMMARY_MAX_SIZES entries of a list of sizes; requests of the removed sizes count as
 * other sizes. All other values stay.
 */
void summary_fit(struct summary *s);
/* Returns the member with this sequence, or NULL. O(log n). */
const struct summary_member *summary_find(const struct summary *s, uint64_t sequence);

/*
 * Appends the bytes of the file. Returns 0, -ENOMEM, -E2BIG where a limit above is exceeded, or
 * -EINVAL where a number is 2^63 or more.
 */
int summary_write(const struct summary *s, struct buf *out);
/*
 * Reads all of data into an initialized s. Returns 0, -EBADMSG, -EPROTONOSUPPORT (another version),
 * -EFBIG or -ENOMEM, with one line in err; s is then released.
 */
int summary_read(struct summary *s, const void *data, size_t len, struct err *err);

#endif
