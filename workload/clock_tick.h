/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_tick: finds the resolution of the clock that stamped the arrivals. The resolution is the
 * largest step of which all arrival times are whole multiples, counted from the first arrival. A
 * trace in whole seconds has a step of 1 s, in whatever unit its numbers are written.
 *
 * Values for times shorter than the step cannot be computed from such arrivals. Examples are counts
 * in shorter windows, and the variation of gaps whose mean is shorter. A clock of 1 ns is
 * recognized after a few requests and costs nothing from then on. The result is kept from period to
 * period. Cost: one remainder per arrival, O(1). Memory: sizeof(struct clock_tick).
 */
#ifndef WORKLOAD_CLOCK_TICK_H
#define WORKLOAD_CLOCK_TICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

/* k random gaps have a common factor by chance with a probability of about 2^-k. */
#define CLOCK_TICK_MIN_GAPS 16

struct clock_tick {
	uint64_t nr; /* arrivals that were examined */
	uint64_t first_ns;
	uint64_t step_ns;  /* 0: all arrivals are at one instant */
	uint64_t nr_apart; /* arrivals at another instant than the one before; not past a step of 1
			    * ns */
	uint64_t latest_ns;
	uint64_t nr_timeless; /* arrivals whose source knows only their order and no time */
};

/* A zeroed struct is empty. */
void clock_tick_add_many(struct clock_tick *t, const struct request *r, size_t nr);

/* Returns the resolution in s, or NaN where too few arrivals lie apart. */
double clock_tick_resolution_s(const struct clock_tick *t);
/* Returns whether most requests have no time at all. */
bool clock_tick_timeless(const struct clock_tick *t);
/*
 * Returns whether span_s is shorter than the step, so that nothing is known about times of that
 * length.
 */
bool clock_tick_hides(const struct clock_tick *t, double span_s);

#endif
