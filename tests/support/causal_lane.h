/* SPDX-License-Identifier: Apache-2.0 */
/* causal_lane: requests of threads, and their lanes in a plan, for tests of analyzer/replay. */
#ifndef TESTS_CAUSAL_LANE_H
#define TESTS_CAUSAL_LANE_H

#include <stddef.h>

#include "analyzer/replay/causal.h"

#define US 1000ull
#define MS 1000000ull

/* Returns a request of 4 KiB of a thread; tid 0 is write-back of the kernel. */
static inline struct request make(uint32_t tid, uint64_t arrival_ns, uint64_t takes_ns,
				  int operation)
{
	return (struct request){ .tid = tid,
				 .flags = tid ? 0 : REQUEST_KERNEL_THREAD,
				 .arrival_ns = arrival_ns,
				 .dispatch_ns = arrival_ns,
				 .completion_ns = arrival_ns + takes_ns,
				 .sector = 8 * (arrival_ns / US % 1000),
				 .bytes = 4096,
				 .operation = (uint8_t)operation };
}

/* Returns the lane of a thread, or NULL. */
static inline const struct causal_lane *lane_of(const struct causal_plan *plan, uint32_t tid)
{
	for (size_t i = 0; i < plan->nr_lanes; i++)
		if (plan->lanes[i].tid == tid)
			return &plan->lanes[i];
	return NULL;
}

#endif
