/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_summary: what retention leaves of segments of one stream whose requests it removed: their names and
 * hashes, what they said of themselves, and one merged profile per device; or, once those went too,
 * how many requests that were. formats/summary/segment_summary.md is the normative text.
 */
#ifndef FORMATS_SEGMENT_SUMMARY_H
#define FORMATS_SEGMENT_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "formats/ledger.h"
#include "formats/profile/profile.h"
#include "formats/segment/segment.h"

#define SUMMARY_VERSION	    1
#define SUMMARY_MAX_BYTES   (64u << 20) /* of a file, and of its text */
#define SUMMARY_MAX_MEMBERS 65536u

struct summary_member { /* one segment */
	uint64_t sequence;
	struct segment_hash hash; /* of the segment as it was acknowledged */
};

struct summary_device {
	uint32_t device;
	char name[SEGMENT_NAME_BYTES];
	uint64_t size_bytes;
	uint64_t requests[NR_OPERATIONS], bytes[NR_OPERATIONS]; /* summarized and dropped */
};

struct summary {
	char host[SEGMENT_NAME_BYTES], boot_id[SEGMENT_NAME_BYTES];
	uint64_t epoch, generation; /* of two that name a segment the higher generation holds */
	uint8_t source, layer;
	struct clock_anchor begin, end;	      /* from the first that was watched to the last */
	uint64_t first_real_ns, last_real_ns; /* arrival, completion; 0 without requests */
	uint64_t segment_bytes;		      /* that the segments took */
	uint64_t nr_captured;
	uint64_t nr_requests; /* that the segments held: summarized and dropped ones */
	/* of them, those whose profiles are gone too, and the interval that these were of; an end of 0:
	 * no profile went */
	uint64_t nr_dropped, dropped_begin_real_ns, dropped_end_real_ns;
	struct ledger ledger;		/* owned */
	struct summary_member *members; /* owned; by sequence */
	size_t nr_members;
	struct summary_device *devices; /* owned; by number and name */
	size_t nr_devices;
	struct profile
		*profiles; /* owned; of each device one, and one more where it was also counted */
	size_t nr_profiles;
};

void summary_init(struct summary *s);
void summary_release(struct summary *s);

/* Adds src to dst, an initialized one or one of the same stream: members, counts, profiles. -EEXIST
 * where both have a member, -E2BIG over SUMMARY_MAX_MEMBERS, -ENOMEM; dst is to be released then. */
int summary_merge(struct summary *dst, const struct summary *src);
/* Adds a profile of one more period; it stays the caller's. -ENOMEM. */
int summary_add_profile(struct summary *s, const struct profile *p);
/* The device of this number and name, made where it is new; NULL without memory. */
struct summary_device *summary_device(struct summary *s, uint32_t device, const char *name);
/* Removes the profiles, and counts their requests as dropped. */
void summary_drop_profiles(struct summary *s);
/* The member of a sequence, or NULL. O(log n) */
const struct summary_member *summary_find(const struct summary *s, uint64_t sequence);

/* Appends the file's bytes. -ENOMEM, -E2BIG, -EINVAL: a number of 2^63 or more. */
int summary_write(const struct summary *s, struct buf *out);
/* Reads all of data into an initialized s. -EBADMSG, -EPROTONOSUPPORT (another version), -EFBIG,
 * -ENOMEM, with one line in err; s is released then. */
int summary_read(struct summary *s, const void *data, size_t len, struct err *err);

#endif
