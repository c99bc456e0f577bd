/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retain: retention. Segments older than a limit, or beyond a size, lose their requests; a summary
 * with one merged profile per device stays (store_summary.h). Beyond a second limit the profiles go
 * as well, and how many requests that were stays.
 *
 * Requests go by windows of real time: by age when all of a window is older, with every value that
 * `characterize --window` would show; by size as soon as they are beyond it: each host has the same
 * share of the size (retain_share.h), and loses what was received first. What comes late for a
 * window that is summarized is merged into it (formats/profile/profile_merge.h).
 *
 * The order of a step: read and check its segments; write the summary under a temporary name; sync
 * it; rename it; sync the folder; only then change the catalog and remove the segments. An error before that
 * removes what was written and leaves the store as it was; a death at any call leaves what
 * store_sync() settles. Nobody waits for a step: senders share no lock with it but the catalog's, for a
 * transaction. Memory: the estimators of a window per device, and the names of its segments.
 */
#ifndef ANALYZER_RETAIN_H
#define ANALYZER_RETAIN_H

#include <stdatomic.h>
#include <stdint.h>

#include "analyzer/store/store.h"

#define RETAIN_WINDOW_NS 3600000000000ull /* the default */

struct retain_limits {				/* 0: none */
	uint64_t requests_ns, requests_bytes;	/* age, and bytes of all segments */
	uint64_t summaries_ns, summaries_bytes; /* likewise of summaries with profiles */
	uint64_t window_ns;			/* 0: RETAIN_WINDOW_NS */
};

struct retain_counts {
	uint64_t nr_segments, nr_requests;     /* summarized */
	uint64_t segment_bytes, summary_bytes; /* removed; written */
	uint64_t nr_dropped;		       /* requests whose profiles went */
	uint64_t nr_left_out; /* segments that stay though they are due: damaged, too many, set aside */
};

/*
 * One pass over the store, to its end or until *stop (may be NULL). now: CLOCK_REALTIME. Counts add up
 * also where it fails. 0; -ECANCELED; -EBUSY: another pass is under way; -ENOSPC, -EIO, -ENOMEM, ... with
 * one line in err of the first step that failed: it changed nothing, and the pass went on with the other
 * segments. The store is open to be written, and used by
 * nobody else meanwhile: a server has one of its own.
 */
int retain_pass(struct store *store, const struct retain_limits *limits, uint64_t now_real_ns,
		const atomic_bool *stop, struct retain_counts *counts, struct err *err);

#endif
