/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sender_end: the result of a run over all sinks, and whether everything was delivered. Pure.
 */
#ifndef AGENT_SENDER_END_H
#define AGENT_SENDER_END_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/send/sink.h"
#include "base/text/err.h"

struct sender_end {
	bool takes_segments;   /* at least one sink takes them */
	uint64_t nr_delivered; /* segments that the sink with the fewest has delivered */
	struct spool_waiting waiting;
	uint64_t nr_lost;	   /* captured requests that were lost on the way to a sink */
	bool is_at_least;	   /* not all of the lost requests could be counted */
	uint64_t nr_lines_dropped; /* profiles that could not be printed */
};

/*
 * Adds the result of one sink. Returns 0, or -EIO with one line in err if the sink delivered
 * nothing although segments wait.
 */
int sender_end_add(struct sender_end *sum, const struct sink_end *end, const char *url,
		   struct err *err);
/* Returns -EIO with one line in err where something was lost on the way. */
int sender_end_judge(const struct sender_end *end, struct err *err);

#endif
