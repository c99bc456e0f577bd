/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_source: one foreign trace, its requests in order of arrival.
 *
 * Of requests that arrive at the same tick of the trace's clock the file's order is kept. A request
 * may come up to half of what is held too late in the file; one that comes later still is handed
 * out at once, out of order, and counted.
 */
#ifndef ANALYZER_IMPORT_SOURCE_H
#define ANALYZER_IMPORT_SOURCE_H

#include "formats/foreign/foreign.h"

struct import_source {
	struct foreign *f;    /* owned */
	struct request *held; /* owned: [at, ready) in order, [ready, nr) to be sorted yet */
	size_t cap, nr, at, ready;
	bool at_end;
	uint64_t latest_ns; /* of those handed out */
	uint64_t nr_late;
	uint64_t nr_requests;
	uint64_t nr_untimed; /* of them, without a response time */
	/* of the importer: what devices became, by their index */
	uint32_t *devices; /* owned */
	uint32_t nr_devices;
	uint32_t host; /* of the last request */
};

/* cap: requests to hold, at least 4096. f becomes the source's. 0, -ENOMEM. */
int import_source_init(struct import_source *s, struct foreign *f, size_t cap);
void import_source_release(struct import_source *s);
/* Makes s->held[s->at] the next request, s->at < s->ready; at the end they are equal. 0, -errno. */
int import_source_fill(struct import_source *s, struct err *err);

#endif
