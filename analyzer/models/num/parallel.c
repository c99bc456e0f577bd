// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/models/num/parallel.h"
#include "analyzer/models/num/ranks.h"
#include "base/memory/buf.h"

#define THREADS_MAX 1024

struct crew {
	const struct parallel *p;
	size_t chunk, nr_chunks;
	size_t first, step;   /* this process works on chunks first, first + step, ... */
	atomic_size_t next;   /* the number of the next one among these */
	pthread_mutex_t lock; /* guards the members below */
	size_t failed;	      /* the lowest chunk that failed; nr_chunks while none has */
	int error;
};

struct parallel_bytes {
	struct buf *out;  /* the bytes to send; NULL if the result is received */
	struct cursor in; /* the received bytes */
};

/*
 * This flag says whether this thread is working on a chunk. Work within work is not spread over
 * ranks.
 */
static _Thread_local bool parallel_inside;

unsigned parallel_cpus(void)
{
	cpu_set_t set;
	int nr = (int)ranks_threads();

	if (nr)
		return (unsigned)nr;

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

	parallel_inside = true;
	while ((i = c->first + c->step * atomic_fetch_add(&c->next, 1)) < c->nr_chunks) {
		size_t begin = i * c->chunk, left = c->p->nr_items - begin;
		int err = c->p->work(c->p->ctx, i, begin,
				     begin + (left < c->chunk ? left : c->chunk));

		if (err) {
			note_failure(c, i, err);
			atomic_store(&c->next, c->nr_chunks);
		}
	}
	parallel_inside = false;
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

int parallel_piece(struct parallel_bytes *b, void *at, size_t size)
{
	if (b->out)
		return buf_put(b->out, at, size);
	return cursor_get(&b->in, at, size);
}

/*
 * This struct says how the work of one rank ended. The results of its chunks follow if no rank
 * failed.
 */
struct parallel_outcome {
	uint64_t failed; /* the lowest chunk that failed */
	int64_t error;
	struct err err;
};

/* Learns which rank had the lowest chunk that failed, and takes over its error. */
static int parallel_agree(struct crew *c)
{
	struct parallel_outcome own = { .failed = c->failed, .error = c->error }, o;
	struct ranks_bytes all;
	int ret;

	if (c->error && c->p->errs)
		own.err = c->p->errs[c->failed];
	ret = ranks_exchange(&all, c->nr_chunks, &own, sizeof(own));
	if (ret)
		return ret;
	for (unsigned i = 0; i < ranks_nr(); i++) {
		if (all.sizes[i] != sizeof(o))
			ranks_apart();
		memcpy(&o, all.data + i * sizeof(o), sizeof(o));
		if (!o.error || (c->error && o.failed >= c->failed))
			continue;
		c->failed = o.failed;
		c->error = (int)o.error;
		if (c->p->errs)
			c->p->errs[o.failed] = o.err;
	}
	ranks_bytes_release(&all);
	return c->error;
}

/* Receives the results of all chunks on which other ranks worked. */
static int parallel_receive(struct crew *c, const struct ranks_bytes *all)
{
	const uint8_t *at = all->data;
	int ret = 0;

	for (unsigned r = 0; r < ranks_nr(); at += all->sizes[r], r++) {
		struct parallel_bytes b = { .in = cursor_make(at, all->sizes[r]) };

		if (r == ranks_own())
			continue;
		for (size_t i = r; i < c->nr_chunks; i += c->step) {
			ret = c->p->pieces(c->p->ctx, i, &b);
			if (ret)
				return ret;
		}
		if (cursor_left(&b.in))
			return -EPROTO;
	}
	return 0;
}

static int parallel_share(struct crew *c)
{
	struct ranks_bytes all = { 0 };
	struct buf mine;
	struct parallel_bytes b = { .out = &mine };
	int ret = parallel_agree(c);

	buf_init(&mine);
	if (ret)
		goto out;
	for (size_t i = c->first; i < c->nr_chunks; i += c->step) {
		ret = c->p->pieces(c->p->ctx, i, &b);
		if (ret)
			goto out;
	}
	ret = ranks_exchange(&all, c->nr_chunks, mine.data, mine.len);
	if (ret)
		goto out;
	ret = parallel_receive(c, &all);
	if (ret && ret != -ENOMEM)
		ranks_apart();
out:
	ranks_bytes_release(&all);
	buf_release(&mine);
	return ret;
}

/*
 * Ranks take part in the same exchanges in the same order. Only the main thread, which goes the
 * same way in every rank, can promise that.
 */
static bool parallel_spreads(const struct parallel *p, size_t nr_chunks)
{
	return ranks_nr() > 1 && p->pieces && nr_chunks > 1 && !parallel_inside &&
	       gettid() == getpid();
}

int parallel_run(const struct parallel *p)
{
	struct crew c = { .p = p, .chunk = p->chunk ? p->chunk : 1, .step = 1 };
	size_t nr = p->nr_threads ? p->nr_threads : parallel_cpus(), own;
	bool outside = !parallel_inside, spreads;

	c.nr_chunks = c.failed = parallel_nr_chunks(p->nr_items, c.chunk);
	spreads = parallel_spreads(p, c.nr_chunks);
	if (spreads) {
		c.first = ranks_own();
		c.step = ranks_nr();
	}
	own = c.first < c.nr_chunks ? parallel_nr_chunks(c.nr_chunks - c.first, c.step) : 0;
	if (nr > own)
		nr = own;
	if (nr > THREADS_MAX)
		nr = THREADS_MAX;
	pthread_mutex_init(&c.lock, NULL);
	run_threads(&c, (unsigned)nr);
	pthread_mutex_destroy(&c.lock);
	parallel_inside = !outside;
	if (spreads)
		c.error = parallel_share(&c);
	if (c.error && p->errs && c.failed < c.nr_chunks && p->errs[c.failed].code) {
		if (p->err)
			*p->err = p->errs[c.failed];
	} else if (c.error && p->errs) {
		err_set(p->err, -c.error, "%s", strerror(-c.error));
	}
	for (size_t i = 0; !c.error && p->reduce && i < c.nr_chunks; i++)
		c.error = p->reduce(p->ctx, i);
	return c.error;
}
