/* SPDX-License-Identifier: Apache-2.0 */
/* inventory: lists the contents of a store by host and device, from its catalog alone. */
#ifndef ANALYZER_INVENTORY_H
#define ANALYZER_INVENTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/store.h"
#include "formats/ledger.h"

struct inventory_span {
	uint64_t begin_real_ns, end_real_ns;
};

struct inventory_device {
	uint32_t device;
	char name[SEGMENT_NAME_BYTES];
	uint64_t size_bytes;
	uint64_t requests[NR_OPERATIONS], bytes[NR_OPERATIONS];
};

struct inventory_host {
	char host[SEGMENT_NAME_BYTES];
	uint64_t nr_boots, nr_traces, nr_segments, file_bytes;
	uint64_t nr_requests, nr_captured;
	/* the part of nr_requests that are reads and writes without a response time */
	uint64_t nr_untimed;
	uint64_t nr_counted; /* segments of a source that only counts, which hold no requests */
	uint64_t nr_missing; /* sequence numbers that the store does not have */
	/*
	 * The retained part of nr_requests, nr_captured and nr_missing. nr_segments and file_bytes
	 * count only what still exists.
	 */
	struct {
		uint64_t nr_files, file_bytes; /* number of summaries */
		/* the segments that they represent, and the bytes that these took */
		uint64_t nr_segments, segment_bytes;
		uint64_t nr_summarized, begin_real_ns, end_real_ns; /* requests */
		uint64_t nr_dropped, dropped_begin_real_ns, dropped_end_real_ns;
	} retained;
	struct ledger ledger;		/* owned */
	struct inventory_span *covered; /* owned; the watched intervals, joined, by begin */
	size_t nr_covered;
	struct inventory_device *devices; /* owned; by number and name */
	size_t nr_devices;
};

struct inventory {
	struct inventory_host *hosts; /* owned; by name */
	size_t nr_hosts;
};

void inventory_init(struct inventory *v);
void inventory_release(struct inventory *v);
/* Fills an initialized v. Returns 0, -EIO or -ENOMEM. Cost: one walk over the catalog. */
int inventory_collect(struct inventory *v, struct store *store, struct err *err);

/* Return the nanoseconds watched, and those from the first to the last watched instant. */
uint64_t inventory_covered_ns(const struct inventory_host *h);
uint64_t inventory_span_ns(const struct inventory_host *h);
/*
 * Returns whether the device's requests were only counted, as far as the catalog shows: there is no
 * request of it, and its host was watched by a source that only counts.
 */
bool inventory_is_counted(const struct inventory_host *h, const struct inventory_device *d);
uint64_t inventory_device_requests(const struct inventory_device *d);
/*
 * Returns the number of reads and writes of the host. Where the trace of a device does not tell
 * which they are, all of its requests are of the operation "other".
 */
uint64_t inventory_data_requests(const struct inventory_host *h);

#endif
