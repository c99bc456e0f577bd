/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaps: the times in which nobody watched a host, ordered and disjoint, on CLOCK_REALTIME.
 *
 * Pictures over time shade them and rates leave them out, because an unwatched time is not an idle
 * time.
 */
#ifndef ANALYZER_REPORT_DRAW_GAPS_H
#define ANALYZER_REPORT_DRAW_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct time_gap {
	uint64_t begin_ns, end_ns;
};

struct gaps {
	struct time_gap *items; /* owned */
	size_t nr;
};

void gaps_release(struct gaps *g);
/*
 * Computes the times in which neither of the two was watched. out is initialized here and released
 * by the caller. Returns 0 or -ENOMEM.
 */
int gaps_common(const struct gaps *a, const struct gaps *b, struct gaps *out);
/*
 * Takes a watched interval out of the gaps. An empty interval changes nothing. Returns 0 or
 * -ENOMEM.
 */
int gaps_cut(struct gaps *g, uint64_t begin_ns, uint64_t end_ns);
/*
 * Adds all times before and after the period [begin, end), which holds the gaps, so that a column
 * of time that the period begins or ends in counts with its watched part. Returns 0 or -ENOMEM.
 */
int gaps_outside(struct gaps *g, uint64_t begin_ns, uint64_t end_ns);
/* Returns the nanoseconds of [begin, end) that lie in gaps. */
uint64_t gaps_within(const struct time_gap *items, size_t nr, uint64_t begin_ns, uint64_t end_ns);
/*
 * Returns the nanoseconds of [begin, end) that were watched. An interval that has requests was
 * watched, so it counts whole where the gaps cover all of it.
 */
uint64_t gaps_watched_ns(const struct time_gap *items, size_t nr, uint64_t begin_ns,
			 uint64_t end_ns, bool has_requests);

#endif
