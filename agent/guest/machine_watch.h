/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_watch: detects two events that the guest's own clocks do not show: that it stood still
 * together with all its clocks, and that it continues from a snapshot or as a clone.
 *
 * Standing still: the hardware clock (/sys/class/rtc/rtc0) advanced while no clock of the kernel
 * did. It has whole seconds, so pauses longer than one to two seconds are detected, with an error
 * of up to one second. A hardware clock that is merely set to the system's time is not taken for a
 * pause. Continuing from a snapshot or as a clone: the VM generation id changed, if it can be read
 * (identity.h). For one thread, which may wait some milliseconds for the hardware.
 */
#ifndef AGENT_MACHINE_WATCH_H
#define AGENT_MACHINE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/segment/segment.h"

#define MACHINE_LOOK_NS 2000000000u
/* time between looks at the generation id without a cause */
#define MACHINE_GENERATION_NS 10000000000u

struct machine_watch {
	const char *root; /* used in place of "/" by tests; NULL: none; borrowed */
	struct clock_anchor (*clock)(void);
	bool has_hardware;
	/* seconds since 1970 by the hardware clock when it was last readable ... */
	int64_t hardware_s;
	struct clock_anchor at; /* ... and the kernel's clocks just before that reading */
	uint64_t looked_ns;	/* time of the last look, CLOCK_MONOTONIC */
	uint64_t generation;	/* 0: the id is not readable */
	uint64_t generation_at_ns;
};

struct machine_news {
	uint64_t stopped_ns; /* how long the guest stood still since the last look; 0: it did not */
	bool is_restored;    /* the guest continues from a snapshot or as a clone */
};

/* Prepares w. clock is stream_anchor(), or a test's own function. */
void machine_watch_init(struct machine_watch *w, const char *root,
			struct clock_anchor (*clock)(void));
/*
 * Looks, and returns true where one of the events happened. It does nothing until MACHINE_LOOK_NS
 * after the last look.
 */
bool machine_watch_look(struct machine_watch *w, struct machine_news *news);
/*
 * Returns when the next look is due, CLOCK_MONOTONIC. The time lies in the past where a look could
 * not be used and must be repeated.
 */
static inline uint64_t machine_watch_due_ns(const struct machine_watch *w)
{
	return w->looked_ns + MACHINE_LOOK_NS;
}

#endif
