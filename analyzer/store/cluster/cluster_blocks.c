/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/cluster/cluster_blocks.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum block_state { BLOCK_WANTED, BLOCK_UNDER_WAY, BLOCK_READY, BLOCK_FAILED };

struct cluster_block {
	struct cluster_block *next;
	struct cluster_range range;
	char key[OBJECT_KEY_MAX];
	enum block_state state;
	bool is_used;	   /* somebody has read from it */
	bool is_forgotten; /* not in the list any more; whoever fetches it frees it */
	struct buf data;
};

struct cluster_blocks {
	struct cluster *c;
	pthread_mutex_t lock;
	pthread_cond_t wanted, ready;
	struct cluster_block *first; /* begins with the most recently used block */
	uint64_t bytes;		     /* of all blocks in the list */
	uint64_t unused_bytes;	     /* of those from which nobody has read */
	pthread_t threads[CLUSTER_AHEAD];
	unsigned int nr_threads;
	bool is_started, is_stopping;
};

static void cluster_block_free(struct cluster_block *k)
{
	buf_release(&k->data);
	free(k);
}

/* Takes the block out of the list. */
static void cluster_block_forget(struct cluster_blocks *b, struct cluster_block *k)
{
	struct cluster_block **link = &b->first;

	while (*link != k)
		link = &(*link)->next;
	*link = k->next;
	b->bytes -= k->range.nr;
	if (!k->is_used)
		b->unused_bytes -= k->range.nr;
	k->is_forgotten = true;
	if (k->state != BLOCK_UNDER_WAY)
		cluster_block_free(k);
}

static void cluster_block_use(struct cluster_blocks *b, struct cluster_block *k)
{
	struct cluster_block **link = &b->first;

	while (*link != k)
		link = &(*link)->next;
	*link = k->next;
	k->next = b->first;
	b->first = k;
	if (!k->is_used)
		b->unused_bytes -= k->range.nr;
	k->is_used = true;
}

/* Drops the least recently used blocks that are complete, but never the first of the list. */
static void cluster_blocks_shrink(struct cluster_blocks *b)
{
	while (b->bytes > CLUSTER_BLOCKS_BYTES) {
		struct cluster_block *last = NULL;

		for (struct cluster_block *k = b->first ? b->first->next : NULL; k; k = k->next)
			if (k->state == BLOCK_READY || k->state == BLOCK_FAILED)
				last = k;
		if (!last)
			return;
		cluster_block_forget(b, last);
	}
}

/* Returns the block that holds or will hold the whole range. */
static struct cluster_block *cluster_block_find(const struct cluster_blocks *b,
						const struct cluster_range *r)
{
	for (struct cluster_block *k = b->first; k; k = k->next)
		if (k->range.bundle == r->bundle && r->at >= k->range.at &&
		    r->at + r->nr <= k->range.at + k->range.nr)
			return k;
	return NULL;
}

static struct cluster_block *
cluster_block_add(struct cluster_blocks *b, const struct cluster_range *r, enum block_state state)
{
	struct cluster_block *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->range = *r;
	k->state = state;
	memcpy(k->key, b->c->places.bundles[r->bundle].key, sizeof(k->key));
	buf_init(&k->data);
	k->next = b->first;
	b->first = k;
	b->bytes += r->nr;
	b->unused_bytes += r->nr;
	cluster_blocks_shrink(b);
	return k;
}

/*
 * Fetches a block that is under way, without the lock, and then has the lock again. The block is
 * freed if it was forgotten meanwhile.
 */
static int cluster_block_fetch(struct cluster_blocks *b, struct cluster_block *k,
			       struct object_store *objects, struct err *err)
{
	int ret;

	pthread_mutex_unlock(&b->lock);
	ret = object_get(objects, k->key, k->range.at, k->range.nr, &k->data, err);
	pthread_mutex_lock(&b->lock);
	k->state = ret == 0 ? BLOCK_READY : BLOCK_FAILED;
	if (k->is_forgotten) {
		cluster_block_free(k);
		if (ret == 0)
			ret = err_set(err, ESTALE, "the index was read again meanwhile");
	}
	pthread_cond_broadcast(&b->ready);
	return ret;
}

/* Returns the block that was asked for first. */
static struct cluster_block *cluster_block_wanted(const struct cluster_blocks *b)
{
	struct cluster_block *oldest = NULL;

	for (struct cluster_block *k = b->first; k; k = k->next)
		if (k->state == BLOCK_WANTED)
			oldest = k;
	return oldest;
}

