/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingest_commit: what ingest.c does for many senders at once; nobody else includes it.
 *
 * Who comes first leads: it takes all that wait (JOURNAL_BATCH, COMMIT_BYTES), makes them durable,
 * and wakes them; of those who came meanwhile the first leads next. No thread of its own, and a
 * sender alone waits for nobody.
 */
#ifndef ANALYZER_INGEST_COMMIT_H
#define ANALYZER_INGEST_COMMIT_H

#include <pthread.h>
#include <semaphore.h>

#include "analyzer/store/ingest.h"
#include "analyzer/store/segment_place.h"
#include "analyzer/store/store_journal.h"

#define COMMIT_BYTES SEGMENT_MAX_BYTES /* of one batch, unless a single segment is larger */

/* One checked segment, on the stack of the thread that waits for it. */
struct commit {
	const struct segment_facts *facts;
	const void *data;
	size_t len;
	int status; /* -EALREADY: a file of that name is there meanwhile */
	bool leads; /* woken to lead, not because it is done */
	sem_t wake; /* posted once */
	struct commit *next;
};

struct committer {
	struct store *store;
	pthread_mutex_t *catalog; /* borrowed: guards catalog and counts */
	struct ingest_counts *counts;

	pthread_mutex_t lock; /* guards the queue and what is retired beside */
	struct commit *first, **last;
	bool has_leader;

	/* of the leader */
	struct placer placer;
	struct journal *journal;	     /* NULL: none is open */
	uint64_t journal_limit, batch_limit; /* bytes */
	struct ingest_quota quota;

	pthread_t thread;
	pthread_cond_t retire_wake, retire_done;
	struct journal *retiring; /* the thread has it; the leader waits to hand over another */
	bool is_beside, is_stopping;
};

void committer_init(struct committer *c, struct store *store, pthread_mutex_t *catalog,
		    struct ingest_counts *counts);
void committer_release(struct committer *c);
int committer_start(struct committer *c);
/* 0 once it is durable and in its place; else as ingest_put(), or -EALREADY. */
int committer_put(struct committer *c, const struct segment_facts *facts, const void *data,
		  size_t len);

#endif
