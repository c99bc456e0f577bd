// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal_turn.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_MOST 0.2 /* at most this share of those expected begins, as in causal_begin.c */
/*
 * Threads that begin at any time are taken for programs in turn with this probability at most. A
 * mistake costs little: such a thread is late by as much as the storage is slower.
 */
#define CHANCE_MOST 0.01

/* This struct is the time in which a thread has requests. */
struct turn_life {
	uint64_t begin_ns, end_ns;
	size_t nr; /* of requests */
};

static int causal_turn_order(const void *a, const void *b)
{
	const struct turn_life *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static const struct request *causal_turn_request(const struct causal_times *t,
						 const struct causal_end *e)
{
	return &t->requests[t->lanes[e->lane].first + e->request];
}

/* Collects the lives of the threads, in the order of their beginnings. Returns their number. */
static size_t causal_turn_lives(const struct causal_times *t, struct turn_life *lives)
{
	size_t nr = 0;

	for (size_t l = 0; l < t->nr_lanes; l++) {
		const struct causal_span *s = &t->lanes[l];
		const struct request *r = &t->requests[s->first];

		if (!causal_is_kernel(causal_tid(r)))
			lives[nr++] =
				(struct turn_life){ r->arrival_ns, s->ends[s->nr - 1].ns, s->nr };
	}
	qsort(lives, nr, sizeof(*lives), causal_turn_order);
	return nr;
}

/* Returns whether far fewer threads begin while a program is at work than would at random times. */
static bool causal_turn_taken(const struct causal_times *t, const struct turn_life *lives,
			      size_t nr)
{
	uint64_t until_ns = t->begin_ns, end_ns = t->begin_ns;
	size_t inside = 0;
	double busy_ns = 0, expected;

	for (size_t i = 0; i < nr; i++) {
		const struct turn_life *life = &lives[i];

		inside += life->begin_ns < until_ns;
		end_ns = life->end_ns > end_ns ? life->end_ns : end_ns;
		if (life->nr < 2 || life->end_ns <= until_ns)
			continue;
		busy_ns += (double)(life->end_ns -
				    (life->begin_ns > until_ns ? life->begin_ns : until_ns));
		until_ns = life->end_ns;
	}
	if (end_ns == t->begin_ns)
		return false;
	expected = (double)nr * busy_ns / (double)(end_ns - t->begin_ns);
	return expected > 0 && (double)inside <= BEGIN_MOST * expected &&
	       gsl_cdf_poisson_P((unsigned int)inside, expected) <= CHANCE_MOST;
}

/*
 * Finds the completions after which nothing was under way, from the last one back: a completion is
 * one if no request that completed later had arrived before it.
 */
static int causal_turn_ends(struct causal_turns *turns, const struct causal_times *t)
{
	const struct causal_span *last = &t->lanes[t->nr_lanes - 1];
	size_t all = last->first + last->nr;
	uint64_t arrival_ns = UINT64_MAX;

	turns->ends = malloc(all * sizeof(*turns->ends));
	if (!turns->ends)
		return -ENOMEM;
	for (size_t i = all; i-- > 0;) {
		const struct causal_end *e = &t->all[i];
		const struct request *r = causal_turn_request(t, e);

		if (!causal_tid(r))
			continue;
		if (arrival_ns > e->ns)
			turns->ends[turns->nr++] = (uint32_t)i;
		arrival_ns = r->arrival_ns < arrival_ns ? r->arrival_ns : arrival_ns;
	}
	return 0;
}

int causal_turns_make(struct causal_turns *turns, const struct causal_times *t)
{
	struct turn_life *lives = malloc(t->nr_lanes * sizeof(*lives));
	bool taken;

	memset(turns, 0, sizeof(*turns));
	if (!lives)
		return -ENOMEM;
	taken = causal_turn_taken(t, lives, causal_turn_lives(t, lives));
	free(lives);
	return taken ? causal_turn_ends(turns, t) : 0;
}

const struct causal_end *causal_turns_find(const struct causal_turns *turns,
					   const struct causal_times *t, uint64_t ns)
{
	size_t low = 0, high = turns->nr;

	/* The latest completion comes first. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->all[turns->ends[middle]].ns > ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < turns->nr ? &t->all[turns->ends[low]] : NULL;
}

void causal_turns_release(struct causal_turns *turns)
{
	free(turns->ends);
}
