/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_misses: how often the kernel passed a program over because it was running on that CPU
 * already. What bpf(2) tells of a program, readable without that call.
 */
#ifndef AGENT_BPF_MISSES_H
#define AGENT_BPF_MISSES_H

#include <stdint.h>

/* A descriptor to read it from, while the program lives; -1 where there is none. */
int bpf_misses_open(int program_fd);
/* So far; 0 where the kernel does not tell (before 5.12), or fd is -1. */
uint64_t bpf_misses_read(int fd);

#endif
