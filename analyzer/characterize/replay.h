/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay: passes the requests of a scan through the estimators of workload/, with one window per
 * host and device, and so gets the profiles that the agent would have made.
 *
 * A request belongs to the period in which it completed. Periods are multiples of the window's
 * length in real time, limited to the observed time; without a length there is one period for
 * everything. Inside a trace the host's monotonic clock is kept exactly: one constant converts it
 * to real time, so that steps and slewing of the real-time clock do not change the gaps between
 * requests.
 */
#ifndef ANALYZER_REPLAY_H
#define ANALYZER_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/store/scan/scan.h"
#include "base/text/err.h"
#include "formats/profile/profile.h"
#include "workload/window.h"

struct replay_config {
	struct window_config window;
	uint64_t window_ns; /* length of a period; 0: one period for everything */
	unsigned int
		nr_threads; /* threads beside the caller's; 0: one less than there are processors */
	/*
	 * The number of replays that read the same requests. They share the memory for the tables
	 * of the windows (workload/window_room.h). 0 means 1.
	 */
	uint32_t nr_shares;
	/*
	 * NULL, or receives what was taken of the room: before each profile, and at the end.
	 */
	struct window_room *room_used;
	/*
	 * May be NULL. Returns whether the profile of a device must be complete; that of any other
	 * device has only counts, sizes and response times, and comes at the same place in the
	 * order. Called once for each device.
	 */
	bool (*keeps)(void *ctx, const struct scan_stream *stream);
	void *keeps_ctx; /* the argument of keeps() */
	bool idle;	 /* also hand over devices without a single request */
	/*
	 * Called for each finished profile, by period and within it by host and device. It may take
	 * the profile over if it calls profile_init() on p afterwards. A value other than 0 ends
	 * the replay and is returned.
	 */
	int (*profile)(void *ctx, struct profile *p);
	/*
	 * Called with every batch of requests before it is fed, with the times of the scan. May be
	 * NULL.
	 */
	int (*batch)(void *ctx, struct scan *scan, const struct scan_request *r, size_t nr);
	/* Called with the number of requests read so far and the number of all. May be NULL. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *ctx;
	void *progress_ctx; /* the argument of progress(); NULL: ctx */
};

/*
 * Reads the scan to its end. Returns 0, -ENOMEM, what a callback returned, or the error of the
 * scan.
 */
int replay(struct scan *scan, const struct replay_config *config, struct err *err);

#endif
