/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shed_tally: what ended unseen while requests were shed, by the kernel's own count.
 *
 * A program in the kernel can be passed over (it cuts into itself, or others are attached beside
 * it). While requests are noted that leaves a line, which tells of it later; while they are shed it
 * leaves nothing. The kernel counts each request that completes: between two instants at which the
 * disk has nothing under way and all is read, that count less what was seen and what was told as
 * shed is what nobody saw. One device; one thread; no I/O.
 */
#ifndef AGENT_SHED_TALLY_H
#define AGENT_SHED_TALLY_H

#include <stdbool.h>
#include <stdint.h>

/* Idle for so long, what was passed over while noted has been told by its line: two looks. */
#define SHED_TALLY_IDLE_NS 5000000000u

struct shed_tally {
	bool has_base, has_shed; /* shed since the base */
	uint64_t base_completed, base_seen;
	uint64_t last_completed, last_seen, idle_since_ns; /* 0: not idle */
};

/* An instant at which completed and seen are known to belong together. */
void shed_tally_begin(struct shed_tally *t, uint64_t completed, uint64_t seen);
/*
 * Looks: completed by the kernel's count and seen (or told as lost) since it was made; in_flight
 * under way by the kernel's count, below 0 unknown. is_last: nothing is traced any more and all
 * lines are told. Returns how many are missing, told once; they are to be added to seen by the
 * caller.
 */
uint64_t shed_tally_look(struct shed_tally *t, uint64_t now_ns, uint64_t completed, uint64_t seen,
			 int64_t in_flight, bool is_last);

#endif
