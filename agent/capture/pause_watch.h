/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pause_watch: intervals in which nothing ran that could have captured anything, as the capture
 * thread's own looks at the clocks tell them. It looks each time it wakes; no clock is read here.
 *
 * Suspended: CLOCK_BOOTTIME went on and CLOCK_MONOTONIC did not. Stalled: CLOCK_MONOTONIC went on for
 * longer than the thread meant to wait and had work to do: the guest was stopped and its clock was not,
 * or the agent was stopped (a signal, the cgroup's freezer) or got no processor. Which of the two, the
 * requests of that time tell (pipeline_pause.c). A guest whose clocks are stopped with it shows
 * nothing here: machine_watch.h has that.
 */
#ifndef AGENT_PAUSE_WATCH_H
#define AGENT_PAUSE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/ledger.h"
#include "formats/segment/segment.h"

/* The capture thread looks every 10 to 250 ms; so late it is only where nothing let it run. */
#define PAUSE_STALL_NS	 1000000000u
#define PAUSE_SUSPEND_NS 100000000u

struct pause_look {
	struct clock_anchor at;
	uint64_t cpu_ns;  /* of the thread, so far */
	uint64_t wait_ns; /* that it meant to wait at most since the look before */
};

struct pause {
	enum pause_cause cause; /* PAUSE_SUSPENDED or PAUSE_STALLED */
	/* Before and after. Of a suspension the monotonic times are those of the looks around it. */
	struct clock_anchor from, to;
	uint64_t length_ns;
};

/* Zeroed: has not looked yet. */
struct pause_watch {
	struct pause_look last;
	bool has_last;
};

/* Looks: true where there was a pause since the last look, which out then describes. */
bool pause_watch_look(struct pause_watch *w, const struct pause_look *now, struct pause *out);

#endif
