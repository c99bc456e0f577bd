// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal_pool_few.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/replay/causal_depend.h"
#include "base/memory/array.h"
#include "base/memory/u64map.h"

#define FEW_THREADS 8 /* A process with fewer threads tells too little. */
#define FEW_PART    4 /* The clients are at most this part of the threads. */
/*
 * If 20 beginnings are expected of independent threads, 4 or fewer come with a probability of
 * 0.00002 (causal_begin.c).
 */
#define FEW_EXPECTED 20.0
#define FEW_MOST     0.2
/*
 * Clients that think for a constant time begin one after the other, and so never many at once.
 * Their idle times differ by less than the time from one client's beginning to the next one's, or
 * the order would be lost. In the recordings of clients in step the ratio is 1.6 at most; in those
 * of the web server it is 23 at least.
 */
#define FEW_SPREAD 3.0

struct few_task {
	uint64_t begin_ns, end_ns;
};

struct few_thread {
	struct few_task task; /* the one that it has, or had last */
	int32_t under_way;
};

struct few_tasks {
	struct few_thread *threads; /* owned */
	size_t nr_threads, cap_threads;
	struct u64map by_tid; /* index in threads */
	struct few_task *of;  /* owned */
	size_t nr, cap;
	double nr_idle, idle_ns, idle_ns2; /* sums of the times between two tasks of a thread */
};

/* Returns the thread; a new one begins its first task now. NULL if memory is out. */
static struct few_thread *few_thread_of(struct few_tasks *t, const struct pool_event *e)
{
	uint32_t at = u64map_find(&t->by_tid, e->tid);

	if (at != U64MAP_NONE)
		return &t->threads[at];
	if (array_grow(&t->threads, &t->cap_threads, t->nr_threads + 1, sizeof(*t->threads)) ||
	    u64map_put(&t->by_tid, e->tid, (uint32_t)t->nr_threads))
		return NULL;
	t->threads[t->nr_threads] = (struct few_thread){ .task = { e->ns, e->ns } };
	return &t->threads[t->nr_threads++];
}

static int few_task_add(struct few_tasks *t, const struct few_task *task)
{
	if (array_grow(&t->of, &t->cap, t->nr + 1, sizeof(*t->of)))
		return -ENOMEM;
	t->of[t->nr++] = *task;
	return 0;
}

/* Ends the task that the thread had last, and begins one now, if it was idle for long enough. */
static int few_task_begin(struct few_tasks *t, struct few_thread *thread, uint64_t ns)
{
	double idle_ns = (double)(ns - thread->task.end_ns);

	if (idle_ns <= CAUSAL_FOLLOW_NS)
		return 0;
	if (few_task_add(t, &thread->task))
		return -ENOMEM;
	thread->task.begin_ns = ns;
	t->nr_idle++;
	t->idle_ns += idle_ns;
	t->idle_ns2 += idle_ns * idle_ns;
	return 0;
}

/*
 * Finds the tasks. The completion of a request that took no time comes before the request, so that
 * for a moment -1 requests are under way.
 */
static int few_tasks_find(struct few_tasks *t, const struct pool_event *e, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct few_thread *thread = few_thread_of(t, &e[i]);

		if (!thread || (!thread->under_way && few_task_begin(t, thread, e[i].ns)))
			return -ENOMEM;
		thread->under_way += e[i].sends ? 1 : -1;
		if (!e[i].sends)
			thread->task.end_ns = e[i].ns;
	}
	for (size_t i = 0; i < t->nr_threads; i++)
		if (few_task_add(t, &t->threads[i].task))
			return -ENOMEM;
	return 0;
}

static bool few_is_in_step(const struct few_tasks *t)
{
	double mean_ns = t->idle_ns / t->nr_idle;
	double variance = t->idle_ns2 / t->nr_idle - mean_ns * mean_ns;

	return !(sqrt(fmax(variance, 0)) * (double)t->nr_threads >= FEW_SPREAD * mean_ns);
}

/* This struct is the beginning or the end of a task. */
struct few_change {
	uint64_t ns;
	bool begins;
};

/* Ends come before beginnings of the same time. */
static int few_by_time(const void *a, const void *b)
{
	const struct few_change *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (int)x->begins - (int)y->begins;
}

/* begun[k] counts the tasks that begin while exactly k are under way, ns[k] is the time of that. */
static void few_count(struct few_change *c, size_t nr, double *begun, double *ns)
{
	size_t live = 0;

	qsort(c, nr, sizeof(*c), few_by_time);
	for (size_t i = 0; i < nr; i++) {
		if (i)
			ns[live] += (double)(c[i].ns - c[i - 1].ns);
		begun[live] += c[i].begins;
		live = c[i].begins ? live + 1 : live - 1;
	}
}

/* Returns whether hardly any task begins while some number of them, far below nr, is under way. */
static bool few_has_limit(const double *begun, const double *ns, size_t nr)
{
	double all = 0, all_ns = 0, above, above_ns;

	for (size_t k = 0; k <= nr; k++) {
		all += begun[k];
		all_ns += ns[k];
	}
	above = all;
	above_ns = all_ns;
	for (size_t k = 1; k <= nr / FEW_PART; k++) {
		above -= begun[k - 1];
		above_ns -= ns[k - 1];
		if (all * above_ns >= FEW_EXPECTED * all_ns &&
		    above * all_ns < FEW_MOST * all * above_ns)
			return true;
	}
	return false;
}

static int few_judge(const struct few_tasks *t, bool *is_few)
{
	double *begun = calloc(t->nr + 1, sizeof(*begun)), *ns = calloc(t->nr + 1, sizeof(*ns));
	struct few_change *c = calloc(2 * t->nr, sizeof(*c));
	int ret = begun && ns && c ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < t->nr; i++) {
		const struct few_task *task = &t->of[i];
		/* A task without a length would end before it begins. */
		uint64_t end_ns = task->end_ns > task->begin_ns ? task->end_ns : task->begin_ns + 1;

		c[2 * i] = (struct few_change){ task->begin_ns, true };
		c[2 * i + 1] = (struct few_change){ end_ns, false };
	}
	if (!ret) {
		few_count(c, 2 * t->nr, begun, ns);
		*is_few = few_has_limit(begun, ns, t->nr_threads);
	}
	free(begun);
	free(ns);
	free(c);
	return ret;
}

int causal_pool_few(const struct pool_event *events, size_t nr, bool *is_few)
{
	struct few_tasks t = { .nr = 0 };
	int ret;

	*is_few = false;
	u64map_init(&t.by_tid);
	ret = few_tasks_find(&t, events, nr);
	if (!ret && t.nr_threads >= FEW_THREADS && t.nr_idle > 0 && !few_is_in_step(&t))
		ret = few_judge(&t, is_few);
	u64map_release(&t.by_tid);
	free(t.threads);
	free(t.of);
	return ret;
}
