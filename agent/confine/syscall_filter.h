/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_filter: the system calls that the process can still make (seccomp).
 *
 * In two phases: from the start those that starting up needs, and once the tracer runs only those
 * of running on. A filter is never taken back. What is in no list fails with ENOSYS, as on a kernel
 * that has no such call, which is what a C library expects of one; calls that start programs,
 * change who the process is, load code into the kernel or reach into other processes end it at
 * once. docs/security.md lists both phases; agent-privileges.sh holds that list against this one.
 */
#ifndef AGENT_SYSCALL_FILTER_H
#define AGENT_SYSCALL_FILTER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

enum syscall_phase { SYSCALLS_START, SYSCALLS_RUN };

/* What the second phase is for: calls come only with what needs them. */
struct syscall_use {
	bool sends;	/* to an analyzer */
	bool listens;	/* for those who fetch /metrics */
	bool stores;	/* into a folder */
	bool prints;	/* windows to standard output */
	bool shows;	/* on a terminal */
	bool blktraces; /* ioctls on disks, and CPU by CPU */
};

/*
 * Holds for all threads of the process from now on. only_log: nothing fails, the kernel's audit log
 * names what would have. 0 or -errno with one line in err; -ENOSYS: this kernel has no seccomp.
 */
int syscall_filter_load(enum syscall_phase phase, const struct syscall_use *use, bool only_log,
			struct err *err);

/* How many calls the phase lets through. */
size_t syscall_filter_count(enum syscall_phase phase, const struct syscall_use *use);

/* One line per call: phase, what for, name. */
void syscall_filter_print(FILE *out);

#endif
