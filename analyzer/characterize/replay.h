/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay: the requests of a scan through the estimators of workload/, one window per host and
 * device, as the agent would have seen them.
 *
 * A request belongs to the period in which it completed. Periods are multiples of the window's
 * length in real time, cut to what was watched; without a length there is one period, the whole.
 * Inside a trace the host's monotonic clock is kept exactly: it is moved by one constant to real
 * time, so that clock steps and slewing do not bend the gaps between requests.
 */
#ifndef ANALYZER_REPLAY_H
#define ANALYZER_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/store/scan.h"
#include "base/err.h"
#include "formats/profile/profile.h"
#include "workload/window.h"

struct replay_config {
	struct window_config window;
	uint64_t window_ns; /* length of a period; 0: all in one */
	unsigned int
		nr_threads; /* that work beside the caller's; 0: one less than there are processors */
	/* This replay is one of so many over the same requests, which share what the windows' tables may take
	 * (workload/window_room.h); 0 is 1. */
	uint32_t nr_shares;
	bool idle; /* hand over devices without a single request too */
	/* Each finished profile; may take it over by profile_init() of p afterwards. Nonzero ends
	 * the replay and is returned. By period, and in a period by host and device. */
	int (*profile)(void *ctx, struct profile *p);
	/* Every batch of requests before it is fed, times as the scan gave them; may be NULL. */
	int (*batch)(void *ctx, struct scan *scan, const struct scan_request *r, size_t nr);
	/* Requests read so far of all to read; may be NULL. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *ctx;
};

/* Reads the scan to its end. 0, -ENOMEM, what a callback returned, or the scan's failure. */
int replay(struct scan *scan, const struct replay_config *config, struct err *err);

#endif
