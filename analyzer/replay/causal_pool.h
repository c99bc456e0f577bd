/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_pool: finds the processes of a window whose threads are a pool, as those of qemu-img are:
 * the process keeps several requests under way and hands each next one to whichever thread is
 * idle. A thread of a pool is no client: how much is under way is decided by the process, so that
 * the process is one lane (causal.h).
 *
 * A pool shows by the requests that directly follow a completion of the process. There are far more
 * of them than by chance, they are at least half of its requests, and in hardly any of them the
 * thread that sends is the one whose request completed. A client, in contrast, follows its own
 * completions.
 */
#ifndef ANALYZER_CAUSAL_POOL_H
#define ANALYZER_CAUSAL_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

/* The processes of a window whose threads are pools. */
struct causal_pools {
	uint32_t *pids; /* owned, ascending */
	size_t nr;
};

/*
 * Finds the pools, and gives all their requests the thread id of the process, so that they are one
 * lane. The requests have known arrivals and completions and any order, which stays. Returns 0 or
 * -ENOMEM. The caller releases p whatever this function returns. O(n log n).
 */
int causal_pools_find(struct causal_pools *p, struct request *requests, size_t nr);
void causal_pools_release(struct causal_pools *p);
/* Returns whether this thread id is that of a pool. O(log n). */
bool causal_pools_have(const struct causal_pools *p, uint32_t tid);

#endif
