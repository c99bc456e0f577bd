/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reorder: takes requests in the order in which they complete and releases them in order of
 * arrival.
 *
 * A tracer hands requests over when they complete, one processor after the other. Windows and
 * segments need them in order of arrival. A request is held until the period in which it completed
 * ends. At most max_held requests are held; when there is no room, the half that arrived first is
 * released early. A request that took longer than that is released late and out of order, but never
 * lost.
 *
 * On release each request gets its queue_depth: the number of requests of its device that had
 * arrived before it and not yet completed, counted among the released ones.
 *
 * Cost: amortized O(1) per request: two radix sorts per release and one copy in and out. Nothing is
 * allocated after reorder_new() except for a new device. Memory: about 130 bytes per request held,
 * which become resident as they are first used, and stay so until reorder_give_back(). One thread.
 */
#ifndef AGENT_REORDER_H
#define AGENT_REORDER_H

#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

/*
 * More than any disk has under way, so that a slow request still finds its place in the order. This
 * takes 2 MiB and holds 50 ms of requests at 300 000 requests per second.
 */
#define REORDER_MAX_HELD 16384u

struct reorder;

struct reorder_sink {
	/*
	 * Takes nr > 0 requests in order of arrival. The callee may change the array until it
	 * returns.
	 */
	void (*release)(void *ctx, struct request *r, size_t nr);
	void *ctx;
};

/* max_held must be at least 2, and sink is copied. Returns 0, -EINVAL or -ENOMEM. */
int reorder_new(struct reorder **out, size_t max_held, const struct reorder_sink *sink);
void reorder_free(struct reorder *o);

/*
 * Requests that completed at or after this time belong to the next period. When there is no room,
 * the requests of this period are released first; those of the next one follow only where these are
 * too few.
 */
void reorder_set_period_end(struct reorder *o, uint64_t end_ns);

/*
 * Adds a copy of the request, and may release others. Returns 0, or -ENOMEM where its device is new
 * and there is no memory to note it.
 */
int reorder_add(struct reorder *o, const struct request *r);

/* Releases every request that completed before this time; UINT64_MAX: every one. */
void reorder_flush(struct reorder *o, uint64_t completed_before_ns);

/*
 * Gives back the memory that is resident for more requests than are held now. Nothing is released.
 * Call it once in a while, right after a flush. It costs O(max_held), and later one page fault for
 * each page that fills again.
 */
void reorder_give_back(struct reorder *o);

#endif
