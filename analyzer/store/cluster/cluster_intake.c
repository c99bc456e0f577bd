/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/cluster/cluster_intake.h"

#include <errno.h>
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/store/cluster/cluster_bundle.h"
#include "analyzer/store/intake/reader_pool.h"
#include "base/system/clock.h"

/* One waiting segment, on the stack of its sender's thread. */
struct waiter {
	struct bundle_item item;
	struct waiter *next;
	sem_t done;
};

/* A thread that stores bundles; its members are its own. */
struct intake_writer {
	struct home_intake *intake;
	struct cluster_sql *sql; /* opened when it is needed */
	struct bundle_days days;
	struct waiter **batch; /* CLUSTER_BUNDLE_MAX */
	pthread_t thread;
};

struct home_intake {
	struct cluster *cluster;   /* borrowed */
	struct cluster_sql *asker; /* connection for queries of senders; guarded by ask */
	pthread_mutex_t ask;
	struct reader_pool readers;

	struct intake_writer writers[CLUSTER_WRITERS];
	size_t nr_writers;    /* threads that run */
	pthread_mutex_t lock; /* guards the members below */
	pthread_cond_t wake;
	struct waiter *first, **last;
	size_t nr_waiting;
	uint64_t waiting_bytes;
	uint64_t first_ms; /* when the first of them arrived */
	struct ingest_quota quota;
	unsigned int gather_ms;
	bool is_stopping;
};

/*
 * Waits until a bundle is due: it is full, its time is over, or the intake ends. The caller holds
 * the lock.
 */
static void intake_wait(struct home_intake *in)
{
	while (!in->first && !in->is_stopping)
		pthread_cond_wait(&in->wake, &in->lock);
	while (in->first && !in->is_stopping && in->waiting_bytes < CLUSTER_BUNDLE_BYTES &&
	       in->nr_waiting < CLUSTER_BUNDLE_MAX) {
		uint64_t until_ms = in->first_ms + in->gather_ms;
		struct timespec until = { (time_t)(until_ms / 1000),
					  (long)(until_ms % 1000) * 1000000 };

		if (clock_monotonic_ms() >= until_ms)
			break;
		pthread_cond_timedwait(&in->wake, &in->lock, &until);
	}
}

/* Takes the segments of one bundle in the order of their arrival. The caller holds the lock. */
static size_t intake_take(struct home_intake *in, struct waiter **batch)
{
	uint64_t bytes = 0;
	size_t nr = 0;

	while (in->first && nr < CLUSTER_BUNDLE_MAX &&
	       (!nr || bytes + bundle_item_bytes(&in->first->item) <= CLUSTER_BUNDLE_BYTES)) {
		batch[nr] = in->first;
		bytes += bundle_item_bytes(&in->first->item);
		in->first = in->first->next;
		nr++;
	}
	if (!in->first)
		in->last = &in->first;
	in->nr_waiting -= nr;
	in->waiting_bytes -= bytes;
	in->first_ms = clock_monotonic_ms();
	if (in->first) /* for another writer */
		pthread_cond_signal(&in->wake);
	return nr;
}

static void intake_commit(struct intake_writer *w, size_t nr, const struct ingest_quota *quota)
{
	struct bundle_item **items = calloc(nr, sizeof(struct bundle_item *));
	struct bundle_commit commit = { .cluster = w->intake->cluster,
					.sql = &w->sql,
					.days = &w->days,
					.quota = *quota,
					.items = items,
					.nr = nr };

	for (size_t i = 0; items && i < nr; i++)
		items[i] = &w->batch[i]->item;
	if (items)
		bundle_commit(&commit);
	for (size_t i = 0; i < nr; i++) {
		if (!items)
			w->batch[i]->item.ret = -ENOMEM;
		sem_post(&w->batch[i]->done); /* After this call the waiter may no longer exist. */
	}
	free(items);
}

static void *intake_run(void *ctx)
{
	struct intake_writer *w = ctx;
	struct home_intake *in = w->intake;

	pthread_mutex_lock(&in->lock);
	while (!in->is_stopping || in->first) {
		struct ingest_quota quota;
		size_t nr;

		intake_wait(in);
		nr = intake_take(in, w->batch);
		quota = in->quota;
		if (!nr)
			continue;
		pthread_mutex_unlock(&in->lock);
		intake_commit(w, nr, &quota);
		pthread_mutex_lock(&in->lock);
	}
	pthread_mutex_unlock(&in->lock);
	return NULL;
}

static int intake_start(struct home_intake *in)
{
	struct intake_writer *w = &in->writers[in->nr_writers];
	int ret;

	w->intake = in;
	w->batch = calloc(CLUSTER_BUNDLE_MAX, sizeof(struct waiter *));
	if (!w->batch)
		return ENOMEM;
	ret = pthread_create(&w->thread, NULL, intake_run, w);
	if (ret)
		free(w->batch);
	else
		in->nr_writers++;
	return ret;
}

