/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_depend: finds which lanes of a window stop while another lane is stuck (causal.h). It
 * looks at the first CAUSAL_DEPEND_LANES lanes; further lanes depend on none.
 */
#ifndef ANALYZER_CAUSAL_DEPEND_H
#define ANALYZER_CAUSAL_DEPEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define CAUSAL_DEPEND_LANES 64 /* the first ones; further ones depend on none */
/*
 * A thread that a completion wakes sends its next request within this time: the interrupt, the
 * switch to the thread, and its work on what it sends. docs/studies compares this value with no
 * other.
 */
#define CAUSAL_FOLLOW_NS 250000u

struct causal_end {
	uint64_t ns;
	uint32_t lane, request; /* request: index in the lane */
};

struct causal_span {
	size_t first, nr;	 /* in requests */
	struct causal_end *ends; /* nr, ascending by time */
};

struct causal_times {
	const struct request *requests; /* by lane, then by arrival; completions known */
	struct causal_span *lanes;
	size_t nr_lanes;
	struct causal_end *ends, *all; /* by lane; of all lanes, ascending by time */
	struct causal_end *spare[2];   /* two more arrays of the same size, for merging */
	uint64_t begin_ns;
	/* owned: first a copy of the requests while they are sorted, and then the four arrays */
	void *room;
};

#define CAUSAL_JOURNAL_TID UINT32_MAX /* no thread has this number */

/*
 * Returns the lane's thread id; 0 stands for all kernel threads but those that write the journal of
 * a file system. Requests of a kernel thread are those of a journal if they are marked as metadata
 * and as synchronous: write-back by the kernel is not synchronous.
 */
static inline uint32_t causal_tid(const struct request *r)
{
	const uint32_t journal = REQUEST_META | REQUEST_SYNC;

	if (!(r->flags & REQUEST_KERNEL_THREAD))
		return r->tid;
	return (r->flags & journal) == journal ? CAUSAL_JOURNAL_TID : 0;
}

/*
 * Returns the lane's place in the order of lanes. Those of the kernel come first, so that they are
 * among the first CAUSAL_DEPEND_LANES.
 */
static inline uint64_t causal_rank(const struct request *r)
{
	uint32_t tid = causal_tid(r);

	return tid == CAUSAL_JOURNAL_TID ? 1 : tid ? tid + 1ull : 0;
}

/* Returns whether the lane is one of kernel threads. */
static inline bool causal_is_kernel(uint32_t tid)
{
	return !tid || tid == CAUSAL_JOURNAL_TID;
}

/*
 * Finds the lanes on which lane l depends: bit i of *depends says that it depends on lane i.
 * *constant says that its think times are constant, and that it therefore depends on none. Returns
 * 0 or -ENOMEM. The cost is O(requests of all lanes).
 */
int causal_depends(const struct causal_times *t, size_t l, uint64_t *depends, bool *constant);
/* This struct has the pauses of lanes that exceed CAUSAL_FOLLOW_NS, and what ends them. */
struct causal_following {
	double nr, nr_follow; /* requests; those that follow a completion */
	double ns;	      /* length of the pauses, without the first CAUSAL_FOLLOW_NS of each */
	double covered_ns;    /* the part of ns within CAUSAL_FOLLOW_NS after a completion */
};

/*
 * Adds the pauses of lane l, and which of them end directly after one of nr_ends completions of
 * others, ascending by time. A lane is woken by them if, of the requests that it sends after it was
 * idle for longer than CAUSAL_FOLLOW_NS, far more come within CAUSAL_FOLLOW_NS after such a
 * completion than requests at random times would. The journal of a file system does so, which
 * begins to commit when the data are written, and so do threads that wait for that commit, or for
 * the log of a database that another one writes for all of them. Lanes with constant think times
 * must not be asked, since they queue in the same order again and again. Pauses that a read ends
 * are left out unless reads is set. O(nr_ends).
 */
void causal_follow(struct causal_following *f, const struct causal_times *t, size_t l,
		   const struct causal_end *ends, size_t nr_ends, bool reads);
/* Returns whether the lane whose pauses were added is woken by completions of others. */
bool causal_follows(const struct causal_following *f);
/*
 * Returns the same of many lanes together, none of which shows it alone, and of completions that
 * are rare: at least twice as many requests follow them as by chance, and so many would do so by
 * chance with a probability of 0.001 at most (Poisson).
 */
bool causal_follows_rare(const struct causal_following *f);
/*
 * Returns whether lane l waits for room: of the requests that it sends while others of its own are
 * under way, longer than CAUSAL_FOLLOW_NS after the one before, far more come within
 * CAUSAL_FOLLOW_NS after one of its completions than requests at random times would. Write-back
 * does so once the queue of the device is full, since a completion then lets the next request in.
 * O(requests of the lane).
 */
bool causal_refills(const struct causal_times *t, size_t l);

#endif
