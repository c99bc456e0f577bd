/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shed_tally: counts the requests that ended unseen while requests were shed, by the kernel's own
 * count.
 *
 * The kernel can skip a program, because the program interrupts itself or because others are
 * attached to the same tracepoint. While requests are recorded, a skipped end leaves a line in the
 * table of requests in flight, which reveals it later. While requests are shed, there is no such
 * line. But the kernel counts each completed request: between two instants at which the disk has
 * nothing in flight and all records have been read, the kernel's count minus the requests seen and
 * the requests reported as shed is the number that nobody saw. For one device and one thread; no
 * I/O.
 */
#ifndef AGENT_SHED_TALLY_H
#define AGENT_SHED_TALLY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * After this much idle time, requests that were skipped while they were recorded have been reported
 * through their lines, which takes two looks.
 */
#define SHED_TALLY_IDLE_NS 5000000000u

struct shed_tally {
	bool has_base, has_shed; /* has_shed: requests were shed since the base was taken */
	uint64_t base_completed, base_seen;
	/* idle_since_ns 0: the device is not idle */
	uint64_t last_completed, last_seen, idle_since_ns;
};

/* Begins at an instant at which completed and seen are known to belong together. */
void shed_tally_begin(struct shed_tally *t, uint64_t completed, uint64_t seen);
/*
 * Looks for missing requests. completed is the kernel's count, and seen the number of requests seen
 * or reported as lost up to the same moment. in_flight is the kernel's count of requests in flight;
 * a value below 0 means unknown. is_last: tracing has ended and all lines have been reported.
 * Returns the number of requests newly found missing, which the caller adds to seen.
 */
uint64_t shed_tally_look(struct shed_tally *t, uint64_t now_ns, uint64_t completed, uint64_t seen,
			 int64_t in_flight, bool is_last);

#endif
