/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingest_commit: what ingest.c does for many senders together. No other file includes this header.
 *
 * The first thread that comes becomes the leader. It takes all waiting segments (at most
 * JOURNAL_BATCH and COMMIT_BYTES), makes them durable and wakes their threads; the first of those
 * that came meanwhile leads next. There is no separate thread, and a single sender waits for
 * nobody.
 */
#ifndef ANALYZER_INGEST_COMMIT_H
#define ANALYZER_INGEST_COMMIT_H

#include <pthread.h>
#include <semaphore.h>

#include "analyzer/store/intake/ingest.h"
#include "analyzer/store/segment_place.h"
#include "analyzer/store/store_journal.h"

#define COMMIT_BYTES SEGMENT_MAX_BYTES /* bytes of one batch, unless a single segment is larger */

/* One checked segment, on the stack of the thread that waits for it. */
struct commit {
	const struct segment_facts *facts;
	const void *data;
	size_t len;
	int status; /* -EALREADY: a file of that name exists by now */
	bool leads; /* the thread was woken in order to lead, not because its segment is done */
	sem_t wake; /* is posted once */
	struct commit *next;
};

struct committer {
	struct store *store;
	pthread_mutex_t *catalog; /* borrowed; guards the catalog and the counts */
	struct ingest_counts *counts;

	pthread_mutex_t lock; /* guards the queue and the journal being retired */
	struct commit *first, **last;
	bool has_leader;

	/* used by the leader only */
	struct placer placer;
	struct journal *journal;	     /* NULL: none is open */
	uint64_t journal_limit, batch_limit; /* bytes */
	struct ingest_quota quota;

	pthread_t thread;
	pthread_cond_t retire_wake, retire_done;
	/* the retiring thread has it; the leader waits before it hands over another */
	struct journal *retiring;
	bool is_beside, is_stopping;
};

void committer_init(struct committer *c, struct store *store, pthread_mutex_t *catalog,
		    struct ingest_counts *counts);
void committer_release(struct committer *c);
int committer_start(struct committer *c);
/*
 * Returns 0 once the segment is durable and in place; otherwise an error of ingest_put(), or
 * -EALREADY.
 */
int committer_put(struct committer *c, const struct segment_facts *facts, const void *data,
		  size_t len);

#endif
