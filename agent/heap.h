/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap: how the C library keeps the agent's memory.
 *
 * What the agent holds is bounded by its tables (reorder.h, stream.h, window.h), which keep the size that
 * the busiest instant asked for; nothing in it grows with time. Left to the allocator is where the rest
 * lies: arrays that come and go with each segment must not leave holes behind.
 */
#ifndef AGENT_HEAP_H
#define AGENT_HEAP_H

/* Before any thread is started. */
void heap_init(void);

#endif
