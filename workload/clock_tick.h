/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_tick: the resolution of the clock that stamped the arrivals: the largest step that all of
 * them are whole multiples of, seen from the first. A trace in whole seconds has a step of 1 s,
 * whatever its numbers are written as.
 *
 * What is shorter than the step cannot be told from such arrivals: counts in shorter windows, and
 * the variation of gaps whose mean is shorter. A clock of 1 ns is known after a few requests and
 * costs nothing from there on. It is kept from period to period.
 * Cost O(1), a remainder; memory sizeof(struct clock_tick).
 */
#ifndef WORKLOAD_CLOCK_TICK_H
#define WORKLOAD_CLOCK_TICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

/* That k gaps at random have a common factor by chance has a probability of about 2^-k. */
#define CLOCK_TICK_MIN_GAPS 16

struct clock_tick {
	uint64_t nr; /* arrivals, as far as they were looked at */
	uint64_t first_ns;
	uint64_t step_ns; /* 0: all at one instant */
	uint64_t nr_apart; /* arrivals at another instant than the one before; not past a step of 1 */
	uint64_t latest_ns;
	uint64_t nr_timeless; /* of them, without any time known: an order alone */
};

/* A zeroed struct is empty. */
void clock_tick_add_many(struct clock_tick *t, const struct request *r, size_t nr);

/* Seconds; NaN where too few arrivals lie apart to tell. */
double clock_tick_resolution_s(const struct clock_tick *t);
/* Whether most requests have no time at all. */
bool clock_tick_timeless(const struct clock_tick *t);
/* Whether this much time is below the step, so that nothing can be said of it. */
bool clock_tick_hides(const struct clock_tick *t, double span_s);

#endif
