/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retain_plan: finds the segments and summaries of a store that are due for removal. For retain.c.
 */
#ifndef ANALYZER_RETAIN_PLAN_H
#define ANALYZER_RETAIN_PLAN_H

#include "analyzer/keep/retain.h"
#include "analyzer/keep/retain_mark.h"
#include "analyzer/keep/retain_share.h"
#include "analyzer/store/ask/store_policy.h"
#include "analyzer/store/store_summary.h"

/*
 * The clocks of neighbours are read at slightly different instants, so a difference up to this is
 * not a gap. The whole span of a summary was watched, so a summary ends where a gap is.
 */
#define RETAIN_TOUCH_NS	     10000000ull
#define RETAIN_STEP_SEGMENTS 8192 /* most segments of one step */

/* A summary as the catalog knows it. */
struct plan_summary {
	/* must be the first member, because entries are ordered by its stream and sequence */
	struct summary_file file;
	uint64_t last_sequence, nr_segments, file_bytes;
	uint64_t begin_real_ns, end_real_ns;
	bool has_profiles;
};

struct retain_plan {
	struct store *store;
	uint64_t window_ns;
	/*
	 * Requests and summaries that end before these real times are due by age; requests only
	 * with their whole window.
	 */
	uint64_t requests_until_ns, summaries_until_ns;
	/* Requests of a host may be due earlier by its policy. Borrowed; NULL: there is none. */
	const struct store_policies *policies;
	uint64_t now_real_ns;
	char host[SEGMENT_NAME_BYTES]; /* host that was looked up last */
	uint64_t host_until_ns;
	/*
	 * Due by size: requests in the order in which they were received, summaries by their end.
	 */
	struct retain_share requests_over, summaries_over;

	struct plan_summary *summaries; /* owned */
	size_t nr_summaries, cap_summaries;

	struct retain_mark mark;
	struct buf aside;  /* owned; paths of segments that are left as they are */
	uint64_t nr_aside; /* the number of these that are due */

	/* owned; the next due segments, of one stream and without a gap between them */
	struct segment_name *group;
	size_t nr_group;
	uint64_t group_window, group_begin_real_ns, group_end_real_ns;
	struct segment_name after; /* position up to which the store has been examined */
	bool is_begun;
};

/*
 * Reads the contents of the store. Returns 0, -ENOMEM, -EIO, ...; the plan must be released in
 * every case.
 */
int retain_plan_init(struct retain_plan *p, struct store *store, const struct retain_limits *limits,
		     uint64_t now_real_ns, struct err *err);
void retain_plan_release(struct retain_plan *p);
/*
 * Looks for the next group. Returns 1 with the group in p->group, 0 where there is none, or -errno.
 */
int retain_plan_next(struct retain_plan *p, struct err *err);
/* Returns whether there is no gap between two intervals of real time. */
bool retain_plan_touch(uint64_t begin_a, uint64_t end_a, uint64_t begin_b, uint64_t end_b);
/* Returns whether the profiles of the summary are due, by age or by size. */
bool retain_plan_drops(const struct retain_plan *p, const struct plan_summary *one);
/* Replaces the summaries from `from` on by the new one. Returns 0 or -ENOMEM. */
int retain_plan_replace(struct retain_plan *p, size_t from, size_t nr,
			const struct segment_facts *by);
/*
 * Returns the first summary of the stream whose last sequence is n's or later, or the position
 * after the stream's summaries.
 */
size_t retain_plan_find(const struct retain_plan *p, const struct segment_name *n);

#endif
