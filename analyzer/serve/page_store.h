/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_store: the windows (profiles) that agents put into the segments of a store, for the live page.
 *
 * It opens the store a second time, beside the one that takes segments, and reads only. Every call may
 * come from any thread: the catalog is locked while it is asked, and files are read without the lock.
 * A question has an end in time: what was not read until then is left out, and the caller is told.
 */
#ifndef ANALYZER_SERVE_PAGE_STORE_H
#define ANALYZER_SERVE_PAGE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/store/segment_name.h"
#include "analyzer/store/store.h"
#include "base/err.h"
#include "formats/profile/profile.h"

struct page_store;

/* A segment that a question found. */
struct page_segment {
	struct segment_name name;
	uint64_t begin_real_ns, end_real_ns; /* what it watched */
	uint64_t received_real_ns;
};

struct page_question {
	const char *host; /* NULL: every host */
	uint64_t begin_real_ns, end_real_ns;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
	size_t nr_most;	      /* segments; 0: any number. The oldest ones of a stream come first. */
};

/* 0, or as store_open(). */
int page_store_open(struct page_store **out, const char *dir, struct err *err);
void page_store_close(struct page_store *s);
const char *page_store_dir(const struct page_store *s);
/* Takes note of files that were put there by others than serve. */
int page_store_sync(struct page_store *s, struct err *err);

/* The latest end of a watched interval of all segments; 0 where there is none. */
int page_store_latest(struct page_store *s, uint64_t *end_real_ns, struct err *err);
/* How many segments the question would find. */
int page_store_count(struct page_store *s, const struct page_question *q, size_t *nr,
		     struct err *err);
/* Those segments, by stream and sequence; *out is to be freed. *whole: none was left out. */
int page_store_find(struct page_store *s, const struct page_question *q, struct page_segment **out,
		    size_t *nr, bool *whole, struct err *err);
/*
 * Reads a segment and shows its head and its requests, which visit may take from the reader. visit's
 * nonzero is returned. 0, -ENOENT where the file is gone, -EBADMSG, -ENOMEM, ...
 */
int page_store_segment(struct page_store *s, const struct segment_name *n,
		       int (*visit)(void *ctx, const struct segment_header *h,
				    struct segment_reader *reader),
		       void *ctx, struct err *err);
/*
 * Each profile of the segment, whose host and period are the segment's word and not the profile's. A
 * profile that cannot be read is passed over and counted in *nr_bad. Returns as page_store_segment().
 */
int page_store_profiles(struct page_store *s, const struct segment_name *n,
			int (*visit)(void *ctx, const struct profile *p), void *ctx,
			uint64_t *nr_bad, struct err *err);

#endif
