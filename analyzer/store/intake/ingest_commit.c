/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/intake/ingest_commit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/store/store_summary.h"

#define SEGMENT_MAX_INODES 3 /* its file, the folder of its boot, the folder of its epoch */

void committer_init(struct committer *c, struct store *store, pthread_mutex_t *catalog,
		    struct ingest_counts *counts)
{
	*c = (struct committer){ .store = store, .catalog = catalog, .counts = counts };
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->retire_wake, NULL);
	pthread_cond_init(&c->retire_done, NULL);
	c->last = &c->first;
	c->journal_limit = INGEST_JOURNAL_BYTES;
	c->batch_limit = COMMIT_BYTES;
	placer_init(&c->placer, store_dir_fd(store));
}

static void ingest_commit_retire(struct committer *c, struct journal *j)
{
	if (journal_retire(j, c->store) == 0)
		return;
	pthread_mutex_lock(c->catalog);
	c->counts->nr_kept_journals++;
	pthread_mutex_unlock(c->catalog);
}

static void *retire_beside(void *ctx)
{
	struct committer *c = ctx;

	pthread_mutex_lock(&c->lock);
	while (!c->is_stopping || c->retiring) {
		if (!c->retiring) {
			pthread_cond_wait(&c->retire_wake, &c->lock);
			continue;
		}
		pthread_mutex_unlock(&c->lock);
		ingest_commit_retire(c, c->retiring);
		pthread_mutex_lock(&c->lock);
		c->retiring = NULL;
		pthread_cond_signal(&c->retire_done);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

int committer_start(struct committer *c)
{
	int ret = pthread_create(&c->thread, NULL, retire_beside, c);

	c->is_beside = ret == 0;
	return -ret;
}

void committer_release(struct committer *c)
{
	if (c->is_beside) {
		pthread_mutex_lock(&c->lock);
		c->is_stopping = true;
		pthread_cond_signal(&c->retire_wake);
		pthread_mutex_unlock(&c->lock);
		pthread_join(c->thread, NULL);
	}
	ingest_commit_retire(c, c->journal);
	pthread_cond_destroy(&c->retire_wake);
	pthread_cond_destroy(&c->retire_done);
	pthread_mutex_destroy(&c->lock);
}

/*
 * Hands the leader's journal over for retirement. At most two journals exist on the disk; otherwise
 * the writer waits.
 */
static void end_journal(struct committer *c)
{
	struct journal *j = c->journal;

	c->journal = NULL;
	if (!c->is_beside) {
		ingest_commit_retire(c, j);
		return;
	}
	pthread_mutex_lock(&c->lock);
	while (c->retiring)
		pthread_cond_wait(&c->retire_done, &c->lock);
	c->retiring = j;
	pthread_cond_signal(&c->retire_wake);
	pthread_mutex_unlock(&c->lock);
}

/*
 * Returns whether a file of its name exists or was summarized, or an earlier segment of this batch
 * has the same name.
 */
static int ingest_commit_look(struct committer *c, struct commit *const batch[], size_t at)
{
	const struct segment_name *n = &batch[at]->facts->name;
	char path[SEGMENT_PATH_MAX];
	int ret;

	for (size_t i = 0; i < at; i++)
		if (batch[i]->facts->name.sequence == n->sequence &&
		    segment_name_compare(&batch[i]->facts->name, n) == 0)
			return -EALREADY;
	segment_name_path(n, path);
	if (faccessat(store_dir_fd(c->store), path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EALREADY;
	if (errno != ENOENT)
		return -errno;
	ret = store_summary_look_up(c->store, c->catalog, n, &batch[at]->facts->hash, NULL);
	/*
	 * Where this cannot be determined the segment is stored; the next sync removes it if a
	 * summary names it.
	 */
	return ret == 1 || ret == -EEXIST ? -EALREADY : 0;
}

/*
 * Returns -EDQUOT or -EUSERS where the segment would exceed its host's quota. Only the leader adds
 * to the catalog, and the earlier segments of the batch are counted, so no host exceeds its quota.
 * Where the catalog cannot be read the segment is accepted, because a damaged catalog must not keep
 * anybody out.
 */
static int ingest_commit_quota(struct committer *c, struct commit *const batch[], size_t at)
{
	const struct segment_facts *f = batch[at]->facts;
	const struct ingest_quota *quota = &c->quota;
	struct catalog_host has;
	struct timespec now;
	int ret;

	if (!quota->nr_inodes && !quota->bytes && !quota->nr_segments_per_day)
		return 0;
	pthread_mutex_lock(c->catalog);
	ret = catalog_host(store_catalog(c->store), f->name.host, &has, NULL);
	pthread_mutex_unlock(c->catalog);
	if (ret < 0)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	if (has.day != (uint64_t)now.tv_sec / (CATALOG_DAY_NS / 1000000000u))
		has.nr_segments = 0;
	for (size_t i = 0; i < at; i++) {
		if (batch[i]->status || strcmp(batch[i]->facts->name.host, f->name.host) != 0)
			continue;
		has.nr_inodes += SEGMENT_MAX_INODES;
		has.bytes += batch[i]->len;
		has.nr_segments++;
	}
	if ((quota->nr_inodes && has.nr_inodes + SEGMENT_MAX_INODES > quota->nr_inodes) ||
	    (quota->bytes && has.bytes + batch[at]->len > quota->bytes))
		return -EDQUOT;
	if (quota->nr_segments_per_day && has.nr_segments >= quota->nr_segments_per_day)
		return -EUSERS;
	return 0;
}

/* Makes the segments with status 0 durable. */
static int write_journal(struct committer *c, struct commit *const batch[], size_t nr)
{
	struct journal_item items[JOURNAL_BATCH];
	size_t fresh = 0;
	int status = 0;

	for (size_t i = 0; i < nr; i++)
		if (batch[i]->status == 0)
			items[fresh++] = (struct journal_item){ batch[i]->data, batch[i]->len,
								&batch[i]->facts->hash };
	if (!fresh)
		return 0;
	if (c->journal && journal_bytes(c->journal) >= c->journal_limit)
		end_journal(c);
	if (!c->journal)
		status = journal_new(&c->journal, store_dir_fd(c->store));
	if (status == 0)
		status = journal_append(c->journal, items, fresh);
	if (status < 0 && c->journal)
		end_journal(c);
	return status;
}

/* Adds them to the catalog in one transaction, and counts them. */
static void note_stored(struct committer *c, struct commit *const batch[], size_t nr)
{
	struct catalog *catalog = store_catalog(c->store);
	uint64_t noted = 0, failed = 0;
	bool begun;

	pthread_mutex_lock(c->catalog);
	begun = catalog_begin(catalog, NULL) == 0;
	for (size_t i = 0; i < nr; i++) {
		if (batch[i]->status)
			continue;
		if (begun && catalog_put(catalog, batch[i]->facts, NULL) == 0)
			noted++;
		else
			failed++;
		c->counts->nr_stored++;
		c->counts->stored_bytes += batch[i]->len;
	}
	if (begun && catalog_commit(catalog, NULL) < 0) {
		catalog_rollback(catalog);
		failed += noted;
	}
	c->counts->nr_catalog_errors += failed;
	c->counts->nr_batches += noted + failed > 0;
	pthread_mutex_unlock(c->catalog);
}

static void commit_batch(struct committer *c, struct commit *const batch[], size_t nr)
{
	int status;

	for (size_t i = 0; i < nr; i++) {
		batch[i]->status = ingest_commit_look(c, batch, i);
		if (batch[i]->status == 0)
			batch[i]->status = ingest_commit_quota(c, batch, i);
	}
	status = write_journal(c, batch, nr);
	for (size_t i = 0; i < nr; i++) {
		if (batch[i]->status == 0)
			batch[i]->status = status;
		if (batch[i]->status)
			continue;
		batch[i]->status = placer_put(&c->placer, &batch[i]->facts->name, batch[i]->data,
					      batch[i]->len, false);
		if (batch[i]->status == -EEXIST) /* another process was faster */
			batch[i]->status = -EALREADY;
	}
	note_stored(c, batch, nr);
}

/* Takes the waiting segments in their order. The lock must be held. */
static size_t take_batch(struct committer *c, struct commit *batch[JOURNAL_BATCH])
{
	uint64_t bytes = 0;
	size_t nr = 0;

	while (c->first && nr < JOURNAL_BATCH && (!nr || bytes + c->first->len <= c->batch_limit)) {
		batch[nr] = c->first;
		bytes += c->first->len;
		c->first = c->first->next;
		nr++;
	}
	if (!c->first)
		c->last = &c->first;
	return nr;
}

/*
 * The leader is the first of its batch. A thread that it wakes continues without a lock, so its
 * commit may no longer exist afterwards.
 */
static void ingest_commit_lead(struct committer *c)
{
	struct commit *batch[JOURNAL_BATCH], *next;
	size_t nr;

	pthread_mutex_lock(&c->lock);
	nr = take_batch(c, batch);
	pthread_mutex_unlock(&c->lock);
	commit_batch(c, batch, nr);
	pthread_mutex_lock(&c->lock);
	next = c->first;
	c->has_leader = next != NULL;
	pthread_mutex_unlock(&c->lock);
	if (next) {
		next->leads = true;
		sem_post(&next->wake);
	}
	for (size_t i = 1; i < nr; i++)
		sem_post(&batch[i]->wake);
}

int committer_put(struct committer *c, const struct segment_facts *facts, const void *data,
		  size_t len)
{
	struct commit own = { .facts = facts, .data = data, .len = len };

	bool waits;

	sem_init(&own.wake, 0, 0);
	pthread_mutex_lock(&c->lock);
	*c->last = &own;
	c->last = &own.next;
	waits = c->has_leader;
	c->has_leader = true;
	pthread_mutex_unlock(&c->lock);
	while (waits && sem_wait(&own.wake) < 0) /* interrupted by a signal */
		;
	if (!waits || own.leads)
		ingest_commit_lead(c);
	sem_destroy(&own.wake);
	return own.status;
}
