/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_requests: this module reads the requests of one device in a period, for answers that
 * profiles cannot give.
 *
 * A query decodes at most PAGE_REQUESTS_MOST requests and takes at most PAGE_REQUESTS_S seconds.
 * The newest or the oldest segments come first, and border_s says where the reading ended. All
 * segments of the period are looked at within these limits, part by part.
 */
#ifndef ANALYZER_SERVE_PERIOD_PAGE_REQUESTS_H
#define ANALYZER_SERVE_PERIOD_PAGE_REQUESTS_H

#include "analyzer/serve/period/page_device.h"

#define PAGE_REQUESTS_MOST    20000000
#define PAGE_REQUESTS_S	      5
#define PAGE_REQUEST_SEGMENTS 20000

struct page_requests {
	const struct page_device_question *q; /* borrowed */
	uint32_t device;
	uint64_t begin_ns, end_ns; /* real time */
	uint64_t deadline_ns, nr_decoded, nr_taken;
	uint64_t most; /* requests that may be decoded; PAGE_REQUESTS_MOST at first */
	/*
	 * Segments that are found together, at first PAGE_REQUEST_SEGMENTS, which bounds the memory
	 * for them. A period may have any number.
	 */
	size_t nr_together;
	uint64_t nr_unreadable; /* damaged segments, of which requests are missing */
	/*
	 * Real time before which (newest first) or after which (oldest first) requests were not
	 * read; NaN where all were read.
	 */
	double border_s;

	/* Set by the caller. */
	bool newest_first;
	/* Called before the requests of a segment. May be NULL. Returns 0 or -ENOMEM. */
	int (*segment)(void *ctx, const struct segment_header *h);
	/* Called with each request that completed in the period. Returns 0 or -ENOMEM. */
	int (*take)(void *ctx, const struct request *r, uint64_t real_ns);
	void *ctx;
};

/* Takes the question. Returns 0, or -EINVAL with the field that is wrong. */
int page_requests_init(struct page_requests *p, const struct page_device_question *q,
		       struct err *err);
/* Returns 0, -ENOMEM or -EIO. A segment that cannot be read is left out. */
int page_requests_read(struct page_requests *p, struct page_store *store, struct err *err);

#endif
