/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retained: the profiles that retention left where it removed requests, beside those that replay makes
 * of requests that are there. Of one period, host and device they become one (formats/profile/profile_merge.h),
 * whose detail `retention` says which part had no requests left. A summary that does not lie in one
 * period alone stays a profile of its own.
 *
 *	hooks.summary = retained_take, hooks.summary_ctx = retained
 *	config.profile = retained_join, config.ctx = retained
 *	replay(...), then retained_emit(), then counted_emit()
 */
#ifndef ANALYZER_RETAINED_H
#define ANALYZER_RETAINED_H

#include "analyzer/characterize/counted.h"
#include "formats/summary/segment_summary.h"

struct retained;

/*
 * sel: borrowed; its filter, once it is open, chooses: whole summaries between its times. Summaries know no
 * process, cgroup and operation: with such a filter there is none. counted: borrowed, gets what was
 * only counted. each: told every profile, by period, host and device; nonzero ends it. 0, -ENOMEM.
 */
int retained_new(struct retained **out, const struct selection *sel, uint64_t window_ns,
		 struct counted *counted, int (*each)(void *ctx, struct profile *p), void *ctx);
void retained_free(struct retained *r);

/* Shape of scan_hooks.summary. */
int retained_take(void *ctx, const struct summary *s);
/* Shape of replay_config.profile. */
int retained_join(void *ctx, struct profile *p);
/* After replay: those that nothing joined. */
int retained_emit(struct retained *r);

/* Requests of the scan that no profile tells of: dropped, or summarized beyond what the selection takes. */
struct scan_retained retained_missing(const struct retained *r, const struct scan *scan);

#endif
