/* SPDX-License-Identifier: Apache-2.0 */
/*
 * durability: describes how a load makes its data durable, by forced writes and by flushes for
 * which a thread waits.
 *
 * There are three counts. Forced writes carry FUA: they complete when their data are on stable
 * storage. Flushing writes carry PREFLUSH: the device empties its cache before them. An awaited
 * flush is one after which the same thread sends, as its next request, a write that arrives after
 * the flush has completed. Such a thread waited for the flush, so a slower flush would slow the
 * load down. A thread that writes during its flush did not wait.
 *
 * Threads are identified by their id; all requests of unknown submitters count as one thread.
 * Threads share DURABILITY_SLOTS slots by the low bits of their ids. Two threads in one slot
 * overwrite each other's flush, so that the count of awaited flushes is a lower bound where there
 * are many threads. Reads are ignored.
 *
 * A request costs O(1) without allocation. The struct takes less than 1 KiB. The next period keeps
 * the pending flushes of the period before.
 */
#ifndef WORKLOAD_DURABILITY_H
#define WORKLOAD_DURABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define DURABILITY_SLOTS 32 /* a power of two */

struct durability_slot {
	uint64_t end_ns; /* when the pending flush completed */
	uint32_t tid;	 /* the thread that sent it */
	bool pending;	 /* the thread's latest request was a flush with a known end */
};

struct durability {
	uint64_t forced, flushing, awaited;
	struct durability_slot slots[DURABILITY_SLOTS];
};

/*
 * A zeroed struct is empty. Begins the next period; flushes that no request has followed yet stay
 * pending.
 */
void durability_clear(struct durability *d);
/* Notes a time that was not observed: the next request of a thread follows no flush. */
void durability_forget(struct durability *d);
void durability_add_many(struct durability *d, const struct request *r, size_t nr);

#endif
