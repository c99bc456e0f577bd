/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_table: finds out to which process a thread belongs and whether it is a kernel thread, for
 * tracers that report only the thread. It asks /proc when a thread is first met, when its name has
 * changed, and again after THREAD_KEEP_NS. The process of a thread that has gone by then stays
 * unknown. The table is direct-mapped and of fixed size: two threads that share a slot cost a read
 * of /proc each time they alternate. For one thread.
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
	uint32_t pid; /* 0: unknown */
	bool is_kernel;
	char comm[THREAD_COMM_BYTES];
};

struct thread_table;

/* Makes a table. proc is the mount point of /proc; NULL: "/proc". Returns 0 or -ENOMEM. */
int thread_table_new(struct thread_table **out, const char *proc);
void thread_table_free(struct thread_table *t);

/*
 * Returns the known facts about this thread: never NULL, valid until the next call. comm is its
 * present name, or "" to take the name from /proc. *is_new is set where /proc was read just now.
 * O(1), plus a read of /proc for a new thread.
 */
const struct thread_fact *thread_table_find(struct thread_table *t, uint32_t tid, const char *comm,
					    uint64_t now_ns, bool *is_new);

#endif
