/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_share: a report whose profiles several ranks find together (characterize/share.h). Rank 0
 * collects what the pictures show, and makes the page.
 *
 *	report_share_init(&s, each, ctx);
 *	retained_new(..., report_share_take, &s);
 *	ret = report_share_replay(&s, scan, &config, retained, &err);
 *	if (ret == SHARE_ALONE) one process alone begins anew
 *	if (ret == 0 && report_share_is_done(&s)) this is another rank, and its work is done
 *	report_share_release(&s);
 *
 * One process alone calls each() at once.
 */
#ifndef ANALYZER_REPORT_COLLECT_REPORT_SHARE_H
#define ANALYZER_REPORT_COLLECT_REPORT_SHARE_H

#include "analyzer/characterize/replay.h"
#include "analyzer/characterize/retained.h"
#include "analyzer/characterize/share.h"

struct report_share {
	struct share share;
	bool is_shared; /* there are several ranks */
	int (*each)(void *ctx, struct profile *p);
	void *ctx;
};

/* each() may take the profile over if it calls profile_init() on p afterwards. */
void report_share_init(struct report_share *s, int (*each)(void *ctx, struct profile *p),
		       void *ctx);
void report_share_release(struct report_share *s);
/* Has the type of retained_new()'s each. */
int report_share_take(void *ctx, struct profile *p);
/*
 * Replays the scan, and hands over the profiles that `retained` emits. Returns 0, -errno, or
 * SHARE_ALONE.
 */
int report_share_replay(struct report_share *s, struct scan *scan, struct replay_config *config,
			struct retained *retained, struct err *err);
/* Returns whether rank 0 does all that is left, and this is another rank. */
bool report_share_is_done(const struct report_share *s);

#endif
