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

/* This struct is a time in which somebody is at work. */
struct turn_span {
	uint64_t begin_ns, end_ns;
};

/* This struct is the life of a program: a thread, or a process with all of its threads. */
struct turn_life {
	struct turn_span span;
	uint32_t pid; /* 0: not known, and like no other */
	size_t nr;    /* requests */
};

/* These are the beginnings of threads, and the times in which somebody is at work. */
struct turn_look {
	struct turn_span *threads, *work; /* owned, by begin */
	size_t nr_threads, nr_work;
	uint64_t begin_ns, end_ns; /* of the window */
};

static int causal_turn_order(const void *a, const void *b)
{
	const struct turn_span *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static const struct request *causal_turn_request(const struct causal_times *t,
						 const struct causal_end *e)
{
	return &t->requests[t->lanes[e->lane].first + e->request];
}

static int causal_turn_by_pid(const void *a, const void *b)
{
	const struct turn_life *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Makes one life of those of one process. Returns their number. */
static size_t causal_turn_join(struct turn_life *lives, size_t nr)
{
	size_t to = 0;

	qsort(lives, nr, sizeof(*lives), causal_turn_by_pid);
	for (size_t i = 1; i < nr; i++) {
		struct turn_life *l = &lives[to], *other = &lives[i];

		if (!l->pid || l->pid != other->pid) {
			lives[++to] = *other;
			continue;
		}
		if (other->span.begin_ns < l->span.begin_ns)
			l->span.begin_ns = other->span.begin_ns;
		if (other->span.end_ns > l->span.end_ns)
			l->span.end_ns = other->span.end_ns;
		l->nr += other->nr;
	}
	return nr ? to + 1 : 0;
}

/*
 * Collects when programs begin, and when those of at least two requests are at work. A program is a
 * thread or, if by_process is true, a process with all of its threads. lives has room for all
 * lanes.
 */
static void causal_turn_programs(struct turn_look *look, const struct causal_times *t,
				 struct turn_life *lives, bool by_process)
{
	size_t nr = 0;

	look->nr_threads = look->nr_work = 0;
	for (size_t l = 0; l < t->nr_lanes; l++) {
		const struct causal_span *s = &t->lanes[l];
		const struct request *r = &t->requests[s->first];
		struct turn_span span = { r->arrival_ns, s->ends[s->nr - 1].ns };

		if (causal_is_kernel(causal_tid(r)))
			continue;
		look->end_ns = span.end_ns > look->end_ns ? span.end_ns : look->end_ns;
		lives[nr++] = (struct turn_life){ span, r->pid, s->nr };
	}
	if (by_process)
		nr = causal_turn_join(lives, nr);
	for (size_t i = 0; i < nr; i++) {
		look->threads[look->nr_threads++] = lives[i].span;
		if (lives[i].nr > 1)
			look->work[look->nr_work++] = lives[i].span;
	}
	qsort(look->threads, look->nr_threads, sizeof(*look->threads), causal_turn_order);
	qsort(look->work, look->nr_work, sizeof(*look->work), causal_turn_order);
}

/* Collects when the kernel's requests are under way, instead of programs. */
static void causal_turn_kernel(struct turn_look *look, const struct causal_times *t)
{
	look->nr_work = 0;
	for (size_t l = 0; l < t->nr_lanes; l++) {
		const struct request *r = &t->requests[t->lanes[l].first];

		for (size_t i = 0; i < t->lanes[l].nr && causal_is_kernel(causal_tid(r)); i++)
			look->work[look->nr_work++] =
				(struct turn_span){ r[i].arrival_ns, r[i].completion_ns };
	}
	qsort(look->work, look->nr_work, sizeof(*look->work), causal_turn_order);
}

/* Returns whether far fewer threads begin while somebody is at work than would at random times. */
static bool causal_turn_taken(const struct turn_look *look)
{
	uint64_t until_ns = look->begin_ns;
	size_t inside = 0, k = 0;
	double busy_ns = 0, expected;

	if (look->end_ns <= look->begin_ns)
		return false;
	for (size_t i = 0; i < look->nr_threads; i++) {
		for (; k < look->nr_work && look->work[k].begin_ns < look->threads[i].begin_ns; k++)
			until_ns =
				look->work[k].end_ns > until_ns ? look->work[k].end_ns : until_ns;
		inside += look->threads[i].begin_ns < until_ns;
	}
	until_ns = look->begin_ns;
	for (k = 0; k < look->nr_work; k++) {
		const struct turn_span *w = &look->work[k];

		if (w->end_ns <= until_ns)
			continue;
		busy_ns += (double)(w->end_ns - (w->begin_ns > until_ns ? w->begin_ns : until_ns));
		until_ns = w->end_ns;
	}
	expected = (double)look->nr_threads * busy_ns / (double)(look->end_ns - look->begin_ns);
	return expected > 0 && (double)inside <= BEGIN_MOST * expected &&
	       gsl_cdf_poisson_P((unsigned int)inside, expected) <= CHANCE_MOST;
}

/*
 * Finds the completions after which nothing of programs, or of the kernel, was under way, from the
 * last one back: a completion is one if no request that completed later had arrived before it.
 */
static int causal_turn_ends(struct causal_turns *turns, const struct causal_times *t, size_t all,
			    bool kernel)
{
	uint64_t arrival_ns = UINT64_MAX;

	turns->of_kernel = kernel;
	turns->ends = malloc(all * sizeof(*turns->ends));
	if (!turns->ends)
		return -ENOMEM;
	for (size_t i = all; i-- > 0;) {
		const struct causal_end *e = &t->all[i];
		const struct request *r = causal_turn_request(t, e);
		uint32_t tid = causal_tid(r);

		if (kernel ? !causal_is_kernel(tid) : !tid)
			continue;
		if (arrival_ns > e->ns)
			turns->ends[turns->nr++] = (uint32_t)i;
		arrival_ns = r->arrival_ns < arrival_ns ? r->arrival_ns : arrival_ns;
	}
	return 0;
}

int causal_turns_make(struct causal_turns *turns, const struct causal_times *t)
{
	const struct causal_span *last = &t->lanes[t->nr_lanes - 1];
	struct turn_look look = { .begin_ns = t->begin_ns, .end_ns = t->begin_ns };
	struct turn_life *lives = malloc(t->nr_lanes * sizeof(*lives));
	size_t all = last->first + last->nr;
	int ret = 0;

	memset(turns, 0, sizeof(*turns));
	look.threads = malloc(t->nr_lanes * sizeof(*look.threads));
	look.work = malloc(all * sizeof(*look.work));
	if (!look.threads || !look.work || !lives) {
		ret = -ENOMEM;
		goto out;
	}
	for (int by_process = 0; by_process < 2; by_process++) {
		causal_turn_programs(&look, t, lives, by_process);
		if (!causal_turn_taken(&look))
			continue;
		ret = causal_turn_ends(turns, t, all, false);
		goto out;
	}
	causal_turn_programs(&look, t, lives, false);
	causal_turn_kernel(&look, t);
	if (causal_turn_taken(&look))
		ret = causal_turn_ends(turns, t, all, true);
out:
	free(look.threads);
	free(look.work);
	free(lives);
	return ret;
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
