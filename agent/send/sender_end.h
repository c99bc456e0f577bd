/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sender_end: how a run went, over all sinks, and whether that is what was asked for.
 */
#ifndef AGENT_SENDER_END_H
#define AGENT_SENDER_END_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/send/sink.h"
#include "base/err.h"

struct sender_end {
	bool takes_segments;   /* some sink does */
	uint64_t nr_delivered; /* segments, by the sink that has fewest */
	struct spool_waiting waiting;
	uint64_t nr_lost; /* requests that were captured and lost on the way to a sink ... */
	bool is_at_least; /* ... of which not all could be counted */
	uint64_t nr_lines_dropped; /* profiles that were not printed */
};

/* Adds one sink's end. -EIO with one line in err where nothing reached it and something waits. */
int sender_end_add(struct sender_end *sum, const struct sink_end *end, const char *url,
		   struct err *err);
/* -EIO with one line in err where something was lost on the way. */
int sender_end_judge(const struct sender_end *end, struct err *err);

#endif
