/* SPDX-License-Identifier: Apache-2.0 */
/* check_summary: the summaries of a store (store_summary.h), for check_store.c. */
#ifndef ANALYZER_CHECK_SUMMARY_H
#define ANALYZER_CHECK_SUMMARY_H

#include "analyzer/store/check_file.h"
#include "analyzer/store/store_summary.h"

struct checked_summary {
	struct summary_file file; /* first of all: they are ordered by it */
	uint64_t last;
	struct summary_member *members; /* owned */
	size_t nr_members;
	uint64_t nr_requests, nr_dropped, file_bytes;
	const struct checked_summary *by; /* has all of it, and is later: this one is left over */
};

struct checked_summaries {
	struct checked_summary *items; /* owned; by stream and first sequence */
	size_t nr;
};

/* Reads all that are good below dir/segments: to be done before the walk that looks at each file.
 * -EIO, -ENOMEM, ... */
int checked_summaries_read(struct checked_summaries *s, const char *dir, struct err *err);
void checked_summaries_release(struct checked_summaries *s);

/* The one at a path, which is below the folder of the store; or NULL: it is no good, and why says why. */
const struct checked_summary *checked_summary_at(const struct checked_summaries *s,
						 const char *path, const char *below, char *why,
						 size_t size);
/* Whether a segment is summarized: 1 this content, -EEXIST another, 0 no. *by: the summary. */
int checked_summaries_have(const struct checked_summaries *s, const struct segment_name *n,
			   const struct segment_hash *hash, const struct checked_summary **by);

#endif
