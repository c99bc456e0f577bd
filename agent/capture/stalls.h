/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stalls: the last intervals in which the monotonic clock went on and the guest, it seems, did not; and
 * what a request tells of one. Where a stall begins is known within the capture thread's wait, where it ends
 * within the time to wake: so only its inner half is asked about. One thread; no I/O.
 */
#ifndef AGENT_STALLS_H
#define AGENT_STALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define STALLS_MAX 4

struct stall {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
};

/* Zeroed: none. */
struct stalls {
	struct stall stall[STALLS_MAX];
	size_t nr, next;
};

/* Keeps it, in place of the oldest. */
void stalls_add(struct stalls *s, const struct stall *stall);
/* Whether it was under way through the inner half of one of them. */
bool stalls_hold(const struct stalls *s, const struct request *r);

/* Whether it was under way through the stall's inner half. */
bool stall_holds(const struct stall *s, const struct request *r);
/* Whether something happened to it within: the guest was running. */
bool stall_is_refuted(const struct stall *s, const struct request *r);

#endif
