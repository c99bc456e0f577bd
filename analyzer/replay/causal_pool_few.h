/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_pool_few: this module finds out whether few clients share the many threads of a process. A
 * web server is such a process if it hands each answer to any thread that is idle.
 *
 * A thread has a task from a request until it has nothing under way and sends nothing for
 * CAUSAL_FOLLOW_NS. Threads that are clients begin their tasks whatever the others do. Where few
 * clients share the threads, as many tasks as there are clients are never exceeded: while that many
 * are under way hardly any begins, although most of the threads are idle.
 */
#ifndef ANALYZER_CAUSAL_POOL_FEW_H
#define ANALYZER_CAUSAL_POOL_FEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This struct is an event of a process: a request that is sent, or one that completes. */
struct pool_event {
	uint64_t ns;
	uint32_t pid, tid, request;
	bool sends;
};

/*
 * Judges a process by its events in order of time, completions before requests of the same time.
 * Returns 0 or -ENOMEM. O(n log n).
 */
int causal_pool_few(const struct pool_event *events, size_t nr, bool *is_few);

#endif
