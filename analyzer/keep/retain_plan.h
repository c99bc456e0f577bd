/* SPDX-License-Identifier: Apache-2.0 */
/* retain_plan: what is due in a store; for retain.c. */
#ifndef ANALYZER_RETAIN_PLAN_H
#define ANALYZER_RETAIN_PLAN_H

#include "analyzer/keep/retain.h"
#include "analyzer/keep/retain_mark.h"
#include "analyzer/keep/retain_share.h"
#include "analyzer/store/store_summary.h"

/* Anchors of neighbours are read at slightly different instants: no gap. What a summary spans was
 * watched, so that it ends where a gap is. */
#define RETAIN_TOUCH_NS	     10000000ull
#define RETAIN_STEP_SEGMENTS 8192 /* of one step, at most */

/* A summary, as the catalog knows it. */
struct plan_summary {
	struct summary_file file; /* first: they are ordered by its stream and sequence */
	uint64_t last_sequence, nr_segments, file_bytes;
	uint64_t begin_real_ns, end_real_ns;
	bool has_profiles;
};

struct retain_plan {
	struct store *store;
	uint64_t window_ns;
	/* What ends before these is due by age, real time: requests with their whole window. */
	uint64_t requests_until_ns, summaries_until_ns;
	/* By size: requests in the order in which they were received, summaries by their end. */
	struct retain_share requests_over, summaries_over;

	struct plan_summary *summaries; /* owned */
	size_t nr_summaries, cap_summaries;

	struct retain_mark mark;
	struct buf aside;  /* owned: paths of segments that are left as they are */
	uint64_t nr_aside; /* of them, those that are due */

	struct segment_name *group; /* owned: the next segments that are due, of one stream */
	size_t nr_group;
	uint64_t group_window, group_begin_real_ns, group_end_real_ns;
	struct segment_name after; /* how far the store has been looked at */
	bool is_begun;
};

/* Reads what is there. -ENOMEM, -EIO, ...; the plan is to be released in any case. */
int retain_plan_init(struct retain_plan *p, struct store *store, const struct retain_limits *limits,
		     uint64_t now_real_ns, struct err *err);
void retain_plan_release(struct retain_plan *p);
/* Looks for the next group: 1 it is in p->group, 0 there is none, -errno. */
int retain_plan_next(struct retain_plan *p, struct err *err);
/* Whether the profiles of the summary are due, by age or by size. */
bool retain_plan_drops(const struct retain_plan *p, const struct plan_summary *one);
/* Puts the new summary in the place of those from `from` on. -ENOMEM. */
int retain_plan_replace(struct retain_plan *p, size_t from, size_t nr,
			const struct segment_facts *by);
/* The first summary of the stream whose last sequence is n's or later; where there is none, the one after. */
size_t retain_plan_find(const struct retain_plan *p, const struct segment_name *n);

#endif
