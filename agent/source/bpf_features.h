/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_features: what the running kernel's BPF can do. Each feature is tried, because a version
 * number says nothing about backports.
 */
#ifndef AGENT_BPF_FEATURES_H
#define AGENT_BPF_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this process may load a BPF program at all. */
bool bpf_may_load(void);

/* Whether an atomic addition can return the old value: since Linux 5.12, commit 5ffa25502b5a. */
bool bpf_has_fetch(void);

/*
 * Opens /proc/self/fdinfo of a loaded program, from which bpf_misses_read() reads without a call of
 * bpf(2), which the filter of system calls does not let through later. -1 where there is none.
 */
int bpf_misses_open(int program_fd);

/*
 * How often the kernel did not run the program because it was running on that processor already. 0
 * where the kernel does not report this (before 5.12), or fd is -1.
 */
uint64_t bpf_misses_read(int fd);

#endif
