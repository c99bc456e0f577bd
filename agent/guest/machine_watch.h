/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine_watch: what only the outside tells of a guest's life: that it stood still with all of its
 * clocks, and that it goes on from a snapshot or as a clone.
 *
 * Stood still: the hardware's clock (/sys/class/rtc/rtc0) went on and no clock of the kernel did.
 * It has whole seconds, so that pauses above one to two seconds are seen, within one second. A
 * clock that was set to the system's time is none of them. Another life: the VM generation id
 * changed, where it can be read (identity.h). For one thread, which may wait for the hardware for
 * some milliseconds.
 */
#ifndef AGENT_MACHINE_WATCH_H
#define AGENT_MACHINE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/segment/segment.h"

#define MACHINE_LOOK_NS	      2000000000u
#define MACHINE_GENERATION_NS 10000000000u /* between looks at the generation id without a cause */

struct machine_watch {
	const char *root; /* in place of "/", for tests; NULL: none. Borrowed */
	struct clock_anchor (*clock)(void);
	bool has_hardware;
	int64_t hardware_s; /* since 1970, by the hardware's clock when it was last readable ... */
	struct clock_anchor at; /* ... and what the kernel's showed just before */
	uint64_t looked_ns;	/* CLOCK_MONOTONIC, last */
	uint64_t generation;	/* 0: not readable */
	uint64_t generation_at_ns;
};

struct machine_news {
	uint64_t stopped_ns; /* the guest stood still for so long since the last look; 0: it did not */
	bool is_restored;    /* it goes on as another life */
};

/* clock: stream_anchor(), or another one for tests. */
void machine_watch_init(struct machine_watch *w, const char *root,
			struct clock_anchor (*clock)(void));
/* True where there is news. Does nothing until MACHINE_LOOK_NS after the last look. */
bool machine_watch_look(struct machine_watch *w, struct machine_news *news);
/* When that is, CLOCK_MONOTONIC; past where a look could not be used and is to be made again. */
static inline uint64_t machine_watch_due_ns(const struct machine_watch *w)
{
	return w->looked_ns + MACHINE_LOOK_NS;
}

#endif
