/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is counted of segments taken, and when a journal ends: after its limit, after a failure, and
 * with catalogs that fail at each of their steps.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/store/index/catalog_state.h"
#include "analyzer/store/intake/ingest.h"
#include "analyzer/store/intake/ingest_commit.h"
#include "tests/support/faulty_calls.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define NR	   4
#define HEAD_BYTES 32 /* of a journal's record */

static struct rig {
	char dir[64];
	struct store *store;
	struct ingest *ingest;
	struct buf data[NR];
	struct segment_facts facts[NR];
} rig;

static void rig_make(void)
{
	memset(&rig, 0, sizeof(rig));
	snprintf(rig.dir, sizeof(rig.dir), "%s", sample_folder());
	for (uint64_t i = 0; i < NR; i++) {
		sample_numbered(i, &rig.data[i]);
		ok_int(segment_facts_read(&rig.facts[i], rig.data[i].data, rig.data[i].len, NULL),
		       0);
	}
	ok_int(store_open(&rig.store, rig.dir, true, NULL), 0);
	ok_int(ingest_new(&rig.ingest, rig.store), 0);
}

static void rig_release(void)
{
	ingest_free(rig.ingest);
	store_close(rig.store);
	for (int i = 0; i < NR; i++) {
		buf_release(&rig.data[i]);
		segment_facts_release(&rig.facts[i]);
	}
	sample_remove(rig.dir);
}

static int put(int i)
{
	struct ingest_result result;

	return ingest_put(rig.ingest, NULL, rig.data[i].data, rig.data[i].len, &result, NULL);
}

/* Bytes of the only journal there is; -1: there is none. */
static int64_t journal_size(void)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/journal-0000000002.log", rig.dir);
	ok(access(path, F_OK) != 0);
	snprintf(path, sizeof(path), "%s/journal-0000000001.log", rig.dir);
	return stat(path, &st) ? -1 : st.st_size;
}

static int64_t record_bytes(int i)
{
	return HEAD_BYTES + (int64_t)rig.data[i].len;
}

static bool is_cataloged(int i)
{
	struct segment_hash hash;

	return catalog_hash(store_catalog(rig.store), &rig.facts[i].name, &hash, NULL) >= 0;
}

static void a_full_journal_ends_before_the_next_record(void)
{
	rig_make();
	ingest_limit_journal(rig.ingest, (uint64_t)(record_bytes(0) + record_bytes(1)));
	ok_int(journal_size(), -1);
	ok_int(put(0), 0);
	ok_int(journal_size(), record_bytes(0));
	ok_int(put(1), 0);
	ok_int(journal_size(), record_bytes(0) + record_bytes(1));
	ok_int(put(2), 0);
	ok_int(journal_size(), record_bytes(2));
	ok_int(put(2), 0); /* again: nothing of it is written */
	ok_int(journal_size(), record_bytes(2));
	ok_eq(ingest_counted(rig.ingest).nr_batches, 3);
	ok_eq(ingest_counted(rig.ingest).nr_repeated, 1);
	ingest_free(rig.ingest);
	rig.ingest = NULL;
	ok_int(journal_size(), -1);
	rig_release();
}

/* What a failed sync has left in it may never reach the disk: nothing more is promised on it. */
static void a_failed_journal_ends(void)
{
	rig_make();
	for (uint64_t at = 1; at <= 2; at++) { /* its write, its sync */
		struct ingest_counts counts;

		ok_int(put(0), 0);
		ok(journal_size() > 0);
		calls_begin(&(struct calls_plan){ CALLS_FAIL_ONCE, at, EIO });
		ok_int(put((int)at), -EIO);
		ok(calls_end() > 2);
		ok_int(journal_size(), -1);
		counts = ingest_counted(rig.ingest);
		ok_eq(counts.nr_disk_errors, at);
		ok_eq(counts.nr_stored, at);
		ok_int(put((int)at), 0);
		ok_int(journal_size(), record_bytes((int)at));
	}
	ok_eq(ingest_counted(rig.ingest).nr_kept_journals, 0);
	rig_release();
}

