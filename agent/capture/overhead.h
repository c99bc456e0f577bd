/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overhead: keeps the agent's own cost below a bound by capturing less.
 *
 * Asked once a window with the CPU time that passed (the agent's and its kernel side's). Above the
 * bound in OVERHEAD_PATIENCE windows one after another it goes a level up; it goes down again when
 * what the lower level would cost, by what a request cost there last, stays below OVERHEAD_CALM of
 * the bound as long as its hold says. A level that had to be left again at once doubles its hold.
 */
#ifndef AGENT_OVERHEAD_H
#define AGENT_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#define OVERHEAD_PATIENCE 2   /* windows */
#define OVERHEAD_CALM	  0.8 /* of the bound */
#define OVERHEAD_HOLD	  5   /* windows, at first */
#define OVERHEAD_HOLD_MAX 640 /* windows */

enum overhead_level {
	OVERHEAD_FULL,	   /* every request is characterized and kept */
	OVERHEAD_NO_TRACE, /* every request is characterized, none kept */
	OVERHEAD_COUNTERS, /* the kernel's counters alone */
};
#define NR_OVERHEAD_LEVELS 3
/* "full", "no_trace", "counters" */
const char *overhead_level_name(enum overhead_level level);

struct overhead {
	double bound; /* CPU seconds a second, of one CPU; 0: none, nothing is ever shed */
	bool can[NR_OVERHEAD_LEVELS]; /* which levels there are; FULL always is */

	enum overhead_level level;
	unsigned int above, below; /* windows one after another */
	unsigned int hold, since;  /* windows to be calm; since the level was last lowered */
	double cost_s[NR_OVERHEAD_LEVELS]; /* of a request at that level, last seen; 0 unknown */
	double last_share;		   /* of the last window: CPU seconds a second */
};

void overhead_init(struct overhead *o, double bound, bool can_drop_trace, bool can_count);

/* One window: the level to be at from now on. requests: that completed in it. */
enum overhead_level overhead_look(struct overhead *o, double cpu_s, double elapsed_s,
				  uint64_t requests);

#endif
