// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal_pool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/replay/causal_depend.h"
#include "base/memory/array.h"

/*
 * A process with fewer requests tells too little. The other numbers separate the pool of the
 * recorded applications (of 166 requests of qemu-img 122 followed another thread's completion, and
 * 3 one of their own thread) from the other 14, of which 2 % to 29 % followed another thread's.
 */
#define POOL_LEAST	   40
#define POOL_FOLLOW_RATIO  0.5	/* of the requests follow a completion, at least */
#define POOL_OWN_RATIO	   0.25 /* of those follow one of their own thread, at most */
#define POOL_CHANCE_FACTOR 2.0	/* as many as by chance follow, at least */

/* This struct is an event of a process: a request that is sent, or one that completes. */
struct pool_event {
	uint64_t ns;
	uint32_t pid, tid, request;
	bool sends;
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

/* Writes the events of all processes, sorted, and returns their number. */
static size_t pool_events(const struct request *r, size_t nr, struct pool_event *out)
{
	size_t n = 0;

	for (size_t i = 0; i < nr; i++) {
		struct pool_event e = { .pid = r[i].pid, .tid = r[i].tid, .request = (uint32_t)i };

		if (!pool_may_have(&r[i]))
			continue;
		e.ns = r[i].arrival_ns;
		e.sends = true;
		out[n++] = e;
		e.ns = r[i].completion_ns;
		e.sends = false;
		out[n++] = e;
	}
	qsort(out, n, sizeof(*out), pool_by_time);
	return n;
}

/* This struct counts the requests of a process. */
struct pool_count {
	double nr, nr_follow, nr_own; /* in all; after a completion; after one of the same thread */
	double covered_ns;	      /* time within CAUSAL_FOLLOW_NS after a completion */
};

/*
 * Returns whether one of the last completions before event i is recent and of the same thread. Only
 * the completions since the request before count: what that one followed is its own.
 */
static bool pool_follows_own(const struct pool_event *e, size_t i)
{
	for (size_t k = i; k-- > 0 && !e[k].sends && e[i].ns - e[k].ns <= CAUSAL_FOLLOW_NS;)
		if (e[k].tid == e[i].tid)
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

static bool pool_is(const struct pool_event *e, size_t nr)
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

/* Makes one lane of a process whose events these are. */
static int causal_pools_add(struct causal_pools *p, size_t *cap, struct request *r,
			    const struct pool_event *e, size_t nr)
{
	int ret = array_grow(&p->pids, cap, p->nr + 1, sizeof(*p->pids));

	if (ret)
		return ret;
	p->pids[p->nr++] = e->pid;
	for (size_t i = 0; i < nr; i++)
		r[e[i].request].tid = e->pid;
	return 0;
}

int causal_pools_find(struct causal_pools *p, struct request *r, size_t nr)
{
	struct pool_event *events = malloc((2 * nr + 1) * sizeof(*events));
	size_t n, cap = 0;
	int ret = 0;

	*p = (struct causal_pools){ 0 };
	if (!events)
		return -ENOMEM;
	n = pool_events(r, nr, events);
	for (size_t i = 0, end; i < n && !ret; i = end) {
		for (end = i + 1; end < n && events[end].pid == events[i].pid;)
			end++;
		if (pool_is(events + i, end - i))
			ret = causal_pools_add(p, &cap, r, events + i, end - i);
	}
	free(events);
	return ret;
}

void causal_pools_release(struct causal_pools *p)
{
	free(p->pids);
}

static int pool_by_pid(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

bool causal_pools_have(const struct causal_pools *p, uint32_t tid)
{
	return p->nr && bsearch(&tid, p->pids, p->nr, sizeof(tid), pool_by_pid);
}
