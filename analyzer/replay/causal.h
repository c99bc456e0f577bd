/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal: what each request of a stored window waited for, so that it can be sent again by cause
 * rather than by the clock.
 *
 * A lane is who submits: each thread, and all kernel threads together, since write-back moves between
 * workers. The i-th request of a lane was sent after done_i of the lane's requests had completed.
 *
 * Where the lane had nothing else under way, it waits for its done_i = i requests to complete, in
 * whatever order they do, and then for the time that had passed since the last of them had: a thread
 * that waits for each of its requests. Where others were under way (a burst), it is sent when done_i
 * have completed and then that time has passed, or as long after the request before as it had been,
 * whichever is first; but with no more under way than ever were in this burst. So on a slower target a
 * burst grows to the depth that the kernel had kept to, and no further, and on a faster one it ends
 * sooner.
 *
 * A thread depends on another lane where it stops while that one is stuck: on a commit, or on who holds
 * a lock (causal_depend.c). The time of a request that it sends with nothing under way then counts from
 * the last completion before it, of its own lane or of those. Other lanes are waited for coarsely: for
 * as many requests of them to have completed as had CAUSAL_SLACK_NS before, as an application that is
 * ahead of its write-back is held back when it has no memory left.
 *
 * No such order can lock up: each request waits for requests that had been sent before it.
 */
#ifndef ANALYZER_CAUSAL_H
#define ANALYZER_CAUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/histogram.h"
#include "formats/request.h"

#define CAUSAL_SLACK_NS 200000000ull

struct causal_request {
	uint64_t offset; /* bytes */
	uint64_t gap_ns; /* since the later of what it waits for and the lane's request before */
	uint64_t others; /* of the other lanes' requests completed before it */
	uint64_t spacing_ns; /* since the lane's request before */
	uint32_t done;	     /* of the lane's, completed before it */
	uint32_t room; /* as many have to be, so that no more are under way than ever in this burst */
	uint32_t bytes;
	uint32_t after_lane, after; /* the gap is since that request completed; UINT32_MAX none */
	uint8_t operation;	    /* read, write, flush */
	bool durable;		    /* forced unit access */
};

struct causal_lane {
	uint32_t tid; /* 0: the kernel's threads */
	struct causal_request *requests;
	size_t nr;
	uint32_t depth;	  /* under way at most */
	uint64_t depends; /* bit i: on lane i */
};

struct causal_plan {
	struct causal_lane *lanes;
	size_t nr_lanes;
	uint64_t nr, nr_left_out; /* requests; those that cannot be sent or timed */
	uint64_t end_bytes;	  /* of the last place touched */
	uint32_t bytes_max;	  /* of a request */
	double window_s;	  /* from the first arrival to the last completion */
	double mean_s[2];	  /* response time of reads, of writes as it was; NaN none */
	/* All response times as they were, of reads, writes and flushes. */
	struct histogram response[3];
};

/*
 * Takes requests in any order, and sorts them in place. Discards and operations that are no read,
 * write or flush, and requests without a known arrival and completion or under way while the machine
 * did not run, are left out and counted. 0, -ENOMEM, or -EINVAL: none is left. O(n log n) once and for
 * each lane that another depends on, and O(n) for each of the first CAUSAL_DEPEND_LANES.
 */
int causal_make(struct causal_plan *plan, struct request *requests, size_t nr, struct err *err);
void causal_release(struct causal_plan *plan);

#endif
