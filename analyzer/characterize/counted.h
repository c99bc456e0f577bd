/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted: the profiles that a trace holds where it holds no requests: those of a source that only
 * counts (diskstats). Taken by the scan's hook while it is read, by device and period; those of one
 * period are summed. What a sum cannot know (details, quality of its parts) is left out.
 */
#ifndef ANALYZER_COUNTED_H
#define ANALYZER_COUNTED_H

#include <stdint.h>

#include "analyzer/store/selection.h"
#include "formats/profile/profile.h"

struct counted;

/*
 * sel: borrowed; its filter, once it is open, chooses. Counters know no process, cgroup and operation:
 * with such a filter there is none. window_ns: length of a period, 0: all in one. 0, -ENOMEM.
 */
int counted_new(struct counted **out, const struct selection *sel, uint64_t window_ns);
void counted_free(struct counted *c);

/* Shape of scan_hooks.profile; ctx: the struct counted. A profile that names another host than the
 * trace's is passed over: no host speaks for another. */
void counted_take(void *ctx, const struct scan_trace *trace, const char *json);

/* One that is at hand; it stays the caller's. Others than the source's are passed over. -ENOMEM. */
int counted_add(struct counted *c, const struct profile *p);

/*
 * After the scan: each profile, by period, host and device; scan tells what was watched. Returns what
 * each returned other than 0, 0, or -ENOMEM where memory ran out while they were taken.
 */
int counted_emit(struct counted *c, const struct scan *scan,
		 int (*each)(void *ctx, struct profile *p), void *ctx);

#endif
