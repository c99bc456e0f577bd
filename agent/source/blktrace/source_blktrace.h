/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_blktrace: the source is described in source.h; this header has the declarations that only
 * its tests need.
 */
#ifndef AGENT_SOURCE_BLKTRACE_H
#define AGENT_SOURCE_BLKTRACE_H

#include "agent/source/blktrace/blktrace_disk.h"
#include "agent/source/source.h"
#include "formats/pairing.h"

/* Opens source_blktrace on the given kernel interface instead of the real one. */
int source_blktrace_open_on(struct source **out, const struct source_config *config,
			    const struct blktrace_kernel *kernel, struct err *err);

#endif
