// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal_pool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/replay/causal_depend.h"
#include "analyzer/replay/causal_pool_few.h"
#include "base/memory/array.h"
#include "base/memory/u64map.h"

/*
 * Of the recorded applications that have several threads one hands on at once (docs/methods.md).
 * These limits lie between that one and the others.
 */
#define POOL_FOLLOW_RATIO 0.5  /* of the requests follow a completion, at least */
#define POOL_OWN_RATIO	  0.25 /* of those follow one of their own thread, at most */
/* At least this many times as many requests follow a completion as would by chance. */
#define POOL_CHANCE_FACTOR 2.0
#define POOL_LEAST	   40 /* requests of a process; fewer tell too little */
/*
 * A process is judged by this many of its requests. More would not change the shares by more than
 * one percent, and a trace of days costs no more than one of minutes.
 */
#define POOL_MOST 10000
/* A thread's own completion is looked for among so many events before its request. */
#define POOL_LOOKBACK 64

/* This struct is a process of the window. */
struct pool_process {
	uint32_t pid, tid; /* the thread of its first request */
	uint32_t nr_taken; /* requests whose events were taken */
	bool threads;	   /* several threads sent its requests */
};

struct pool_processes {
	struct pool_process *of; /* owned */
	size_t nr, cap;
	struct u64map by_pid; /* index in of */
};

/* Completions come before requests of the same time, which may follow them. */
static int pool_by_time(const void *a, const void *b)
{
	const struct pool_event *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	if (x->sends != y->sends)
		return x->sends ? 1 : -1;
	return (x->request > y->request) - (x->request < y->request);
}

static bool pool_may_have(const struct request *r)
{
	return !(r->flags & REQUEST_KERNEL_THREAD) && r->pid;
}

/* Finds the processes, and which of them have several threads. */
static int pool_processes_find(struct pool_processes *p, const struct request *r, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t at;

		if (!pool_may_have(&r[i]))
			continue;
		at = u64map_find(&p->by_pid, r[i].pid);
		if (at != U64MAP_NONE) {
			p->of[at].threads |= r[i].tid != p->of[at].tid;
			continue;
		}
		if (array_grow(&p->of, &p->cap, p->nr + 1, sizeof(*p->of)) ||
		    u64map_put(&p->by_pid, r[i].pid, (uint32_t)p->nr))
			return -ENOMEM;
		p->of[p->nr++] = (struct pool_process){ .pid = r[i].pid, .tid = r[i].tid };
	}
	return 0;
}

/* Adds the events of the processes that may be pools. *events is owned by the caller. */
static int pool_events(struct pool_processes *p, const struct request *r, size_t nr,
		       struct pool_event **events, size_t *nr_events)
{
	size_t cap = 0;

	for (size_t i = 0; i < nr; i++) {
		struct pool_event e = { .pid = r[i].pid, .tid = r[i].tid, .request = (uint32_t)i };
		struct pool_process *of;

		if (!pool_may_have(&r[i]))
			continue;
		of = &p->of[u64map_find(&p->by_pid, r[i].pid)];
		if (!of->threads || of->nr_taken == POOL_MOST)
			continue;
		if (array_grow(events, &cap, *nr_events + 2, sizeof(**events)))
			return -ENOMEM;
		of->nr_taken++;
		e.ns = r[i].completion_ns;
		(*events)[(*nr_events)++] = e;
		e.ns = r[i].arrival_ns;
		e.sends = true;
		(*events)[(*nr_events)++] = e;
	}
	return 0;
}

/* This struct counts the requests of a process. */
struct pool_count {
	double nr, nr_follow, nr_own; /* in all; after a completion; after one of the same thread */
	double covered_ns;	      /* time within CAUSAL_FOLLOW_NS after a completion */
};

