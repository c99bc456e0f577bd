/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_throttle: the throttling of write-back (wbt.h) for the threads that replay a plan.
 *
 * A replay writes past the page cache, so that the kernel throttles none of it. Requests that it
 * throttled when they were recorded are throttled here, by the same law: one that is not admitted
 * gets a number, and those with numbers are let in by their order when the throttle wakes them.
 * All functions may be called by several threads. They cost a lock where the throttle is on.
 */
#ifndef ANALYZER_REPLAY_THROTTLE_H
#define ANALYZER_REPLAY_THROTTLE_H

#include <pthread.h>

#include "analyzer/replay/causal.h"
#include "analyzer/replay/wbt.h"

struct replay_throttle {
	bool on;
	pthread_mutex_t lock;
	struct wbt wbt;
	/*
	 * Numbers in line: the next that is given out, that of the first in line, and the lowest
	 * of those that have not been woken.
	 */
	uint64_t next, first, woken;
};

void replay_throttle_init(struct replay_throttle *t, const struct causal_throttle *law);
void replay_throttle_destroy(struct replay_throttle *t);
/*
 * Returns whether a request that is due may be sent, and counts it as sent then. *number is 0 for a
 * request that is asked for the first time, and has to be kept until it may be sent.
 */
bool replay_throttle_pass(struct replay_throttle *t, const struct causal_request *r,
			  uint64_t *number);
/* A read is sent; id tells reads apart. */
void replay_throttle_read(struct replay_throttle *t, uint64_t id);
/* A request that was sent has completed, which may wake those in line. */
void replay_throttle_done(struct replay_throttle *t, const struct causal_request *r, uint64_t id,
			  uint64_t response_ns);

#endif
