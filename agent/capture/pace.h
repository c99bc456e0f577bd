/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace: decides when the capture thread acts: how long it may wait before it polls its source
 * again, and which windows are over when it wakes. Nothing here reads a clock; the caller hands the
 * times in.
 *
 * Under load the thread waits PACE_MIN_NS between polls. The fewer requests come, the longer it
 * waits, up to PACE_MAX_NS. A patient source (source.h) wakes the thread before its buffers are
 * full, and its records hold all facts about a request. Such a source is polled when about
 * PACE_REQUESTS requests should have come, by the rate since the last poll. Other sources must be
 * asked soon after a request, so the wait grows only after PACE_EMPTY_LOOKS polls without any
 * request.
 */
#ifndef AGENT_PACE_H
#define AGENT_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_MIN_NS	 10000000u
#define PACE_MAX_NS	 250000000u
#define PACE_REQUESTS	 64u
#define PACE_EMPTY_LOOKS 25u

/* pace_init() makes the struct ready; there is nothing to release. */
struct pace {
	bool is_patient;
	uint64_t wait_ns; /* the longest wait until the next poll */
	unsigned int nr_empty;
};

void pace_init(struct pace *p, bool is_patient);
/* Notes a poll that was made interval_ns after the one before and found nr requests. */
void pace_note(struct pace *p, uint64_t interval_ns, uint64_t nr);
/*
 * Returns whether the source's descriptor may end the wait as well. While requests come faster than
 * the thread polls, the descriptor is always readable and would only keep the thread from waiting.
 */
bool pace_heeds_source(const struct pace *p);

/* A window is closed this long after its end, so that its last requests have reached the rings. */
#define PACE_SETTLE_NS 1000000u
/* If this many windows are over at one time, the agent or the machine was stopped for a while. */
#define PACE_CATCH_UP_WINDOWS 5

/*
 * Returns where the window that began at begin_ns ends, or 0 where it is not over at now_ns.
 * width_ns (> 0) is the length of a window, nr_closed how many windows were closed at this same
 * now_ns already. After PACE_CATCH_UP_WINDOWS windows one long window takes all whole widths that
 * are left.
 */
uint64_t pace_window_end(uint64_t begin_ns, uint64_t width_ns, uint64_t now_ns,
			 unsigned int nr_closed);

#endif
