/* SPDX-License-Identifier: Apache-2.0 */
/* check_summary: the summaries of a store (store_summary.h), for check_store.c. */
#ifndef ANALYZER_CHECK_SUMMARY_H
#define ANALYZER_CHECK_SUMMARY_H

#include "analyzer/store/check/check_file.h"
#include "analyzer/store/store_summary.h"

struct checked_summary {
	struct summary_file file; /* must be the first member, because entries are ordered by it */
	uint64_t last;
	struct summary_member *members; /* owned */
	size_t nr_members;
	uint64_t nr_requests, nr_dropped, file_bytes;
	/* a later summary that contains all of this one, which is therefore a leftover */
	const struct checked_summary *by;
};

struct checked_summaries {
	struct checked_summary *items; /* owned; by stream and first sequence */
	size_t nr;
};

/*
 * Reads all valid summaries below dir/segments. Call this before the walk that examines each file.
 * Returns 0, -EIO, -ENOMEM, ...
 */
int checked_summaries_read(struct checked_summaries *s, const char *dir, struct err *err);
void checked_summaries_release(struct checked_summaries *s);

/*
 * Finds the summary at a path below the folder of the store. Returns 0; -EIO where the file cannot
 * be read; -ENOMEM; another -errno where it is not a valid summary.
 */
int checked_summary_at(const struct checked_summaries *s, const char *path, const char *below,
		       const struct checked_summary **out, struct err *err);
/*
 * Returns whether a segment is summarized: 1 with this content, -EEXIST with another, 0 not. *by is
 * the summary.
 */
int checked_summaries_have(const struct checked_summaries *s, const struct segment_name *n,
			   const struct segment_hash *hash, const struct checked_summary **by);

#endif
