// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/page/page_warm.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "analyzer/serve/period/page_block.h"
#include "base/system/clock.h"
#include "base/system/thread.h"

#define BACK_BLOCKS	  96		/* blocks of a day */
#define REST		  4		/* rest, in units of the work before it */
#define LOOK_NS		  5000000000ull /* time between two looks while there is nothing to do */
#define MOST_BYTES	  (128u << 20)	/* bytes of the sums of one block of one host */
#define MOST_WINDOW_BYTES (64u << 20)	/* bytes of its windows */

struct page_warm {
	struct page_store *store; /* borrowed */
	struct page_fleet *fleet; /* borrowed */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	atomic_bool stop;

	/* The blocks [low, high) are done; the thread goes down to `bottom`. */
	uint64_t low, high, bottom;
};

/* Rests; returns false when the thread is to end. */
static bool page_warm_rest(struct page_warm *w, uint64_t rest_ns)
{
	uint64_t end_ns = clock_monotonic_ns() + rest_ns;
	const struct timespec until = { (time_t)(end_ns / CLOCK_NS_PER_S),
					(long)(end_ns % CLOCK_NS_PER_S) };

	pthread_mutex_lock(&w->lock);
	while (!atomic_load(&w->stop) &&
	       pthread_cond_timedwait(&w->wake, &w->lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&w->lock);
	return !atomic_load(&w->stop);
}

/* Sums up one block of one host. */
static void page_warm_host(struct page_warm *w, const char *host, uint64_t block)
{
	const uint64_t block_ns = PAGE_BLOCK_S * CLOCK_NS_PER_S;
	struct page_question q = { .host = host,
				   .begin_real_ns = block * block_ns,
				   .end_real_ns = (block + 1) * block_ns,
				   .nr_most = PAGE_BLOCK_SEGMENTS };
	const struct page_block_limits limits = { &w->stop, MOST_BYTES, MOST_WINDOW_BYTES };
	struct page_segment *segments = NULL;
	struct err err = { 0 };
	size_t nr = 0, from = 0;
	bool whole;

	if (page_store_find(w->store, &q, &segments, &nr, &whole, &err) < 0)
		return;
	page_block_sort(segments, nr);
	/* A segment of an earlier block may reach into this one. */
	while (from < nr && page_block_of(&segments[from]) < block)
		from++;
	if (whole && from < nr)
		page_block_keep(w->store, segments + from, nr - from, &limits);
	free(segments);
}

/* Sums up one block of all hosts. Returns false when the thread is to end. */
static bool page_warm_block(struct page_warm *w, uint64_t block)
{
	char host[SEGMENT_NAME_BYTES];

	for (size_t i = 0; page_fleet_host_name(w->fleet, i, host); i++) {
		uint64_t begin_ns = clock_monotonic_ns();

		page_warm_host(w, host, block);
		if (!page_warm_rest(w, (clock_monotonic_ns() - begin_ns) * REST))
			return false;
	}
	return true;
}

/* Returns the block after the last one that is over; 0 while the fleet is still being read. */
static uint64_t page_warm_newest(struct page_warm *w)
{
	double as_of_s = page_fleet_loaded_s(w->fleet), now_s = (double)clock_real_ns() / 1e9;
	uint64_t block = as_of_s > 0 ? (uint64_t)(as_of_s / PAGE_BLOCK_S) + 1 : 0;

	while (block && !page_block_is_over(block - 1, now_s))
		block--;
	return block;
}

/* New blocks come before those of the past. */
static void *page_warm_run(void *ctx)
{
	struct page_warm *w = ctx;
	bool goes_on = true;

	while (goes_on) {
		uint64_t newest = page_warm_newest(w);

		if (newest && !w->high) {
			w->low = w->high = newest;
			w->bottom = newest > BACK_BLOCKS ? newest - BACK_BLOCKS : 0;
		}
		if (newest > w->high + BACK_BLOCKS)
			w->high = newest - BACK_BLOCKS;
		if (newest > w->high)
			goes_on = page_warm_block(w, w->high++);
		else if (w->low > w->bottom)
			goes_on = page_warm_block(w, --w->low);
		else
			goes_on = page_warm_rest(w, LOOK_NS);
	}
	return NULL;
}

int page_warm_start(struct page_warm **out, struct page_store *store, struct page_fleet *fleet)
{
	struct page_warm *w = calloc(1, sizeof(*w));
	pthread_condattr_t clock;
	int ret;

	if (!w)
		return -ENOMEM;
	w->store = store;
	w->fleet = fleet;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &clock);
	pthread_condattr_destroy(&clock);
	ret = thread_start(&w->thread, "page-warm", page_warm_run, w);
	if (ret < 0) {
		free(w);
		return ret;
	}
	*out = w;
	return 0;
}

void page_warm_stop(struct page_warm *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	atomic_store(&w->stop, true);
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
