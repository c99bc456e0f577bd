/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_source: a foreign trace with its requests in order of arrival.
 *
 * Requests that arrive at the same tick of the trace's clock keep the order of the file. A request
 * may come too late in the file by up to half of the number of requests held. One that comes even
 * later is handed out at once, out of order, and counted.
 */
#ifndef ANALYZER_IMPORT_SOURCE_H
#define ANALYZER_IMPORT_SOURCE_H

#include "formats/foreign/foreign.h"

struct import_source {
	struct foreign *f; /* owned */
	/* owned; [at, ready) are in order, and [ready, nr) are not sorted yet */
	struct request *held;
	size_t cap, nr, at, ready;
	bool at_end;
	uint64_t latest_ns; /* latest arrival handed out */
	uint64_t nr_late;
	uint64_t nr_requests;
	uint64_t nr_untimed; /* the part of them without a response time */
	/* The importer's indexes, by the index of the trace's device. */
	uint32_t *devices; /* owned */
	uint32_t nr_devices;
	uint32_t host; /* host of the last request */
};

/*
 * cap is the number of requests to hold, at least 4096. f belongs to the source afterwards. Returns
 * 0 or -ENOMEM.
 */
int import_source_init(struct import_source *s, struct foreign *f, size_t cap);
void import_source_release(struct import_source *s);
/*
 * Makes s->held[s->at] the next request, with s->at < s->ready. At the end both are equal. Returns
 * 0 or -errno.
 */
int import_source_fill(struct import_source *s, struct err *err);

#endif
