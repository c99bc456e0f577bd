/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tid_cache: threads as /proc knows them, for tracers that tell no more than a thread's number.
 *
 * Bounded: a thread's place is its number's lower bits, the latest keeps it. What is older than
 * TID_CACHE_FRESH_NS is looked up again. A thread that is gone keeps what was known, else it is
 * taken for its own process.
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
	const char *proc;	   /* "/proc" */
};

/* 0 or -ENOMEM. */
int tid_cache_init(struct tid_cache *c, const char *proc);
void tid_cache_release(struct tid_cache *c);
/* The thread's name, told by the tracer: better than what /proc says later. */
void tid_cache_note(struct tid_cache *c, uint32_t tid, const char *comm);
/* Never NULL; valid until the next call. is_new (may be NULL): whether it is news. */
const struct tid_entry *tid_cache_find(struct tid_cache *c, uint32_t tid, uint64_t now_ns,
				       bool *is_new);

#endif