/* The next start does it: it is told that there is one. */
static void a_journal_that_cannot_be_retired_is_counted(void)
{
	rig_make();
	ingest_limit_journal(rig.ingest, 1);
	ok_int(put(0), 0);
	calls_begin(&(struct calls_plan){ CALLS_FAIL_ONCE, 1, EIO }); /* syncfs(2) */
	ok_int(put(1), 0);
	calls_end();
	ok_eq(ingest_counted(rig.ingest).nr_kept_journals, 0); /* all was written again */
	calls_begin(&(struct calls_plan){ CALLS_FAIL_FROM, 1, EIO });
	ok_int(put(2), -EIO);
	calls_end();
	ok_eq(ingest_counted(rig.ingest).nr_kept_journals, 1);
	rig_release();
}

static void check_counts(uint64_t nr_stored, uint64_t nr_failed)
{
	struct ingest_counts counts = ingest_counted(rig.ingest);
	uint64_t bytes = 0;

	for (uint64_t i = 0; i < nr_stored; i++)
		bytes += rig.data[i].len;
	ok_eq(counts.nr_stored, nr_stored);
	ok_eq(counts.stored_bytes, bytes);
	ok_eq(counts.nr_batches, nr_stored);
	ok_eq(counts.nr_catalog_errors, nr_failed);
}

static void change(struct catalog *catalog, const char *sql)
{
	ok_int(sqlite3_exec(catalog->db, sql, NULL, NULL, NULL), SQLITE_OK);
}

/* Durable all the same, and taken in by the next sync. */
static void what_the_catalog_does_not_take_is_counted(void)
{
	struct catalog *catalog;

	rig_make();
	catalog = store_catalog(rig.store);
	ok_int(catalog_begin(catalog, NULL), 0); /* a second one is refused */
	ok_int(put(0), 0);
	ok_int(catalog_commit(catalog, NULL), 0);
	ok(!is_cataloged(0));
	check_counts(1, 1);
	change(catalog,
	       "PRAGMA foreign_keys = 1; CREATE TABLE one(x PRIMARY KEY);"
	       "CREATE TABLE two(x REFERENCES one DEFERRABLE INITIALLY DEFERRED);"
	       "CREATE TRIGGER no AFTER INSERT ON segment BEGIN INSERT INTO two VALUES (1); END");
	ok_int(put(1), 0); /* the commit is refused, and the transaction stays open */
	change(catalog, "DROP TRIGGER no; DROP TABLE two; DROP TABLE one");
	ok(!is_cataloged(1));
	check_counts(2, 2);
	ok_int(put(2), 0);
	ok(is_cataloged(2));
	check_counts(3, 2);
	change(catalog,
	       "CREATE TRIGGER no BEFORE INSERT ON segment BEGIN SELECT RAISE(ABORT, 'no'); END");
	ok_int(put(3), 0);
	change(catalog, "DROP TRIGGER no");
	ok(!is_cataloged(3));
	check_counts(4, 3);
	ok_int(store_sync(rig.store, NULL), 0);
	for (int i = 0; i < NR; i++)
		ok(is_cataloged(i));
	rig_release();
}

/* A committer of the test's own, whose first leader is held at the catalog. */
struct crew {
	struct committer committer;
	pthread_mutex_t catalog;
	struct ingest_counts counts;
};

struct sender {
	struct crew *crew;
	int which, status;
	pthread_t thread;
};

static void *send_one(void *ctx)
{
	struct sender *s = ctx;

	s->status = committer_put(&s->crew->committer, &rig.facts[s->which],
				  rig.data[s->which].data, rig.data[s->which].len);
	return NULL;
}

static size_t nr_waiting(struct committer *c, bool *has_leader)
{
	size_t nr = 0;

	pthread_mutex_lock(&c->lock);
	for (const struct commit *at = c->first; at; at = at->next)
		nr++;
	*has_leader = c->has_leader;
	pthread_mutex_unlock(&c->lock);
	return nr;
}