static void *cluster_blocks_run(void *ctx)
{
	struct cluster_blocks *b = ctx;
	struct object_store *objects = NULL;

	cluster_objects_open(b->c, &objects, NULL);
	pthread_mutex_lock(&b->lock);
	while (!b->is_stopping) {
		struct cluster_block *k = cluster_block_wanted(b);

		if (!k) {
			pthread_cond_wait(&b->wanted, &b->lock);
		} else if (objects) {
			k->state = BLOCK_UNDER_WAY;
			cluster_block_fetch(b, k, objects, NULL);
		} else { /* the reader fetches it itself and says why it cannot */
			k->state = BLOCK_FAILED;
			pthread_cond_broadcast(&b->ready);
		}
	}
	pthread_mutex_unlock(&b->lock);
	object_store_free(objects);
	return NULL;
}

/* Starts the threads with all signals blocked, which stay with the program's own threads. */
static void cluster_blocks_start(struct cluster_blocks *b)
{
	sigset_t all, before;

	b->is_started = true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (b->nr_threads < CLUSTER_AHEAD &&
	       pthread_create(&b->threads[b->nr_threads], NULL, cluster_blocks_run, b) == 0)
		b->nr_threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int cluster_blocks_new(struct cluster_blocks **out, struct cluster *c, struct err *err)
{
	struct cluster_blocks *b = calloc(1, sizeof(*b));

	if (!b)
		return err_set(err, ENOMEM, "out of memory");
	b->c = c;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->wanted, NULL);
	pthread_cond_init(&b->ready, NULL);
	*out = b;
	return 0;
}

void cluster_blocks_drop(struct cluster_blocks *b)
{
	pthread_mutex_lock(&b->lock);
	while (b->first)
		cluster_block_forget(b, b->first);
	pthread_cond_broadcast(&b->ready);
	pthread_mutex_unlock(&b->lock);
}

void cluster_blocks_free(struct cluster_blocks *b)
{
	if (!b)
		return;
	cluster_blocks_drop(b);
	pthread_mutex_lock(&b->lock);
	b->is_stopping = true;
	pthread_cond_broadcast(&b->wanted);
	pthread_mutex_unlock(&b->lock);
	for (unsigned int i = 0; i < b->nr_threads; i++)
		pthread_join(b->threads[i], NULL);
	pthread_cond_destroy(&b->wanted);
	pthread_cond_destroy(&b->ready);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

/* Gives a complete block that holds want; the lock is held. */
static int cluster_block_get(struct cluster_blocks *b, const struct cluster_range *want,
			     const struct cluster_range *around, struct cluster_block **out,
			     struct err *err)
{
	for (;;) {
		struct cluster_block *k = cluster_block_find(b, want);
		int ret;

		if (k && k->state == BLOCK_UNDER_WAY) {
			pthread_cond_wait(&b->ready, &b->lock);
			continue; /* The block may be gone. */
		}
		if (k && k->state == BLOCK_READY) {
			*out = k;
			return 0;
		}
		if (k && k->state == BLOCK_FAILED) {
			cluster_block_forget(b, k);
			k = NULL;
		}
		if (!k)
			k = cluster_block_add(b, around, BLOCK_UNDER_WAY);
		if (!k)
			return err_set(err, ENOMEM, "out of memory");
		k->state = BLOCK_UNDER_WAY;
		ret = cluster_block_fetch(b, k, b->c->objects, err);
		if (ret < 0) {
			k = ret == -ESTALE ? NULL : cluster_block_find(b, want);
			if (k && k->state == BLOCK_FAILED)
				cluster_block_forget(b, k);
			return ret;
		}
	}
}

int cluster_blocks_read(struct cluster_blocks *b, const struct cluster_range *want,
			struct cluster_range *around, struct buf *out, struct err *err)
{
	struct cluster_block *k = NULL;
	int ret;

	pthread_mutex_lock(&b->lock);
	ret = cluster_block_get(b, want, around, &k, err);
	if (ret == 0) {
		cluster_block_use(b, k);
		*around = k->range;
		ret = buf_put(out, k->data.data + (want->at - k->range.at), want->nr);
	}
	pthread_mutex_unlock(&b->lock);
	return ret;
}

bool cluster_blocks_ahead(struct cluster_blocks *b, const struct cluster_range *range)
{
	bool is_taken = true;

	pthread_mutex_lock(&b->lock);
	if (!b->is_started)
		cluster_blocks_start(b);
	if (!cluster_block_find(b, range)) {
		is_taken = b->nr_threads &&
			   b->unused_bytes + range->nr <= CLUSTER_BLOCKS_BYTES / 2 &&
			   cluster_block_add(b, range, BLOCK_WANTED);
		if (is_taken)
			pthread_cond_signal(&b->wanted);
	}
	pthread_mutex_unlock(&b->lock);
	return is_taken;
}
