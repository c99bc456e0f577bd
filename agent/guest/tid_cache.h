/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tid_cache: keeps facts about threads from /proc, for tracers that report only a thread's number.
 *
 * The cache is bounded: the lower bits of a thread's number choose its slot, and the latest thread
 * keeps the slot. A fact older than TID_CACHE_FRESH_NS is looked up again. A thread that has gone
 * keeps the facts that were known; if none were, it is taken for a process of its own.
 */
#ifndef AGENT_TID_CACHE_H
#define AGENT_TID_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define TID_CACHE_NR	   4096u
#define TID_CACHE_FRESH_NS 10000000000ull
#define TID_CACHE_COMM	   16

struct tid_entry {
	uint64_t read_ns; /* 0: never */
	uint32_t tid, pid;
	bool is_kernel_thread;
	char comm[TID_CACHE_COMM];
};

struct tid_cache {
	struct tid_entry *entries; /* owned */
	const char *proc;	   /* usually "/proc" */
};

/* Returns 0 or -ENOMEM. */
int tid_cache_init(struct tid_cache *c, const char *proc);
void tid_cache_release(struct tid_cache *c);
/*
 * Stores the thread's name as the tracer reported it, which is more accurate than /proc at a later
 * time.
 */
void tid_cache_note(struct tid_cache *c, uint32_t tid, const char *comm);
/*
 * Returns the entry of a thread: never NULL, valid until the next call. is_new (may be NULL)
 * receives whether the facts have just been read.
 */
const struct tid_entry *tid_cache_find(struct tid_cache *c, uint32_t tid, uint64_t now_ns,
				       bool *is_new);

#endif
