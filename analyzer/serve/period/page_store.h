/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_store: this module reads the windows (profiles) that agents put into the segments of a
 * store, for the live page.
 *
 * It opens the store a second time, independently of the handle that stores segments, and only
 * reads; beside the store it keeps a cache of its own (page_kept.h). Any thread may call any
 * function: the catalog is locked while it is queried, and files are read without the lock. A query
 * has a deadline: segments that were not read until then are left out, and the caller is told.
 */
#ifndef ANALYZER_SERVE_PERIOD_PAGE_STORE_H
#define ANALYZER_SERVE_PERIOD_PAGE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/serve/period/page_cache.h"
#include "analyzer/serve/period/page_kept.h"
#include "analyzer/store/index/segment_name.h"
#include "analyzer/store/store.h"
#include "base/text/err.h"
#include "formats/summary/segment_summary.h"

struct page_store;

/* A segment that a query found. */
struct page_segment {
	struct segment_name name;
	uint64_t begin_real_ns, end_real_ns; /* the interval that the segment watched */
	uint64_t received_real_ns;
	uint64_t nr_requests;
};

struct page_question {
	const char *host; /* NULL: every host */
	uint64_t begin_real_ns, end_real_ns;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
	/* number of segments; 0: no limit. The oldest segments of a stream come first. */
	size_t nr_most;
};

/* Returns 0, or the errors of store_open(). */
int page_store_open(struct page_store **out, const char *dir, struct err *err);
void page_store_close(struct page_store *s);
const char *page_store_dir(const struct page_store *s);
/* Adds files to the catalog that other programs than serve put into the store. */
int page_store_sync(struct page_store *s, struct err *err);

/* Gives the latest end of a watched interval of all segments; 0 if there is no segment. */
int page_store_latest(struct page_store *s, uint64_t *end_real_ns, struct err *err);
/* Counts the segments that the query would find. */
int page_store_count(struct page_store *s, const struct page_question *q, size_t *nr,
		     struct err *err);
/*
 * Finds these segments, sorted by stream and sequence. The caller frees *out. *whole is set if no
 * segment was left out.
 */
int page_store_find(struct page_store *s, const struct page_question *q, struct page_segment **out,
		    size_t *nr, bool *whole, struct err *err);
/* Gives the time when the store took the segment. Returns 0, -ENOENT, or errors of the catalog. */
int page_store_received(struct page_store *s, const struct segment_name *n,
			uint64_t *received_real_ns, struct err *err);
/*
 * Reads a segment and calls visit with its header and a reader, from which visit may take the
 * requests. If visit returns nonzero, that value is returned; else 0, -ENOENT if the file is gone,
 * -EBADMSG, -ENOMEM, ...
 */
int page_store_segment(struct page_store *s, const struct segment_name *n,
		       int (*visit)(void *ctx, const struct segment_header *h,
				    struct segment_reader *reader),
		       void *ctx, struct err *err);
/*
 * Calls visit with each summary that retention left of segments of q's host and period. Those that
 * cannot be read are counted in *nr_bad. *whole is cleared if the deadline cut the reading. A value
 * of visit other than 0 ends it and is returned.
 */
int page_store_summaries(struct page_store *s, const struct page_question *q,
			 int (*visit)(void *ctx, const struct summary *summary), void *ctx,
			 uint64_t *nr_bad, bool *whole, struct err *err);
/* Returns the cache in memory, which lives as long as the store. */
struct page_cache *page_store_cache(struct page_store *s);
/* Returns the cache on disk, which lives as long as the store. */
struct page_kept *page_store_kept(struct page_store *s);

#endif
