// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/lanes.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyzer/models/num/parallel.h"
#include "base/memory/array.h"
#include "base/system/thread.h"

/*
 * So many packages can be under way, 2.5 MiB in all, so that a lane may be some packages behind
 * another.
 */
#define PACKAGES 4
/*
 * A package of fewer requests that is waited for is done by the caller's thread: short periods of
 * many devices have a few requests each.
 */
#define SMALL_REQUESTS 512

struct order {
	struct window *window;
	const struct request *requests; /* NULL: [begin_ns, end_ns) was not observed */
	size_t nr;
	uint64_t begin_ns, end_ns;
};

struct package {
	struct request *requests; /* owned: LANES_REQUESTS of them; NULL until first used */
	struct order *orders;	  /* owned */
	size_t nr_orders, cap_orders;
};

struct lane {
	uint64_t next; /* the next package of this lane, counted from the first one */
	bool is_busy;
	bool has_failed; /* written by the thread that works in the lane */
};

struct lanes {
	struct package packages[PACKAGES]; /* package P is at P % PACKAGES */
	struct lane lanes[WINDOW_LANES];
	uint64_t nr_submitted;
	pthread_mutex_t lock; /* protects next, is_busy, nr_submitted and is_ending */
	pthread_cond_t given; /* a package was submitted, a lane became free, or all end */
	pthread_cond_t done;  /* a lane has finished a package */
	pthread_t threads[WINDOW_LANES];
	unsigned int nr_threads;
	bool is_ending;
};

/* ---- the work of a lane ---- */

/* Returns false where an estimator missed something. */
static bool package_work(const struct package *p, enum window_lane lane)
{
	bool is_whole = true;

	for (size_t i = 0; i < p->nr_orders; i++) {
		const struct order *o = &p->orders[i];

		if (!o->requests && lane == WINDOW_TIMES)
			window_unwatched(o->window, o->begin_ns, o->end_ns);
		else if (o->requests && window_add_lane(o->window, lane, o->requests, o->nr))
			is_whole = false;
	}
	return is_whole;
}

/*
 * Returns the free lane that is furthest behind, or WINDOW_LANES where no free lane has work. The
 * caller holds the lock.
 */
static unsigned int lane_waiting(const struct lanes *l)
{
	unsigned int best = WINDOW_LANES;

	/*
	 * The last lanes have the most work, so of two lanes that are equally far behind the later
	 * one begins first.
	 */
	for (unsigned int i = WINDOW_LANES; i-- > 0;) {
		const struct lane *lane = &l->lanes[i];

		if (lane->is_busy || lane->next == l->nr_submitted)
			continue;
		if (best == WINDOW_LANES || lane->next < l->lanes[best].next)
			best = i;
	}
	return best;
}

/* Does one package of one lane. The caller holds the lock, which is released during the work. */
static void lane_work(struct lanes *l, unsigned int i)
{
	struct lane *lane = &l->lanes[i];
	const struct package *p = &l->packages[lane->next % PACKAGES];
	bool is_whole;

	lane->is_busy = true;
	pthread_mutex_unlock(&l->lock);
	is_whole = package_work(p, i);
	pthread_mutex_lock(&l->lock);
	lane->has_failed |= !is_whole;
	lane->is_busy = false;
	lane->next++;
	pthread_cond_signal(&l->given);
	pthread_cond_signal(&l->done);
}

