/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges: reads and drops the capabilities of the process, so that it has none that it no
 * longer needs.
 *
 * Capabilities belong to threads, so each thread must call privileges_drop(). A source states
 * itself which capabilities it needs while it runs (source.h); most need none.
 */
#ifndef AGENT_PRIVILEGES_H
#define AGENT_PRIVILEGES_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text/err.h"

#define PRIVILEGE(cap) (1ull << (cap))

/*
 * The calling thread keeps those of its capabilities that are in keep, and loses all others for
 * good, including the ambient and inheritable ones. No program that it might start can gain a
 * capability (no_new_privs). Returns 0 or -errno with one line in err.
 */
int privileges_drop(uint64_t keep, struct err *err);

/* Returns the capabilities that the calling thread may use. */
uint64_t privileges_held(void);

/*
 * Returns whether a descriptor of a BPF program can be used without capabilities. This is always so
 * since Linux 5.19; before, only where kernel.unprivileged_bpf_disabled is 0. The function tries
 * it, because a version number says nothing about backports.
 */
bool privileges_bpf_is_free(int program_fd);

/* Writes the names of the capabilities, separated by commas, or "none". */
void privileges_name(uint64_t held, char *out, size_t bytes);

#endif
