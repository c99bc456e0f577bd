/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privileges: what the process may do, given up as soon as nothing needs it any more.
 *
 * Capabilities belong to threads: privileges_drop() is to be called by each. What a source
 * needs while it runs it says itself (source.h); most need nothing.
 */
#ifndef AGENT_PRIVILEGES_H
#define AGENT_PRIVILEGES_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define PRIVILEGE(cap) (1ull << (cap))

/*
 * The calling thread keeps those of its capabilities that are in keep and loses all others for
 * good, the ambient and inheritable ones too; no program that it might start gains any
 * (no_new_privs). 0 or -errno with one line in err.
 */
int privileges_drop(uint64_t keep, struct err *err);

/* The capabilities that the calling thread may use. */
uint64_t privileges_held(void);

/*
 * Whether a descriptor of a BPF program can be used without capabilities: since Linux 5.19 always,
 * before only where kernel.unprivileged_bpf_disabled is 0. Tried, not told from the version.
 */
bool privileges_bpf_is_free(int program_fd);

/* "none", or the names of the capabilities, comma-separated. */
void privileges_name(uint64_t held, char *out, size_t bytes);

#endif
