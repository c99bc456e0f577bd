/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine: the three steps in which the agent gives up privileges: first the system calls that only
 * the start of a process needs, then all capabilities but those of its source, then the system
 * calls that only its own start needs.
 */
#ifndef AGENT_CONFINE_H
#define AGENT_CONFINE_H

#include <stdint.h>

#include "agent/config.h"
#include "agent/source/source.h"
#include "base/system/log.h"
#include "base/text/err.h"

/*
 * Is the first step; call it before anything is opened. Returns 0 or -errno with one line in err.
 */
int confine_start(const struct config *config, struct log *log, struct err *err);

/*
 * Drops all capabilities but needs, which the opened tracer requires, for every thread that exists
 * by then. Afterwards the folders and files that the agent will use are examined again: a folder
 * that only a capability had opened is refused now and not hours later. Returns 0 or -errno with
 * one line in err.
 */
int confine_drop(const struct config *config, uint64_t needs, struct err *err);

/* Is the last step; call it when all threads run. Returns 0 or -errno with one line in err. */
int confine_run(const struct config *config, const struct source_ops *source, struct log *log,
		struct err *err);

#endif
