/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task: knows the names of the processes that did I/O, and which of them the running segment
 * mentions.
 *
 * Names come from the source as it meets threads, otherwise from /proc. The table is bounded: when
 * it is full, processes that neither this segment nor the last one mentioned are forgotten. For one
 * thread, but for task_table_pids().
 */
#ifndef AGENT_TASK_H
#define AGENT_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/segment/segment.h"

#define TASK_MAX 4096

struct task_table;

/*
 * max is the number of processes that are kept, a power of two of at least 2. Returns 0, -EINVAL or
 * -ENOMEM.
 */
int task_table_new(struct task_table **out, size_t max);
void task_table_free(struct task_table *t);

/* Notes a thread's name. A process is named after its first thread where that name is known. */
void task_table_note(struct task_table *t, uint32_t tid, uint32_t pid, const char *comm);
/* Notes that the running segment mentions this process. O(1). */
void task_table_use(struct task_table *t, uint32_t pid);

/*
 * Returns the processes that the running segment mentions, at most TASK_MAX, valid until the next
 * call, and begins the next segment. Names that are still unknown are looked up in /proc.
 */
size_t task_table_collect(struct task_table *t, const struct segment_process **out);

/*
 * Copies the pids of the last collect. May be called by the thread that scans the files of
 * processes.
 */
size_t task_table_pids(struct task_table *t, uint32_t *out, size_t max);

#endif
