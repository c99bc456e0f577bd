// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "analyzer/models/num/parallel.h"

#define THREADS_MAX 1024

struct crew {
	const struct parallel *p;
	size_t chunk, nr_chunks;
	atomic_size_t next;
	pthread_mutex_t lock; /* guards the members below */
	size_t failed;	      /* the lowest chunk that failed; nr_chunks while none has */
	int error;
};

unsigned parallel_cpus(void)
{
	cpu_set_t set;
	int nr = 0;

	if (!sched_getaffinity(0, sizeof(set), &set))
		nr = CPU_COUNT(&set);
	return nr > 0 ? (unsigned)nr : 1;
}

size_t parallel_nr_chunks(size_t nr_items, size_t chunk)
{
	if (!chunk)
		chunk = 1;
	return nr_items / chunk + (nr_items % chunk != 0);
}

static void note_failure(struct crew *c, size_t chunk, int error)
{
	pthread_mutex_lock(&c->lock);
	if (chunk < c->failed) {
		c->failed = chunk;
		c->error = error;
	}
	pthread_mutex_unlock(&c->lock);
}

/*
 * Chunks are handed out in order, and a chunk that was taken is always finished. So, whatever fails
 * later, every chunk before it has been run, and the lowest failure is found with any number of
 * threads.
 */
static void *parallel_labour(void *arg)
{
	struct crew *c = arg;
	size_t i;

	while ((i = atomic_fetch_add(&c->next, 1)) < c->nr_chunks) {
		size_t begin = i * c->chunk, left = c->p->nr_items - begin;
		int err = c->p->work(c->p->ctx, i, begin,
				     begin + (left < c->chunk ? left : c->chunk));

		if (err) {
			note_failure(c, i, err);
			atomic_store(&c->next, c->nr_chunks);
		}
	}
	return NULL;
}

static void run_threads(struct crew *c, unsigned nr)
{
	pthread_t *threads = nr > 1 ? calloc(nr - 1, sizeof(*threads)) : NULL;
	unsigned started = 0;

	while (threads && started < nr - 1 &&
	       !pthread_create(&threads[started], NULL, parallel_labour, c))
		started++;
	parallel_labour(c);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

int parallel_run(const struct parallel *p)
{
	struct crew c = { .p = p, .chunk = p->chunk ? p->chunk : 1 };
	size_t nr = p->nr_threads ? p->nr_threads : parallel_cpus();

	c.nr_chunks = c.failed = parallel_nr_chunks(p->nr_items, c.chunk);
	if (nr > c.nr_chunks)
		nr = c.nr_chunks;
	if (nr > THREADS_MAX)
		nr = THREADS_MAX;
	pthread_mutex_init(&c.lock, NULL);
	run_threads(&c, (unsigned)nr);
	pthread_mutex_destroy(&c.lock);
	for (size_t i = 0; !c.error && p->reduce && i < c.nr_chunks; i++)
		c.error = p->reduce(p->ctx, i);
	return c.error;
}
