/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_retired: gives a report the periods whose requests retention has removed. It takes the
 * summaries of a scan, adds each of their profiles to the collection (report/collect/retired.h),
 * and joins them with the profiles of the requests that are still there (characterize/retained.h).
 *
 *	ret = report_retired_open(&r, collect, &sel, on_profile, ctx, &err);
 *	hooks.summary = report_retired_take, hooks.summary_ctx = &r
 *	... replay, with each profile going to retained_join(r.retained, p) ...
 *	ret = retained_emit(r.retained);
 *	report_retired_release(&r);
 */
#ifndef ANALYZER_REPORT_COLLECT_REPORT_RETIRED_H
#define ANALYZER_REPORT_COLLECT_REPORT_RETIRED_H

#include "analyzer/characterize/retained.h"
#include "analyzer/report/collect/collect.h"

struct report_retired_time {
	char host[PROFILE_NAME_BYTES];
	uint64_t begin_ns, end_ns; /* with PROFILE_TOUCH_S before and after the period */
};

/* A zeroed struct is empty. */
struct report_retired {
	struct collect *collect;	   /* borrowed */
	struct retained *retained;	   /* owned */
	struct err *err;		   /* borrowed: why a summary was not taken */
	struct report_retired_time *times; /* owned: the periods that were taken */
	size_t nr, cap;
};

/* sel is borrowed. each is called with every profile of the whole period. Returns 0 or -ENOMEM. */
int report_retired_open(struct report_retired *r, struct collect *c, const struct selection *sel,
			int (*each)(void *ctx, struct profile *p), void *ctx, struct err *err);
void report_retired_release(struct report_retired *r);
/* Has the type of scan_hooks.summary. */
int report_retired_take(void *ctx, const struct summary *s);
/* Returns whether a period of the host was taken. */
bool report_retired_has(const struct report_retired *r, const char *host);
/*
 * Takes the periods of the host out of its gaps, because the host was watched then. Returns 0 or
 * -ENOMEM.
 */
int report_retired_cut(const struct report_retired *r, const char *host, struct gaps *gaps);

#endif