int cluster_intake_new(struct home_intake **out, struct store *s, struct err *err)
{
	struct home_intake *in = calloc(1, sizeof(*in));
	pthread_condattr_t clock;
	int ret = 0;

	if (!in)
		return err_set(err, ENOMEM, "out of memory");
	in->cluster = s->cluster;
	in->last = &in->first;
	pthread_mutex_init(&in->lock, NULL);
	pthread_mutex_init(&in->ask, NULL);
	reader_pool_init(&in->readers);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&in->wake, &clock);
	pthread_condattr_destroy(&clock);
	while (ret == 0 && in->nr_writers < CLUSTER_WRITERS)
		ret = intake_start(in);
	if (ret) {
		cluster_intake_free(in);
		return err_set(err, ret, "intake: %s", strerror(ret));
	}
	*out = in;
	return 0;
}

void cluster_intake_free(struct home_intake *in)
{
	if (!in)
		return;
	pthread_mutex_lock(&in->lock);
	in->is_stopping = true;
	pthread_cond_broadcast(&in->wake);
	pthread_mutex_unlock(&in->lock);
	for (size_t i = 0; i < in->nr_writers; i++) {
		struct intake_writer *w = &in->writers[i];

		pthread_join(w->thread, NULL);
		cluster_sql_close(w->sql);
		bundle_days_release(&w->days);
		free(w->batch);
	}
	cluster_sql_close(in->asker);
	pthread_cond_destroy(&in->wake);
	pthread_mutex_destroy(&in->lock);
	pthread_mutex_destroy(&in->ask);
	reader_pool_release(&in->readers);
	free(in);
}

void cluster_intake_gather(struct home_intake *in)
{
	pthread_mutex_lock(&in->lock);
	in->gather_ms = CLUSTER_GATHER_MS;
	pthread_mutex_unlock(&in->lock);
}

void cluster_intake_limit(struct home_intake *in, const struct ingest_quota *quota)
{
	pthread_mutex_lock(&in->lock);
	in->quota = *quota;
	pthread_mutex_unlock(&in->lock);
}

int cluster_intake_put(struct home_intake *in, const struct home_segment *one, struct err *err)
{
	struct waiter own = { .item = { .segment = *one } };
	struct segment_reader *reader = reader_pool_take(&in->readers);
	int ret = bundle_item_init(&own.item, &reader, err);

	reader_pool_give(&in->readers, reader);
	if (ret < 0)
		return ret;
	sem_init(&own.done, 0, 0);
	pthread_mutex_lock(&in->lock);
	if (!in->first)
		in->first_ms = clock_monotonic_ms();
	*in->last = &own;
	in->last = &own.next;
	in->nr_waiting++;
	in->waiting_bytes += bundle_item_bytes(&own.item);
	/* A writer that gathers wakes up by itself when its time is over. */
	if (in->nr_waiting == 1 || in->nr_waiting >= CLUSTER_BUNDLE_MAX ||
	    in->waiting_bytes >= CLUSTER_BUNDLE_BYTES)
		pthread_cond_signal(&in->wake);
	pthread_mutex_unlock(&in->lock);
	while (sem_wait(&own.done) < 0) /* a signal interrupted the call */
		;
	sem_destroy(&own.done);
	bundle_item_release(&own.item);
	if (own.item.ret < 0 && err)
		*err = own.item.err;
	return own.item.ret;
}

static int intake_ask(struct home_intake *in, struct segment_name *n, bool exactly, struct err *err)
{
	static const char exact[] =
		"SELECT boot_id, epoch, upper(taken) - 1 FROM stream WHERE host = $1 "
		"AND boot_id = $2 AND epoch = $3 AND NOT isempty(taken)";
	static const char next[] =
		"SELECT boot_id, epoch, upper(taken) - 1 FROM stream WHERE host = $1 "
		"AND (boot_id, epoch) >= ($2, $3::bigint) AND NOT isempty(taken) "
		"ORDER BY boot_id, epoch LIMIT 1";
	char epoch[24];
	const char *values[] = { n->host, n->boot_id, epoch };
	PGresult *r = NULL;
	int ret = 0;

	snprintf(epoch, sizeof(epoch), "%" PRIu64, n->epoch);
	if (!in->asker)
		ret = cluster_sql_open(&in->asker, &in->cluster->url, true, err);
	if (ret == 0)
		ret = cluster_sql_call(in->asker, exactly ? exact : next, 3, values, &r, err);
	if (ret == 0 && PQntuples(r)) {
		snprintf(n->boot_id, sizeof(n->boot_id), "%s", PQgetvalue(r, 0, 0));
		n->epoch = strtoull(PQgetvalue(r, 0, 1), NULL, 10);
		n->sequence = strtoull(PQgetvalue(r, 0, 2), NULL, 10);
		ret = 1;
	}
	PQclear(r);
	return ret;
}

int cluster_intake_stream(struct home_intake *in, struct segment_name *n, bool exactly,
			  struct err *err)
{
	int ret;

	pthread_mutex_lock(&in->ask);
	ret = intake_ask(in, n, exactly, err);
	pthread_mutex_unlock(&in->ask);
	return ret;
}
