/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retained: combines the profiles that retention left in place of requests with those that replay
 * makes of the requests that are still there. Profiles of the same period, host and device are
 * merged (formats/profile/profile_merge.h); the detail `retention` of the result says which part
 * had no requests left. A summary that does not lie in one period alone stays a profile of its own.
 *
 * The same is done with the agents' profiles of time whose requests they kept back (--hindsight, a
 * policy): counts, rates and response times are then over all requests, and the detail `kept_back`
 * says how many of them only profiles count. Values that need single requests describe the requests
 * that were sent, except the times between arrivals, which become unknown. An agent sends no
 * profile of a window in which a device was idle, so the rest of the time that was kept back has no
 * requests of the device. A window belongs to the period of its middle, and to the time that was
 * kept back where its middle does: at each end of such time a count may be wrong by half a window,
 * unless windows end where segments do.
 *
 *	hooks.summary = retained_take, hooks.summary_ctx = retained
 *	hooks.profile = retained_take_window, hooks.ctx = retained
 *	config.profile = retained_join, config.ctx = retained
 *	retained_set_scan(), replay(...), then retained_emit(), then counted_emit()
 */
#ifndef ANALYZER_RETAINED_H
#define ANALYZER_RETAINED_H

#include "analyzer/characterize/counted.h"
#include "formats/summary/segment_summary.h"

struct retained;

/*
 * sel is borrowed; once its filter is open, it selects whole summaries between its times.
 * Summaries know no process, cgroup or operation, so a filter by one of these selects none.
 * counted is borrowed and gets the summaries of devices that were only counted; NULL leaves them
 * out. each is called with every profile, by period, host and device; a value other than 0 ends
 * it. Returns 0 or -ENOMEM.
 */
int retained_new(struct retained **out, const struct selection *sel, uint64_t window_ns,
		 struct counted *counted, int (*each)(void *ctx, struct profile *p), void *ctx);
void retained_free(struct retained *r);

/* Returns whether the selection takes a profile of a summary. */
bool retained_wants(const struct retained *r, const struct profile *p);
/* Has the type of scan_hooks.summary. */
int retained_take(void *ctx, const struct summary *s);
/* Takes one profile of a summary, after the filter is open. Returns 0 or -ENOMEM. */
int retained_take_profile(struct retained *r, const struct profile *p);
/*
 * Has the type of scan_hooks.profile. Takes the profile of a segment whose requests were kept back,
 * and hands the others to `counted`. retained_emit() returns its -ENOMEM.
 */
void retained_take_window(void *ctx, const struct scan_trace *trace, const char *json);
/* The scan is borrowed. Without it, time without a profile is time that was not watched. */
void retained_set_scan(struct retained *r, const struct scan *scan);
/* Returns how many requests that were kept back are in the profiles that were taken. */
uint64_t retained_nr_kept_back(const struct retained *r);
/* Has the type of replay_config.profile. */
int retained_join(void *ctx, struct profile *p);
/* Called after the replay: emits the summaries that were not joined with a profile. */
int retained_emit(struct retained *r);

/*
 * Returns the number of requests of the scan that are in no profile, because they were dropped or
 * are in summaries that the selection does not take.
 */
struct scan_retained retained_missing(const struct retained *r, const struct scan *scan);

#endif
