/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory: what a store holds, by host and device, from its catalog alone.
 */
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
	uint64_t nr_untimed; /* of nr_requests, reads and writes without a response time */
	uint64_t nr_counted; /* segments of a source that only counts: no request is in them */
	uint64_t nr_missing; /* sequence numbers that are not in the store */
	/* Of nr_requests, nr_captured and nr_missing; nr_segments and file_bytes are of those that are there. */
	struct {
		uint64_t nr_files, file_bytes;	     /* summaries */
		uint64_t nr_segments, segment_bytes; /* that they stand for, and what these took */
		uint64_t nr_summarized, begin_real_ns, end_real_ns; /* requests */
		uint64_t nr_dropped, dropped_begin_real_ns, dropped_end_real_ns;
	} retained;
	struct ledger ledger;		/* owned */
	struct inventory_span *covered; /* owned: what was watched, joined, by begin */
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
/* Fills an initialized v. 0, -EIO, -ENOMEM. Cost: one walk over the catalog. */
int inventory_collect(struct inventory *v, struct store *store, struct err *err);

/* Nanoseconds watched, and from the first to the last instant watched. */
uint64_t inventory_covered_ns(const struct inventory_host *h);
uint64_t inventory_span_ns(const struct inventory_host *h);
/* Whether the device's requests were only counted, as far as the catalog tells: no request of it is
 * there, and what was watched of its host was watched by such a source. */
bool inventory_is_counted(const struct inventory_host *h, const struct inventory_device *d);
uint64_t inventory_device_requests(const struct inventory_device *d);

#endif
