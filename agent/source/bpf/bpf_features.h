/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_features: finds out which features the running kernel's BPF has. Each feature is tried,
 * because a version number says nothing about backports.
 */
#ifndef AGENT_BPF_FEATURES_H
#define AGENT_BPF_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether this process may load a BPF program at all. */
bool bpf_may_load(void);

/*
 * Returns whether an atomic addition can return the old value. It can since Linux 5.12 (commit
 * 5ffa25502b5a).
 */
bool bpf_has_fetch(void);

/*
 * Opens /proc/self/fdinfo of a loaded program. bpf_misses_read() reads from this descriptor without
 * calling bpf(2), which the system-call filter forbids later. Returns -1 where the file cannot be
 * opened.
 */
int bpf_misses_open(int program_fd);

/*
 * Returns how often the kernel skipped the program because it was already running on that
 * processor. Returns 0 where the kernel does not report this number (before 5.12) or fd is -1.
 */
uint64_t bpf_misses_read(int fd);

#endif
