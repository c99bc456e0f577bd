/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine: when the agent gives up what, in its three steps: calls of its start alone, then no
 * capability but those its source needs, then calls of running on alone.
 */
#ifndef AGENT_CONFINE_H
#define AGENT_CONFINE_H

#include <stdint.h>

#include "agent/config.h"
#include "base/log.h"
#include "agent/source/source.h"
#include "base/err.h"

/* Before anything is opened. 0 or -errno with one line in err. */
int confine_start(const struct config *config, struct log *log, struct err *err);

/*
 * The tracer is in place and needs these capabilities: for each thread that there is by then. What
 * was to be written to or looked at is then looked for again: a folder that only a capability
 * opened is refused here and not in the middle of the night.
 */
int confine_drop(const struct config *config, uint64_t needs, struct err *err);

/* All threads run. */
int confine_run(const struct config *config, const struct source_ops *source, struct log *log,
		struct err *err);

#endif
