/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted: collects the profiles that a trace holds in place of requests. They come from a source
 * that only counts (diskstats). The hook of the scan hands them over while the scan is read. The
 * profiles of one device and one period are summed. The rest of the time in which the counters were
 * read counts as idle. Values that a sum cannot give (details, the quality of its parts) are left
 * out.
 */
#ifndef ANALYZER_COUNTED_H
#define ANALYZER_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/store/scan/selection.h"
#include "formats/profile/profile.h"

struct counted;

/*
 * sel is borrowed; once its filter is open, it selects the profiles. Counters know no process,
 * cgroup or operation, so a filter by one of these selects none. window_ns is the length of a
 * period; 0 means one period for everything. Returns 0 or -ENOMEM.
 */
int counted_new(struct counted **out, const struct selection *sel, uint64_t window_ns);
void counted_free(struct counted *c);

/*
 * Has the type of scan_hooks.profile; ctx is the struct counted. A profile that names another host
 * than its trace is skipped, because a host may only report on itself.
 */
void counted_take(void *ctx, const struct scan_trace *trace, const char *json);

/*
 * Adds one profile that the caller has and keeps. Profiles of other sources are skipped.
 * is_summary: the profile took the place of segments, so that the scan does not know its time.
 * Returns 0 or -ENOMEM.
 */
int counted_add(struct counted *c, const struct profile *p, bool is_summary);

/*
 * Hands over each profile after the scan, by period, host and device. scan tells which time was
 * observed. Returns the first value other than 0 that `each` returned, 0, or -ENOMEM where memory
 * ran out while profiles were collected.
 */
int counted_emit(struct counted *c, const struct scan *scan,
		 int (*each)(void *ctx, struct profile *p), void *ctx);

#endif