static void start_and_wait(struct sender *s, size_t waiting)
{
	bool has_leader = false;

	ok_int(pthread_create(&s->thread, NULL, send_one, s), 0);
	while (nr_waiting(&s->crew->committer, &has_leader) != waiting || !has_leader)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

static struct crew crew;

static void crew_begin(uint64_t batch_limit)
{
	rig_make();
	memset(&crew, 0, sizeof(crew));
	pthread_mutex_init(&crew.catalog, NULL);
	committer_init(&crew.committer, rig.store, &crew.catalog, &crew.counts);
	if (batch_limit)
		crew.committer.batch_limit = batch_limit;
	pthread_mutex_lock(&crew.catalog);
}

static void crew_end(void)
{
	committer_release(&crew.committer);
	pthread_mutex_destroy(&crew.catalog);
	rig_release();
}

/* The first sender goes alone, all others wait for it. */
static void send_all(struct sender *senders, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		senders[i].crew = &crew;
		start_and_wait(&senders[i], i);
	}
	pthread_mutex_unlock(&crew.catalog);
	for (size_t i = 0; i < nr; i++)
		pthread_join(senders[i].thread, NULL);
}

static void who_waits_goes_together(void)
{
	struct sender senders[] = { { 0 }, { .which = 1 }, { .which = 2 }, { .which = 1 } };

	crew_begin(0);
	send_all(senders, TAP_NR(senders));
	for (int i = 0; i < 3; i++) {
		ok_int(senders[i].status, 0);
		ok(is_cataloged(i));
	}
	ok_int(senders[3].status, -EALREADY);
	ok_eq(crew.counts.nr_stored, 3);
	ok_eq(crew.counts.nr_batches, 2);
	ok_eq(crew.counts.stored_bytes, rig.data[0].len + rig.data[1].len + rig.data[2].len);
	ok_eq(crew.counts.nr_catalog_errors, 0);
	ok_int(journal_size(), record_bytes(0) + record_bytes(1) + record_bytes(2));
	crew_end();
}

static void batches_are_bounded(void)
{
	struct sender alone = { .which = 0 };

	for (uint64_t less = 0; less < 2; less++) {
		struct sender senders[] = { { .which = 0 }, { .which = 1 }, { .which = 2 } };

		crew_begin(1);
		crew.committer.batch_limit = rig.data[1].len + rig.data[2].len - less;
		send_all(senders, TAP_NR(senders));
		ok_eq(crew.counts.nr_stored, 3);
		ok_eq(crew.counts.nr_batches, 2 + less);
		crew_end();
	}
	crew_begin(1); /* one that is more than the bound by itself goes alone */
	send_all(&alone, 1);
	ok_int(alone.status, 0);
	crew_end();
}

/* Another process, which knows nothing of this one's queue. */
static void who_is_faster_is_not_written_over(void)
{
	struct placer *placer = calloc(1, sizeof(*placer));
	struct sender sender = { .which = 0, .crew = &crew };
	char path[SEGMENT_PATH_MAX];
	struct buf found = { 0 };

	crew_begin(0);
	start_and_wait(&sender, 0);
	/* It has looked by now, or looks later: another content is found either way. */
	nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
	placer_init(placer, store_dir_fd(rig.store));
	ok_int(placer_put(placer, &rig.facts[0].name, rig.data[1].data, rig.data[1].len, false), 0);
	pthread_mutex_unlock(&crew.catalog);
	pthread_join(sender.thread, NULL);
	ok_int(sender.status, -EALREADY);
	ok_eq(crew.counts.nr_stored, 0);
	ok_eq(crew.counts.nr_batches, 0);
	segment_name_path(&rig.facts[0].name, path);
	ok_int(store_read(rig.store, path, &found, NULL), 0);
	ok(found.len == rig.data[1].len && !memcmp(found.data, rig.data[1].data, found.len));
	buf_release(&found);
	free(placer);
	crew_end();
}

static const struct tap_test tests[] = {
	{ "a full journal ends before the next record",
	  a_full_journal_ends_before_the_next_record },
	{ "a journal that could not be written or synced ends", a_failed_journal_ends },
	{ "a journal that cannot be retired is counted",
	  a_journal_that_cannot_be_retired_is_counted },
	{ "what the catalog does not take is counted, and taken by the next sync",
	  what_the_catalog_does_not_take_is_counted },
	{ "who waits goes together, each once", who_waits_goes_together },
	{ "batches are bounded in bytes", batches_are_bounded },
	{ "who is faster is not written over", who_is_faster_is_not_written_over },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}
