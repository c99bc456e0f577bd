/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_pool: finds the processes of a window whose threads are a pool, as those of qemu-img are:
 * the process keeps several requests under way and hands each next one to whichever thread is
 * idle. A thread of a pool is no client: how much is under way is decided by the process, so that
 * the process is one lane (causal.h).
 *
 * A process is taken for a pool if at least half of its requests directly follow a completion of
 * the process, if these are far more than there would be by chance, and if hardly any of them comes
 * from a thread whose own request has just completed. It is one too if few clients share many
 * threads (causal_pool_few.h). The threads of a process without a pool are clients, each of which
 * follows its own completions.
 */
#ifndef ANALYZER_CAUSAL_POOL_H
#define ANALYZER_CAUSAL_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

/* A process whose threads are a pool. */
struct causal_pool {
	uint32_t pid;
	bool hands_on; /* false: few clients share its threads, and think between their requests */
};

/* The processes of a window whose threads are pools. */
struct causal_pools {
	struct causal_pool *of; /* owned, in ascending order of pid */
	size_t nr;
};

/*
 * Finds the pools, and gives all their requests the thread id of the process, so that they are one
 * lane. A process is judged by the first requests of it, in the order that is given. Arrivals and
 * completions are known; the order stays. Returns 0 or -ENOMEM. The caller releases p whatever this
 * function returns. Expected O(n), and 48 bytes for each request of a process with several
 * threads, of which the first 10 000 count.
 */
int causal_pools_make(struct causal_pools *p, struct request *requests, size_t nr);
void causal_pools_release(struct causal_pools *p);
/* Returns the pool that has this thread id, or NULL. O(log n). */
const struct causal_pool *causal_pools_find(const struct causal_pools *p, uint32_t tid);

#endif
