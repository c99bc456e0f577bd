/* SPDX-License-Identifier: Apache-2.0 */
/* bpf_features: what the running kernel's BPF can do, tried and not told from its version. */
#ifndef AGENT_BPF_FEATURES_H
#define AGENT_BPF_FEATURES_H

#include <stdbool.h>

/* Whether this process may load a program at all. */
bool bpf_may_load(void);

/* Whether an atomic addition can return what it added to: 5.12, 5ffa25502b5a. */
bool bpf_has_fetch(void);

#endif
