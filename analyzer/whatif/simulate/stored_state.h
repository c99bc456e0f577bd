/* SPDX-License-Identifier: Apache-2.0 */
/* stored_state: the state of a simulation of stored requests, for the files of stored_sim.h. */
#ifndef ANALYZER_WHATIF_SIMULATE_STORED_STATE_H
#define ANALYZER_WHATIF_SIMULATE_STORED_STATE_H

#include "analyzer/models/sim/eventq.h"
#include "analyzer/replay/wbt.h"
#include "analyzer/whatif/simulate/stored_sim.h"

#define STORED_NO_LANE UINT32_MAX

struct stored_lane {
	const struct causal_lane *plan;
	size_t load;
	size_t nr_sent, nr_done;
	double last_s;	 /* when the last request was sent */
	double *done_s;	 /* owned: time of the n-th completion */
	double *ended_s; /* owned: completion time by request; NaN: not yet completed */
	/* owned: by request, the last lane that began to wait for it, or STORED_NO_LANE */
	uint32_t *awaited;
	bool awaits;		/* the lane waits for a completion ... */
	uint32_t next_awaiting; /* ... as this one does that began to wait for it before */
	bool wants_lock;	/* its next request is due, and another lane holds the lock */
	double wants_s;		/* since when */
	bool covered;	 /* the holder's section makes what this lane would write durable too */
	bool skipped;	 /* that section has just ended */
	bool has_lock;	 /* its next request has taken the lock, and is not sent yet */
	bool admitted;	 /* the throttle of its machine has let its next request in */
	bool in_line;	 /* it holds the next request back, and the lane waits in its line */
	uint32_t behind; /* the lane that waits behind this one, or STORED_NO_LANE */
	uint32_t machine;
};

/* This struct is a machine that sends a load, and throttles its write-back (wbt.h). */
struct stored_machine {
	bool throttles;
	bool wakes; /* the throttle has become weaker, and those in line may try again */
	struct wbt wbt;
	uint32_t first, last; /* of the lanes in line, or STORED_NO_LANE */
};

struct stored_lock {
	bool is_held;
	uint32_t holder; /* lane */
	double since_s;	 /* when the holder took it */
};

struct stored_load {
	uint64_t nr_done;
	uint64_t nr_requests; /* of the plan */
	size_t first, nr;     /* lanes */
	size_t nr_locks;
	struct eventq
		needs;	 /* owned: lanes that wait for others, by when they go on (stored_wait.h) */
	double cached_s; /* of the plan */
	struct stored_lock *locks; /* owned */
	bool again;  /* the load has completed once, and its further requests do not count */
	bool shares; /* it has copies, between which a section may cover others */
};

/* This struct is a request under way. */
struct stored_slot {
	struct device_request request;
	double begin_s;
	uint32_t lane, index; /* the lane's request of this number */
	uint32_t next_free;
	bool again;   /* the request has to be submitted to the device a second time */
	bool counted; /* the request belongs to the load's first pass */
	bool cached;  /* a cache in front of the device serves the request */
};

struct stored_sim {
	const struct device_model *model;
	struct device_sim device;
	struct eventq events;
	struct stored_lane *lanes;
	struct stored_machine *machines;
	struct stored_load *loads;
	struct stored_slot *slots;
	size_t nr_lanes, nr_loads, nr_machines, nr_slots, cap_slots, nr_under_way;
	size_t nr_ended;     /* loads that have completed once */
	uint64_t nr_repeats; /* requests that repeated loads may still send */
	uint32_t free_slot;  /* UINT32_MAX: none */
	uint32_t *ready;     /* owned: lanes that may go on */
	size_t nr_ready, cap_ready;
	double now_s;
	struct stored_result *out;
};

#endif
