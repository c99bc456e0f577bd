/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reorder: finished requests in, the same requests in order of arrival out.
 *
 * Tracers hand requests over as they complete, CPU after CPU; windows and segments want them as
 * they arrived. Requests are held until the period they completed in ends, at most max_held of
 * them: when full, the older half by arrival goes first. A request that was under way for longer
 * than it could be waited for is released late, never lost.
 *
 * On the way out each request gets its queue_depth: how many requests of its device had arrived
 * before it and not yet completed, among those released.
 *
 * Cost: amortized O(1) per request, two radix sorts per release and one copy in and out, no
 * allocation after reorder_new(). Memory: about 130 bytes per request held. One thread.
 */
#ifndef AGENT_REORDER_H
#define AGENT_REORDER_H

#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

/*
 * More than any disk has under way, so that a slow request finds its place: 2 MiB. At 300 000 per
 * second, 50 ms and more.
 */
#define REORDER_MAX_HELD 16384u

struct reorder;

struct reorder_sink {
	/* nr > 0 requests by arrival; the array is the callee's to change until it returns. */
	void (*release)(void *ctx, struct request *r, size_t nr);
	void *ctx;
};

/* max_held >= 2. 0, -EINVAL, -ENOMEM. */
int reorder_new(struct reorder **out, size_t max_held, const struct reorder_sink *sink);
void reorder_free(struct reorder *o);

/*
 * Requests completed at or after this time belong to the next period: when full, the others go
 * first. They go too when they are too few to make room.
 */
void reorder_set_period_end(struct reorder *o, uint64_t end_ns);

/* Takes a copy; may release. 0, or -ENOMEM: a device not seen before that cannot be noted. */
int reorder_add(struct reorder *o, const struct request *r);

/* Releases all that completed before this time; UINT64_MAX: all. */
void reorder_flush(struct reorder *o, uint64_t completed_before_ns);

size_t reorder_held(const struct reorder *o);

#endif
