/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retain: retention. Segments older than a limit, or beyond a size, lose their requests; a summary
 * with one merged profile per device stays (store_summary.h). Beyond a second limit the profiles
 * are removed too, and only the number of requests stays.
 *
 * A policy of the store (store_policy.h) may bound the age of a host's requests; the shorter of
 * that age and of the limit counts. If the policies cannot be read, a pass applies the limits and
 * then fails. A segment that was sent without its requests, because they were kept back, holds the
 * only profiles of its time; by age it stays as long as profiles may.
 *
 * Requests are removed by windows of real time. By age, a window is removed when all of it is older
 * than the limit; the summary then has every value that `characterize --window` would show. By
 * size, requests are removed as soon as they exceed the limit: each host has the same share of the
 * size (retain_share.h) and loses the data that was received first. Data that arrives late for a
 * summarized window is merged into its summary (formats/profile/profile_merge.h).
 *
 * The order of a step: read and check its segments; write the summary under a temporary name; sync
 * it; rename it; sync the folder; only then change the catalog and remove the segments. An error
 * before the last part removes the new files and leaves the store unchanged. If the process dies at
 * any point, store_sync() repairs the rest. Nobody waits for a step: senders share with it only the
 * lock of the catalog, for one transaction. Memory: the estimators of a window per device, and the
 * names of its segments.
 */
#ifndef ANALYZER_RETAIN_H
#define ANALYZER_RETAIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyzer/store/store.h"
#include "analyzer/store/store_compact.h"

#define RETAIN_WINDOW_NS 3600000000000ull /* the default */

struct retain_limits {				/* A limit of 0 means no limit. */
	uint64_t requests_ns, requests_bytes;	/* age, and bytes of all segments */
	uint64_t summaries_ns, summaries_bytes; /* age, and bytes of all summaries with profiles */
	uint64_t window_ns;			/* 0: RETAIN_WINDOW_NS */
};

bool retain_limits_any(const struct retain_limits *limits);
/*
 * Finds out whether passes over the store will ever remove anything: by the limits, or because a
 * policy of the store (store_policy.h) bounds the age of requests. Returns 0 or -errno.
 */
int retain_is_wanted(const char *store, const struct retain_limits *limits, bool *out,
		     struct err *err);

struct retain_counts {
	uint64_t nr_segments, nr_requests;     /* segments and requests that were summarized */
	uint64_t segment_bytes, summary_bytes; /* bytes removed, and bytes written */
	uint64_t nr_dropped;		       /* requests whose profiles were removed */
	uint64_t nr_left_out; /* due segments that stay: damaged, too many, or set aside */
	struct compact_counts compaction; /* all 0 in a folder */
};

/*
 * Makes one pass over the store, to its end or until *stop is set (may be NULL), and then compacts
 * it. Without limits it only compacts. now is
 * CLOCK_REALTIME. The counts are valid also on failure. Returns 0; -ECANCELED; -EBUSY: another pass
 * is running; -ENOSPC, -EIO, -ENOMEM, ... with one line in err from the first failed step, which
 * changed nothing while the pass continued with other segments. The store is opened for writing and
 * must not be used by others meanwhile: a server has one of its own.
 */
int retain_pass(struct store *store, const struct retain_limits *limits, uint64_t now_real_ns,
		const atomic_bool *stop, struct retain_counts *counts, struct err *err);
/* Opens the store as serve does, but never makes a new one. Returns 0 or -errno. */
int retain_open(struct store **out, const char *dir, struct err *err);

#endif
