/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace: how long the capture thread may wait before it looks at its source again. Under load
 * PACE_MIN_NS; the less comes, the longer, up to PACE_MAX_NS. No clock is read here.
 *
 * A patient source wakes the thread before its buffers are full, and all that is to be known of a
 * request is in them: it is looked at when some PACE_REQUESTS have come, by the rate since the last
 * look. Any other is waited for only when nothing has come for PACE_EMPTY_LOOKS looks.
 */
#ifndef AGENT_PACE_H
#define AGENT_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_MIN_NS	 10000000u
#define PACE_MAX_NS	 250000000u
#define PACE_REQUESTS	 64u
#define PACE_EMPTY_LOOKS 25u

/* pace_init() makes it ready; it holds nothing. */
struct pace {
	bool is_patient;
	uint64_t wait_ns; /* at most, until the next look */
	unsigned int nr_empty;
};

void pace_init(struct pace *p, bool is_patient);
/* The look just made, interval_ns after the one before, found nr requests. */
void pace_note(struct pace *p, uint64_t interval_ns, uint64_t nr);
/*
 * Whether the source may end the wait too. Not while requests come as fast as they are looked for:
 * there are always some.
 */
bool pace_heeds_source(const struct pace *p);

#endif
