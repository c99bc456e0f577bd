/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal: this module finds what each request of a stored window waited for, so that it can be sent
 * again by cause rather than by the clock.
 *
 * A lane is a submitter: each thread is one lane. All kernel threads together are one lane, because
 * write-back moves between workers, but the journal of a file system is a lane of its own. A
 * process whose threads are a pool (causal_pool.h) is one lane too. The i-th request of a lane was
 * sent after done_i of the lane's requests had completed.
 *
 * If the lane had nothing else under way, the request waits for its done_i = i requests to
 * complete, in any order, and then for the time that had passed since the last completion. A thread
 * that waits for each of its requests behaves like this. If other requests were under way (a
 * burst), the request is sent at the earlier of two times: when done_i requests have completed and
 * that time has passed, or when the recorded time since the previous request has passed. But there
 * are never more requests under way than there were in this burst. Therefore a burst on a slower
 * target grows to the depth that it had when it was recorded, and not further; on a faster target
 * it ends sooner. A request of a pool that hands on at once always waits for its done_i requests. A
 * lane may also wait for room at a depth that nobody but a queue knows (causal_refills()): a
 * request that a completion of the lane let in then waits for this one.
 *
 * Linux throttles buffered writes and flushes (wbt.h). If it did so when the window was recorded
 * (causal_throttle.h), its law says how many of them are under way on the target, in place of the
 * recorded depths. A request that the kernel held back would have come sooner: the next request of
 * a batch directly after the one before, and that of an idle thread after the usual think time.
 *
 * A thread depends on another lane if it stops while that lane is stuck, for example on a commit,
 * or on the holder of a lock (causal_depend.c). The time of a request that is sent with nothing
 * under way then counts from the last completion before it, of its own lane or of those lanes.
 * A lane may also be woken by completions of others (causal_follows()): a journal commits when the
 * data that it protects are written, and one commit serves all threads that wait for it. A request
 * of such a lane that was sent directly after a completion of another lane, but long after the last
 * one of its own, waits for that completion. Threads that do not show it alone, such as programs
 * that call sync() once, wait for the journal if all of them together do (causal_follows_rare()).
 * The first request of a thread that begins in the window waits like this too: whoever started the
 * thread was woken by the completion. If it comes later, but threads of the window take the place
 * of others that have ended (causal_begin.h), it waits for the last completion of the thread whose
 * place it takes. Write-back and journals that begin anew go on from whatever completed last, since
 * threads make them begin.
 *
 * Other lanes are waited for only coarsely: as many of their requests must have completed as had
 * CAUSAL_SLACK_NS before. In the same way an application that runs ahead of its write-back is held
 * back when it has no memory left.
 *
 * A lane whose requests come by themselves, whatever has completed (causal_open.h), is open: each
 * of its requests is sent when the recorded time since the previous one has passed. Only if
 * CAUSAL_OPEN_DEPTH requests of the lane are under way, on a target that is too slow, the next one
 * waits.
 *
 * Threads that write a log under a lock (causal_lock.h) still do: a request that takes the lock is
 * sent when it is due and no other lane holds the lock, which the completion of the last request
 * of the section gives back. Lanes get the lock in the order in which they came for it.
 *
 * This order cannot deadlock, because each request waits only for requests that had been sent
 * before it, and inside a section only for requests of its own lane.
 */
#ifndef ANALYZER_CAUSAL_H
#define ANALYZER_CAUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"
#include "formats/histogram.h"
#include "formats/request.h"

#define CAUSAL_SLACK_NS	  200000000ull
#define CAUSAL_OPEN_DEPTH 256
#define CAUSAL_NO_LOCK	  UINT32_MAX

