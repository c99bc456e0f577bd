/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_throttle: finds whether Linux throttled write-back (wbt.h) when a window was recorded, and
 * which requests it held back.
 *
 * A request that had to wait has its arrival only when it was let in, so that no response time
 * tells of the wait. But the law is known, and its state follows from the recording: how many
 * throttled requests were under way, and what completed. The law held if hardly any request arrived
 * where it admits none. What is not recorded is found by trying: which reads the kernel takes for
 * slow, whether the writes of threads passed the page cache, whether the device has a volatile
 * cache, and what came before. Of the laws that held, that one is taken which explains most
 * arrivals that came directly after those who wait were let in.
 */
#ifndef ANALYZER_CAUSAL_THROTTLE_H
#define ANALYZER_CAUSAL_THROTTLE_H

#include "analyzer/replay/causal.h"
#include "analyzer/replay/causal_depend.h"

enum causal_wait {
	CAUSAL_FREE,   /* the throttle did not delay the request */
	CAUSAL_LET_IN, /* it was delayed: its lane would have sent it directly after another */
	CAUSAL_HELD,   /* it was delayed: its thread was idle, and would have sent it sooner */
};

/*
 * Sets the law of a window of nr requests, and for each of t->requests an enum causal_wait in
 * waits[]. law->on is false if another system than Linux sent the requests, or if no law held; all
 * are CAUSAL_FREE then.
 * Returns 0 or -ENOMEM. O(n log lanes).
 */
int causal_throttle_find(const struct causal_times *t, size_t nr, struct causal_throttle *law,
			 uint8_t *waits);
/* Returns whether the law applies to a request, whether it waited or not. */
bool causal_is_throttled(const struct causal_throttle *law, const struct request *r);

#endif
