/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pause_watch: finds intervals in which nothing ran that could have captured a request, and says
 * which requests were under way meanwhile. Nothing here reads a clock or does I/O. One thread.
 *
 * The capture thread hands in its clocks each time it wakes:
 *
 *	suspended  CLOCK_BOOTTIME went on and CLOCK_MONOTONIC did not.
 *	stalled    CLOCK_MONOTONIC went on for longer than the thread meant to wait and had
 *		   work to do. Either the hypervisor stopped the guest and the guest's clock
 *		   went on, or the agent alone was stopped (by a signal or the cgroup
 *		   freezer) or got no processor.
 *
 * The times of the requests tell the two kinds of stall apart: a request with a time inside the
 * stall shows that the guest ran. A guest whose clocks are stopped together with it shows nothing
 * here; machine_watch.h finds that case by the hardware's clock.
 */
#ifndef AGENT_PAUSE_WATCH_H
#define AGENT_PAUSE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/ledger.h"
#include "formats/request.h"
#include "formats/segment/segment.h"

/*
 * The capture thread wakes every 10 to 250 ms. It is a second late only where nothing let it run.
 */
#define PAUSE_STALL_NS	 1000000000u
#define PAUSE_SUSPEND_NS 100000000u

struct pause_look {
	struct clock_anchor at;
	uint64_t cpu_ns;  /* processor time of the thread so far */
	uint64_t wait_ns; /* the longest wait that the thread intended since the look before */
};

struct pause {
	enum pause_cause cause; /* PAUSE_SUSPENDED or PAUSE_STALLED */
	/* The clocks before and after. For a suspension these are the two looks around it. */
	struct clock_anchor from, to;
	uint64_t length_ns;
};

/* A zeroed pause_watch has not looked yet. */
struct pause_watch {
	struct pause_look last;
	bool has_last;
};

/* Returns true and fills out where there was a pause since the last look. */
bool pause_watch_look(struct pause_watch *w, const struct pause_look *now, struct pause *out);

/*
 * The begin of a stall is known to within the thread's wait, and its end to within the time that
 * waking takes. Therefore only the inner half of the interval is used as evidence.
 */
struct stall {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
};

/* Returns whether the request was under way through the whole inner half of the stall. */
bool stall_holds(const struct stall *s, const struct request *r);
/* Returns whether one of the request's times lies in the inner half: then the guest ran. */
bool stall_is_refuted(const struct stall *s, const struct request *r);

#define STALLS_MAX 4

/* The last STALLS_MAX stalls. A zeroed one holds none. */
struct stalls {
	struct stall stall[STALLS_MAX];
	size_t nr, next;
};

/* Adds a stall in place of the oldest. */
void stalls_add(struct stalls *s, const struct stall *stall);
/* Returns whether stall_holds() is true for one of the stalls. */
bool stalls_hold(const struct stalls *s, const struct request *r);

#endif
