/* SPDX-License-Identifier: Apache-2.0 */
/* agent: makes all parts that the configuration asks for, and starts and stops them in order. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <stdbool.h>

#include "agent/config.h"
#include "agent/stop_wait.h"
#include "base/system/log.h"
#include "base/text/err.h"

/*
 * A clean stop waits this long for an analyzer to take the spool. Segments that were not sent by
 * then stay in the spool.
 */
#define AGENT_STOP_WAIT_S 10

struct agent;

/*
 * Finds the devices, opens sinks, source and listener, and begins. Returns 0, or -errno with one
 * line in err that names the requested part that is not available; nothing is left running then.
 * config, log and stop are borrowed; the defaults for the kind of output are written into config.
 */
int agent_start(struct agent **out, struct config *config, struct log *log,
		const struct stop_wait *stop, struct err *err);

/*
 * Shows the live view, or waits, until the duration is over, a stop is asked for, or q is pressed.
 * Returns 0, or -errno with one line in err where the source or standard output failed meanwhile.
 */
int agent_watch(struct agent *a, struct err *err);

/*
 * Passes on everything that was captured, reports the run in one line, and frees the agent. Returns
 * 0, or -EIO with one line in err where captured data was lost on its way or nothing could be
 * delivered. a may be NULL.
 */
int agent_stop(struct agent *a, struct err *err);

#endif
