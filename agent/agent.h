/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent: everything the configuration asks for, put together, started and stopped in order.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>

#include "agent/config.h"
#include "base/log.h"
#include "agent/stop_wait.h"
#include "base/err.h"

/* How long a clean stop waits for an analyzer to take the spool; the rest stays in it. */
#define AGENT_STOP_WAIT_S 10

struct agent;

/*
 * Finds the devices, opens sinks, source and listener, and begins. -errno with one line in err,
 * which names what was asked for and cannot be had; nothing is left running then. config, log and
 * stop are borrowed; config gets its defaults for where the output goes.
 */
int agent_start(struct agent **out, struct config *config, struct log *log,
		const struct stop_wait *stop, struct err *err);

/*
 * Shows, or waits, until the duration is over, stop is asked, or q is pressed. -errno with one line
 * in err where the source or standard output failed on the way.
 */
int agent_watch(struct agent *a, struct err *err);

/*
 * Passes on everything captured, says in one line how the run went, and frees. -EIO with one line
 * in err where something captured was lost on its way, or nothing could be delivered. NULL is
 * legal.
 */
int agent_stop(struct agent *a, struct err *err);

#endif
