/* SPDX-License-Identifier: Apache-2.0 */
/*
 * durability: how a load makes its data durable: forced writes, and who waits for flushes.
 *
 * Three counts. Forced writes carry FUA: they end when their data are on stable storage. Flushing writes
 * carry PREFLUSH: the device empties its cache before them. A flush is awaited where the next request
 * that the same thread sends, from the flush on, is a write that arrives after the flush has ended: the
 * thread waited, so a slower flush slows the load down. A thread that writes on during its flush did not.
 *
 * Threads are told by their id, or all are one where the issuer is unknown. They share DURABILITY_SLOTS
 * slots by their id's low bits; two threads in one slot forget each other's flush, so that the count of
 * awaited flushes is a lower bound with many threads. Reads play no part.
 *
 * O(1) a request without allocation; below 1 KiB. The next period knows the flushes of the one before.
 */
#ifndef WORKLOAD_DURABILITY_H
#define WORKLOAD_DURABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define DURABILITY_SLOTS 32 /* a power of two */

struct durability_slot {
	uint64_t end_ns; /* of the flush that is pending */
	uint32_t tid;	 /* who sent it */
	bool pending;	 /* the latest request was a flush with a known end */
};

struct durability {
	uint64_t forced, flushing, awaited;
	struct durability_slot slots[DURABILITY_SLOTS];
};

/* A zeroed struct is empty. The next period: flushes that nobody followed yet stay pending. */
void durability_clear(struct durability *d);
/* Nobody watched for a while: what comes next follows no flush. */
void durability_forget(struct durability *d);
void durability_add_many(struct durability *d, const struct request *r, size_t nr);

#endif
