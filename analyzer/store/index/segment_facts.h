/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_facts: the facts that a catalog keeps about a segment. They are found by decoding the
 * whole segment once.
 */
#ifndef ANALYZER_SEGMENT_FACTS_H
#define ANALYZER_SEGMENT_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/index/segment_name.h"
#include "base/text/err.h"
#include "formats/ledger.h"
#include "formats/request.h"
#include "formats/segment/segment.h"

struct device_facts {
	uint32_t device;
	char name[SEGMENT_NAME_BYTES];
	uint64_t size_bytes;
	uint64_t requests[NR_OPERATIONS];
	uint64_t bytes[NR_OPERATIONS];
};

struct segment_facts {
	struct segment_name name;
	struct segment_hash hash;
	uint64_t file_bytes;
	uint64_t nr_requests, nr_captured;
	/* the part of nr_requests that are reads and writes without a response time */
	uint64_t nr_untimed;
	uint8_t source, layer;
	struct clock_anchor begin, end; /* the interval that was watched */
	/*
	 * First arrival and last completion in real time by the begin anchor; 0 without requests.
	 */
	uint64_t first_real_ns, last_real_ns;
	struct device_facts *devices; /* owned; those of the table, in its order */
	size_t nr_devices;
	struct ledger ledger; /* owned */
	bool is_kept_back;    /* it was sent without its requests; known to a catalog alone */
	/*
	 * When this machine received it, by its own real-time clock; 0: now. The sender cannot
	 * influence it.
	 */
	uint64_t received_real_ns;

	/*
	 * These are set for a summary (store_summary.h), which is named by its first sequence; else
	 * 0.
	 */
	uint64_t generation, last_sequence, nr_segments, segment_bytes;
	/* the part of nr_requests whose profiles are gone, and the interval that they covered */
	uint64_t nr_dropped;
	uint64_t dropped_begin_real_ns, dropped_end_real_ns;
};

void segment_facts_init(struct segment_facts *f);
void segment_facts_release(struct segment_facts *f);

/*
 * Checks and decodes the segment of exactly len bytes at data. Returns 0; or -EBADMSG,
 * -EPROTONOSUPPORT, -EFBIG, -EINVAL (a name that no store accepts) or -ENOMEM with the reason; f is
 * then released.
 */
int segment_facts_read(struct segment_facts *f, const void *data, size_t len, struct err *err);
/*
 * Does the same with a reader that is kept from one call to the next: *reader is NULL at first, and
 * the caller frees it.
 */
int segment_facts_read_with(struct segment_facts *f, struct segment_reader **reader,
			    const void *data, size_t len, struct err *err);

/*
 * Checks that each profile is of the segment's host. A profile contains a host name of its own,
 * which later readers believe. A text that is not a profile of this version is not read by anybody.
 * Returns 0, -EINVAL or -ENOMEM.
 */
int segment_facts_check_profiles(const struct segment_header *h, struct err *err);

/* Converts a monotonic instant of the segment with this anchor to real time, not below 0. */
static inline uint64_t real_from_anchor(const struct clock_anchor *anchor, uint64_t monotonic_ns)
{
	int64_t since = (int64_t)(monotonic_ns - anchor->monotonic_ns);

	if (since < 0 && (uint64_t)-since > anchor->realtime_ns)
		return 0;
	return anchor->realtime_ns + (uint64_t)since;
}

#endif
