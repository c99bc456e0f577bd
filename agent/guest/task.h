/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task: names of the processes that did I/O, and which of them the running segment mentions.
 *
 * Names come from the source as it meets threads, else from /proc. Bounded: when full, processes
 * that neither this segment nor the last mentioned are forgotten. One thread, but for
 * task_table_pids().
 */
#ifndef AGENT_TASK_H
#define AGENT_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/segment/segment.h"

#define TASK_MAX 4096

struct task_table;

/* max: processes kept, a power of two >= 2. 0, -EINVAL, -ENOMEM. */
int task_table_new(struct task_table **out, size_t max);
void task_table_free(struct task_table *t);

/* A thread's name. The process is named after its first thread where that is known. */
void task_table_note(struct task_table *t, uint32_t tid, uint32_t pid, const char *comm);
/* The running segment mentions this process. O(1). */
void task_table_use(struct task_table *t, uint32_t pid);

/*
 * The processes that the running segment mentions, at most TASK_MAX, valid until the next call;
 * the next segment begins. Names that are still unknown are looked up in /proc.
 */
size_t task_table_collect(struct task_table *t, const struct segment_process **out);

/* Copies the processes of the last collect; for the thread that scans their files. */
size_t task_table_pids(struct task_table *t, uint32_t *out, size_t max);

#endif
