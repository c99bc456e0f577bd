/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_table: of which process a thread is, and whether it is the kernel's, for tracers that tell
 * the thread alone. Asked of /proc when a thread is met, when its name has changed, and again after
 * THREAD_KEEP_NS; a thread that is gone by then stays of unknown process. Direct-mapped, of fixed
 * size: threads that share a slot cost a look at /proc each time they alternate. One thread.
 */
#ifndef AGENT_THREAD_TABLE_H
#define AGENT_THREAD_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define THREAD_SLOTS	  4096u
#define THREAD_KEEP_NS	  10000000000ull
#define THREAD_COMM_BYTES 16

struct thread_fact {
	uint64_t known_ns;
	uint32_t tid;
	uint32_t pid; /* 0 unknown */
	bool is_kernel;
	char comm[THREAD_COMM_BYTES];
};

struct thread_table;

/* proc: where it is mounted; NULL: "/proc". 0 or -ENOMEM. */
int thread_table_new(struct thread_table **out, const char *proc);
void thread_table_free(struct thread_table *t);

/*
 * What is known of this thread, never NULL; valid until the next call. comm: its name now, or "" to
 * take that of /proc. *is_new: it was asked for just now. O(1), and a read of /proc where new.
 */
const struct thread_fact *thread_table_find(struct thread_table *t, uint32_t tid, const char *comm,
					    uint64_t now_ns, bool *is_new);

#endif
