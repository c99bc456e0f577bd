/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causal_turn: this module finds whether the programs of a window run in turn. A script runs one
 * program, and others when that one has ended: each is a thread that begins in the window, long
 * after the last completion before it, and not at a time of its own.
 *
 * Threads that begin whatever the others do see what an outside observer sees at random times, as
 * in causal_begin.h: the share of them that begin while a program is at work is the share of time
 * in which one is. A program is at work from the first request of a thread to its last completion,
 * if it has at least two requests. If threads do not show it, processes may: a process begins with
 * its first thread and ends with its last one. Where far fewer threads begin meanwhile, a thread
 * begins after the last instant at which nothing was under way any more. Write-back is not looked
 * at, because no program waits for it.
 *
 * If programs run beside each other (make -j2), their script may still wait between rounds for what
 * sync() writes. So if threads do not begin in turn, the same test is made with the times at which
 * requests of the kernel are under way. If far fewer threads begin in these times, a thread begins
 * after the last instant at which no such request was under way any more.
 */
#ifndef ANALYZER_CAUSAL_TURN_H
#define ANALYZER_CAUSAL_TURN_H

#include "analyzer/replay/causal_depend.h"

struct causal_turns {
	/*
	 * owned: completions that left nothing of programs, or of the kernel, under way, by place
	 * in t->all
	 */
	uint32_t *ends;
	size_t nr;	/* 0 if programs do not wait */
	bool of_kernel; /* programs wait for the kernel, and not for each other */
};

/* Returns 0 or -ENOMEM. O(n log n) for n lanes and requests of the kernel, and O(n) for others. */
int causal_turns_make(struct causal_turns *turns, const struct causal_times *t);
/*
 * Returns the last of these completions at or before a time, or NULL if there is none.
 */
const struct causal_end *causal_turns_find(const struct causal_turns *turns,
					   const struct causal_times *t, uint64_t ns);
void causal_turns_release(struct causal_turns *turns);

#endif
