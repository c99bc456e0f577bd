/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overhead: keeps the agent's own cost below a bound by capturing less.
 *
 * The caller hands in, once per window, the processor time that the agent and its kernel side took.
 * When that exceeds the bound in OVERHEAD_PATIENCE consecutive windows, the level rises by one. The
 * level falls again when the estimated cost of the lower level has stayed below OVERHEAD_CALM of
 * the bound for `hold` consecutive windows. The estimate is the cost of one request when the lower
 * level was last in use, times the requests of the window. A lower level that is left again at once
 * doubles `hold` for the next try.
 */
#ifndef AGENT_OVERHEAD_H
#define AGENT_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#define OVERHEAD_PATIENCE 2   /* windows */
#define OVERHEAD_CALM	  0.8 /* share of the bound */
#define OVERHEAD_HOLD	  5   /* windows, at first */
#define OVERHEAD_HOLD_MAX 640 /* windows */

enum overhead_level {
	OVERHEAD_FULL,	   /* every request is characterized and kept in the trace */
	OVERHEAD_NO_TRACE, /* every request is characterized, none is kept */
	OVERHEAD_COUNTERS, /* only the kernel's disk counters are read */
};
#define NR_OVERHEAD_LEVELS 3

/* Returns "full", "no_trace" or "counters". */
const char *overhead_level_name(enum overhead_level level);

struct overhead {
	double bound;		      /* processor seconds per second; 0: no bound */
	bool can[NR_OVERHEAD_LEVELS]; /* the levels that this run offers; OVERHEAD_FULL always */
	enum overhead_level level;
	unsigned int above, below;	   /* consecutive windows above the bound, and calm ones */
	unsigned int hold;		   /* calm windows that are needed before the level falls */
	unsigned int since;		   /* windows since the level fell last */
	double cost_s[NR_OVERHEAD_LEVELS]; /* cost of one request at that level; 0: unknown */
	double last_share;		   /* cost of the last window, CPU seconds per second */
};

void overhead_init(struct overhead *o, double bound, bool can_drop_trace, bool can_count);

/* Judges one window in which `requests` requests completed, and returns the level from now on. */
enum overhead_level overhead_look(struct overhead *o, double cpu_s, double elapsed_s,
				  uint64_t requests);

#endif