struct causal_request {
	uint64_t offset; /* bytes */
	/* the time since the later of the completion that it waits for and the lane's previous
	 * request */
	uint64_t gap_ns;
	uint64_t others;     /* number of the other lanes' requests that completed before it */
	uint64_t spacing_ns; /* time since the lane's previous request */
	uint32_t done;	     /* number of the lane's requests that completed before it */
	uint32_t room;	     /* this many must have completed, so that the burst's depth holds */
	uint32_t bytes;
	/* the gap counts from the completion of that request; UINT32_MAX: none */
	uint32_t after_lane, after;
	uint8_t operation; /* read, write, flush */
	bool durable;	   /* forced unit access */
	bool preflush;	   /* a write that a flush preceded, such as the commit of a journal */
	bool takes_lock;   /* sent while no other lane holds the lock of the lane */
	bool gives_lock;   /* its completion gives the lock back */
	bool throttled;	   /* the plan's throttle applies to it */
	bool sync;	   /* a program waits for it, so that the throttle admits more */
	/* only in simulations: a cache serves the request in the plan's cached_s */
	bool cached;
};

struct causal_lane {
	uint32_t tid; /* 0: the kernel's threads; CAUSAL_JOURNAL_TID: a journal */
	struct causal_request *requests;
	size_t nr;
	uint32_t depth;	  /* largest number of requests under way */
	uint32_t lock;	  /* below the plan's nr_locks, or CAUSAL_NO_LOCK */
	uint64_t depends; /* bit i: the lane depends on lane i */
	/* only in simulations: which copy of a multiplied load it belongs to, and which machine */
	uint32_t copy, machine;
	bool open;    /* its requests wait for no completion */
	bool pool;    /* a pool that hands on at once (causal_pool.h) */
	bool follows; /* completions of other lanes wake it */
	bool unsure;  /* its own pauses do not show that, and it is asked together with others */
	bool refills; /* completions of its own let in the requests of its bursts */
};

/* This struct is how Linux throttled write-back (wbt.h); found by causal_throttle_find(). */
struct causal_throttle {
	bool on;
	bool cache;  /* the device has a volatile cache of writes */
	bool writes; /* writes of threads are throttled too: they go through the page cache */
	uint64_t target_ns; /* reads that take longer are slow: WBT_TARGET_NS or its like */
	int first_step;	    /* the step of wbt.h at the begin of the recording: 0, or below it */
	/* of the recorded requests: those that it held back, and those beyond what it admits */
	uint64_t nr_waits, nr_over;
};

struct causal_plan {
	struct causal_lane *lanes;
	size_t nr_lanes;
	uint32_t nr_locks;    /* number of locks that lanes share */
	uint32_t nr_machines; /* each of which throttles its own write-back */
	struct causal_throttle throttle;
	/* requests, and requests left out because they cannot be sent or timed */
	uint64_t nr, nr_left_out;
	uint64_t end_bytes; /* the end of the last byte touched */
	uint32_t bytes_max; /* size of the largest request */
	double window_s;    /* from the first arrival to the last completion */
	/* from the completion causal_middle_begin() to the completion causal_middle_end() */
	double middle_s;
	double cached_s;  /* the time of requests that a cache serves */
	double mean_s[2]; /* recorded mean response time of reads, of writes; NaN: none */
	/* These histograms hold all recorded response times of reads, writes and flushes. */
	struct histogram response[3];
};

/*
 * Takes requests in any order, and sorts them in place. Some requests are left out and counted:
 * discards and other operations that are no read, write or flush, requests without a known arrival
 * and completion, and requests that were under way while the machine did not run. Returns 0,
 * -ENOMEM, or -EINVAL if no request is left. O(n log n) once and for each lane on which another
 * lane depends, and O(n) for each of the first CAUSAL_DEPEND_LANES lanes.
 */
int causal_make(struct causal_plan *plan, struct request *requests, size_t nr, struct err *err);
/* Counts the requests of all lanes, which plan->nr need not say where others made the plan. */
static inline uint64_t causal_nr(const struct causal_plan *plan)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < plan->nr_lanes; i++)
		nr += plan->lanes[i].nr;
	return nr;
}
/*
 * The middle of nr requests, in order of their completions, lies between these two. A twentieth of
 * them is before it, and as many are after it.
 */
static inline uint64_t causal_middle_begin(uint64_t nr)
{
	return nr / 20;
}
static inline uint64_t causal_middle_end(uint64_t nr)
{
	return nr - 1 - nr / 20;
}
void causal_release(struct causal_plan *plan);

#endif
