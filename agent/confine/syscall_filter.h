/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_filter: restricts the system calls that the process can still make (seccomp).
 *
 * There are two phases: from the start on, the calls that starting needs; once the tracer runs,
 * only the calls that running needs. A filter is never removed. A call that is in no list fails
 * with ENOSYS, as on a kernel without this call, which C libraries handle. Calls that start
 * programs, change the identity of the process, load code into the kernel or access other processes
 * end the process at once. docs/security.md lists both phases; the test agent-privileges.sh
 * compares that list with this one.
 */
#ifndef AGENT_SYSCALL_FILTER_H
#define AGENT_SYSCALL_FILTER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text/err.h"

enum syscall_phase { SYSCALLS_START, SYSCALLS_RUN };

/*
 * The tasks of the agent in the second phase. A call is allowed only if one of these tasks needs
 * it.
 */
struct syscall_use {
	bool sends;	/* sends to an analyzer */
	bool listens;	/* serves /metrics */
	bool stores;	/* stores into a folder */
	bool prints;	/* prints windows to standard output */
	bool shows;	/* shows the live view on a terminal */
	bool blktraces; /* uses ioctls on disks and moves from CPU to CPU */
};

/*
 * Loads the filter for all threads of the process. only_log: no call fails, but the kernel's audit
 * log names each call that would have failed. Returns 0 or -errno with one line in err; -ENOSYS:
 * this kernel has no seccomp.
 */
int syscall_filter_load(enum syscall_phase phase, const struct syscall_use *use, bool only_log,
			struct err *err);

/* Returns the number of calls that the phase allows. */
size_t syscall_filter_count(enum syscall_phase phase, const struct syscall_use *use);

/* Prints one line per call: phase, purpose, name. */
void syscall_filter_print(FILE *out);

#endif