static void *lanes_labour(void *arg)
{
	struct lanes *l = arg;

	pthread_mutex_lock(&l->lock);
	for (;;) {
		unsigned int i = lane_waiting(l);

		if (i < WINDOW_LANES)
			lane_work(l, i);
		else if (l->is_ending)
			break;
		else
			pthread_cond_wait(&l->given, &l->lock);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* Returns the first package that some lane has not finished. The caller holds the lock. */
static uint64_t oldest_unfinished(const struct lanes *l)
{
	uint64_t oldest = l->lanes[0].next;

	for (unsigned int i = 1; i < WINDOW_LANES; i++)
		oldest = l->lanes[i].next < oldest ? l->lanes[i].next : oldest;
	return oldest;
}

/* Works, or waits for the threads that work, until all packages before `until` are finished. */
static void lanes_finish(struct lanes *l, uint64_t until)
{
	pthread_mutex_lock(&l->lock);
	while (oldest_unfinished(l) < until) {
		unsigned int i = lane_waiting(l);

		if (i < WINDOW_LANES)
			lane_work(l, i);
		else
			pthread_cond_wait(&l->done, &l->lock);
	}
	pthread_mutex_unlock(&l->lock);
}

/* ---- the caller's side ---- */

int lanes_new(struct lanes **out, unsigned int nr_threads)
{
	struct lanes *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	if (!nr_threads)
		nr_threads = parallel_cpus() - 1;
	if (nr_threads > WINDOW_LANES)
		nr_threads = WINDOW_LANES;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->given, NULL);
	pthread_cond_init(&l->done, NULL);
	/*
	 * Where a thread cannot be started, the running threads and the caller's thread do its
	 * work.
	 */
	while (l->nr_threads < nr_threads &&
	       !thread_start(&l->threads[l->nr_threads], "estimators", lanes_labour, l))
		l->nr_threads++;
	*out = l;
	return 0;
}

void lanes_free(struct lanes *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->is_ending = true;
	pthread_cond_broadcast(&l->given);
	pthread_mutex_unlock(&l->lock);
	for (unsigned int i = 0; i < l->nr_threads; i++)
		pthread_join(l->threads[i], NULL);
	for (size_t i = 0; i < PACKAGES; i++) {
		free(l->packages[i].requests);
		free(l->packages[i].orders);
	}
	pthread_cond_destroy(&l->done);
	pthread_cond_destroy(&l->given);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/*
 * Returns the package that is being filled. Only the caller's thread submits, so it reads
 * nr_submitted without the lock.
 */
static struct package *package_at_hand(struct lanes *l)
{
	return &l->packages[l->nr_submitted % PACKAGES];
}

struct request *lanes_requests(struct lanes *l)
{
	struct package *p = package_at_hand(l);

	if (!p->requests)
		p->requests = calloc(LANES_REQUESTS, sizeof(*p->requests));
	return p->requests;
}

static int order_put(struct lanes *l, const struct order *order)
{
	struct package *p = package_at_hand(l);
	int ret = array_grow(&p->orders, &p->cap_orders, p->nr_orders + 1, sizeof(*p->orders));

	if (ret)
		return ret;
	p->orders[p->nr_orders++] = *order;
	return 0;
}

int lanes_add(struct lanes *l, struct window *w, const struct request *r, size_t nr)
{
	return nr ? order_put(l, &(struct order){ .window = w, .requests = r, .nr = nr }) : 0;
}

int lanes_unwatched(struct lanes *l, struct window *w, uint64_t begin_ns, uint64_t end_ns)
{
	return order_put(l, &(struct order){ .window = w, .begin_ns = begin_ns, .end_ns = end_ns });
}

/*
 * Does a package without workers: each batch goes through all lanes, so that its requests stay in
 * the cache.
 */
static void package_do(struct lanes *l, struct package *p)
{
	for (size_t i = 0; i < p->nr_orders; i++) {
		const struct order *o = &p->orders[i];

		if (!o->requests)
			window_unwatched(o->window, o->begin_ns, o->end_ns);
		else if (window_add_many(o->window, o->requests, o->nr))
			l->lanes[WINDOW_TIMES].has_failed = true;
	}
	p->nr_orders = 0;
}

void lanes_submit(struct lanes *l)
{
	if (!package_at_hand(l)->nr_orders)
		return;
	if (!l->nr_threads) {
		package_do(l, package_at_hand(l));
		return;
	}
	pthread_mutex_lock(&l->lock);
	l->nr_submitted++;
	pthread_cond_broadcast(&l->given);
	pthread_mutex_unlock(&l->lock);
	/*
	 * The next package uses the memory of the one that was submitted PACKAGES before it, which
	 * must be finished first.
	 */
	if (l->nr_submitted >= PACKAGES)
		lanes_finish(l, l->nr_submitted - PACKAGES + 1);
	package_at_hand(l)->nr_orders = 0;
}

/* Returns whether waking the workers for the package would take longer than doing it. */
static bool package_is_small(const struct package *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr_orders && nr < SMALL_REQUESTS; i++)
		nr += p->orders[i].nr;
	return nr < SMALL_REQUESTS;
}

int lanes_settle(struct lanes *l)
{
	struct package *p = package_at_hand(l);
	bool has_failed = false;

	if (package_is_small(p)) {
		/* Afterwards no worker has anything to do, so the windows belong to this thread. */
		lanes_finish(l, l->nr_submitted);
		package_do(l, p);
	} else {
		lanes_submit(l);
		lanes_finish(l, l->nr_submitted);
	}
	for (size_t i = 0; i < WINDOW_LANES; i++) {
		has_failed |= l->lanes[i].has_failed;
		l->lanes[i].has_failed = false;
	}
	return has_failed ? -ENOMEM : 0;
}
