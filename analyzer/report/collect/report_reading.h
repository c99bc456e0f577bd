/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_reading: reads a selection for a report, as one process or as one of several ranks, and
 * makes the report of it (report/collect/report.h).
 *
 *	struct report_reading r = { .scan = NULL };
 *
 *	ret = report_reading_open(&r, t, sel, &objectives, &is_done, &err);
 *	if (!ret && !is_done)
 *		ret = report_reading_report(&report, &r, t, &is_empty, &err);
 *	...
 *	report_free(report);
 *	report_reading_release(&r);
 */
#ifndef ANALYZER_REPORT_COLLECT_REPORT_READING_H
#define ANALYZER_REPORT_COLLECT_REPORT_READING_H

#include "analyzer/answer/progress.h"
#include "analyzer/characterize/issuers.h"
#include "analyzer/answer/teller.h"
#include "analyzer/report/collect/report.h"
#include "analyzer/report/collect/report_retired.h"
#include "analyzer/report/collect/report_share.h"
#include "analyzer/store/scan/selection.h"

/* This struct holds what the replay hands over while it runs. */
struct gather {
	struct collect *collect;
	struct err *err;
	size_t *routes; /* owned; maps the scan's streams to the collection's devices */
	uint32_t nr_routes;
	struct request *moved; /* owned; MOVED requests */
	struct profile *profiles;
	size_t nr_profiles;
	struct progress progress;
	struct report_retired retired;
	struct report_share share;
};

/* This struct holds the objects that are open while a report is made. */
struct report_reading {
	struct gather gather;
	struct issuers issuers;
	struct scan *scan;
};

/*
 * Opens and reads the selection. objectives and err are borrowed until the release. Where several
 * ranks read it, *is_done becomes true in all but rank 0, which have no more work. Release *r
 * whatever this returns: 0 or -errno.
 */
int report_reading_open(struct report_reading *r, const struct teller *t, struct selection *sel,
			const struct time_objectives *objectives, bool *is_done, struct err *err);
/*
 * Makes the report of what was read, which borrows from *reading. *is_empty is set, and the
 * function fails, where the selection has no request. Returns 0 or -errno.
 */
int report_reading_report(struct report **out, struct report_reading *reading,
			  const struct teller *t, bool *is_empty, struct err *err);
void report_reading_release(struct report_reading *r);

#endif