/* Returns whether the thread of event i has had a request completed within CAUSAL_FOLLOW_NS. */
static bool pool_follows_own(const struct pool_event *e, size_t i)
{
	size_t first = i > POOL_LOOKBACK ? i - POOL_LOOKBACK : 0;

	for (size_t k = i; k-- > first && e[i].ns - e[k].ns <= CAUSAL_FOLLOW_NS;)
		if (!e[k].sends && e[k].tid == e[i].tid)
			return true;
	return false;
}

/* Counts the requests of the process whose events e holds. */
static struct pool_count pool_count(const struct pool_event *e, size_t nr)
{
	struct pool_count c = { 0 };
	uint64_t last_ns = 0;
	bool has_last = false;

	for (size_t i = 0; i < nr; i++) {
		if (e[i].sends) {
			bool follows = has_last && e[i].ns - last_ns <= CAUSAL_FOLLOW_NS;

			c.nr++;
			c.nr_follow += follows;
			c.nr_own += follows && pool_follows_own(e, i);
			continue;
		}
		if (has_last)
			c.covered_ns += fmin((double)(e[i].ns - last_ns), CAUSAL_FOLLOW_NS);
		last_ns = e[i].ns;
		has_last = true;
	}
	return c;
}

static bool pool_hands_on(const struct pool_event *e, size_t nr)
{
	double whole_ns = (double)(e[nr - 1].ns - e[0].ns), by_chance;
	struct pool_count c;

	if (nr < 2 * POOL_LEAST || !(whole_ns > 0))
		return false;
	c = pool_count(e, nr);
	by_chance = c.nr * fmin(c.covered_ns / whole_ns, 1);
	return c.nr_follow >= POOL_FOLLOW_RATIO * c.nr &&
	       c.nr_follow >= POOL_CHANCE_FACTOR * by_chance &&
	       c.nr_own <= POOL_OWN_RATIO * c.nr_follow;
}

/* Judges each process by its events. */
static int pool_judge(struct causal_pools *out, struct pool_event *e, size_t nr)
{
	size_t cap = 0;

	if (nr)
		qsort(e, nr, sizeof(*e), pool_by_time);
	for (size_t i = 0, end; i < nr; i = end) {
		bool hands_on, is_few = false;

		for (end = i + 1; end < nr && e[end].pid == e[i].pid;)
			end++;
		hands_on = pool_hands_on(e + i, end - i);
		if (!hands_on && causal_pool_few(e + i, end - i, &is_few))
			return -ENOMEM;
		if (!hands_on && !is_few)
			continue;
		if (array_grow(&out->of, &cap, out->nr + 1, sizeof(*out->of)))
			return -ENOMEM;
		out->of[out->nr++] = (struct causal_pool){ e[i].pid, hands_on };
	}
	return 0;
}

int causal_pools_make(struct causal_pools *out, struct request *r, size_t nr)
{
	struct pool_processes p = { .nr = 0 };
	struct pool_event *events = NULL;
	size_t nr_events = 0;
	int ret;

	*out = (struct causal_pools){ 0 };
	u64map_init(&p.by_pid);
	ret = pool_processes_find(&p, r, nr);
	if (!ret)
		ret = pool_events(&p, r, nr, &events, &nr_events);
	if (!ret)
		ret = pool_judge(out, events, nr_events);
	for (size_t i = 0; i < nr && out->nr && !ret; i++)
		if (pool_may_have(&r[i]) && causal_pools_find(out, r[i].pid))
			r[i].tid = r[i].pid;
	free(events);
	free(p.of);
	u64map_release(&p.by_pid);
	return ret;
}

void causal_pools_release(struct causal_pools *p)
{
	free(p->of);
}

static int pool_by_pid(const void *a, const void *b)
{
	const struct causal_pool *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

const struct causal_pool *causal_pools_find(const struct causal_pools *p, uint32_t tid)
{
	const struct causal_pool key = { .pid = tid };

	return p->nr ? bsearch(&key, p->of, p->nr, sizeof(key), pool_by_pid) : NULL;
}
