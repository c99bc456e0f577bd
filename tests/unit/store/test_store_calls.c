/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Journals, the places of segments and folders, with an error at each of their calls and no memory
 * at each of their allocations: what was promised is in its place after the next recovery.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/store/intake/ingest.h"
#include "analyzer/store/segment_place.h"
#include "analyzer/store/store.h"
#include "analyzer/store/store_journal.h"
#include "base/system/durable.h"
#include "tests/support/faulty_calls.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define MAX_POINTS 1000
#define NR	   2

static struct rig {
	char dir[64];
	struct store *store;
	struct buf data[NR], journal; /* the journal of both, as a death leaves it */
	struct segment_name names[NR];
	struct segment_hash hashes[NR];
} rig;

static void read_whole(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "rb");
	char bytes[4096];
	size_t nr;

	while (f && (nr = fread(bytes, 1, sizeof(bytes), f)) > 0)
		buf_put(out, bytes, nr);
	if (f)
		fclose(f);
}

static int append_both(struct journal *j)
{
	struct journal_item items[NR];

	for (int i = 0; i < NR; i++)
		items[i] =
			(struct journal_item){ rig.data[i].data, rig.data[i].len, &rig.hashes[i] };
	return journal_append(j, items, NR);
}

static void rig_make(void)
{
	struct journal *j = NULL;
	char path[128];

	memset(&rig, 0, sizeof(rig));
	snprintf(rig.dir, sizeof(rig.dir), "%s", sample_folder());
	for (uint64_t i = 0; i < NR; i++) {
		sample_numbered(i, &rig.data[i]);
		rig.hashes[i] = segment_hash_of(rig.data[i].data, rig.data[i].len);
		rig.names[i] = (struct segment_name){
			.host = "h", .boot_id = "b", .epoch = 1, .sequence = i
		};
	}
	ok_int(store_open(&rig.store, rig.dir, true, NULL), 0);
	ok_int(journal_new(&j, store_dir_fd(rig.store)), 0);
	ok_int(append_both(j), 0);
	snprintf(path, sizeof(path), "%s/journal-0000000001.log", rig.dir);
	read_whole(path, &rig.journal);
	ok_eq(rig.journal.len, journal_bytes(j));
	ok_int(journal_retire(j, rig.store), 0);
	ok(access(path, F_OK) != 0);
}

static void rig_release(void)
{
	for (int i = 0; i < NR; i++)
		buf_release(&rig.data[i]);
	buf_release(&rig.journal);
	store_close(rig.store);
	sample_remove(rig.dir);
}

static bool is_whole(int i)
{
	char path[SEGMENT_PATH_MAX];
	struct buf got = { 0 };
	bool is_right;

	segment_name_path(&rig.names[i], path);
	is_right = !store_read(rig.store, path, &got, NULL) && got.len == rig.data[i].len &&
		   !memcmp(got.data, rig.data[i].data, got.len);
	buf_release(&got);
	return is_right;
}

static void remove_files(void)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/segments/h", rig.dir);
	if (!access(path, F_OK))
		sample_remove(path);
	if (!ok(!is_whole(0) && !is_whole(1)))
		abort();
}

static void failed_at(const struct calls_plan *plan)
{
	tap_note("mode %d, point %llu, error %d", plan->mode, (unsigned long long)plan->at,
		 plan->error);
}

static const int errors[] = { EIO, ENOENT, EINTR, EINVAL, EACCES, EEXIST, 0 };

static void every_point(bool (*try)(const struct calls_plan *plan))
{
	struct calls_plan plan = { 0 };

	for (int from = 0; from < 2; from++) {
		for (size_t i = 0; i < TAP_NR(errors); i++) {
			plan.mode = from ? CALLS_FAIL_FROM : CALLS_FAIL_ONCE;
			plan.error = errors[i];
			for (plan.at = 1; plan.at < MAX_POINTS && try(&plan); plan.at++)
				;
			ok(plan.at > 2 && plan.at < MAX_POINTS);
		}
		plan.mode = from ? CALLS_NO_MEMORY_FROM : CALLS_NO_MEMORY_ONCE;
		for (plan.at = 1; plan.at < MAX_POINTS && try(&plan); plan.at++)
			;
	}
}

/* A recovery with faults, then one without: all that was in the journal is in its place. */
static bool try_recovery(const struct calls_plan *plan)
{
	struct journal_recovery again;
	char path[128];
	uint64_t met;

	snprintf(path, sizeof(path), "%s/journal-0000000001.log", rig.dir);
	sample_write(path, rig.journal.data, rig.journal.len);
	calls_begin(plan);
	journal_recover(rig.store);
	met = calls_end();
	again = journal_recover(rig.store);
	if (!ok(is_whole(0) && is_whole(1) && !again.nr_failed && access(path, F_OK)))
		failed_at(plan);
	remove_files();
	return met >= plan->at;
}

static void recovery_ends_in_the_end(void)
{
	rig_make();
	every_point(try_recovery);
	rig_release();
}

/* A journal written, its segments placed, and retired, as far as it goes. */
static bool try_journal(const struct calls_plan *plan)
{
	int status, placed[NR] = { -1, -1 };
	struct journal *j = NULL;
	struct placer *placer = calloc(1, sizeof(*placer));
	uint64_t met;

	placer_init(placer, store_dir_fd(rig.store));
	calls_begin(plan);
	status = journal_new(&j, store_dir_fd(rig.store));
	if (!status) {
		status = append_both(j);
		for (int i = 0; i < NR && !status; i++)
			placed[i] = placer_put(placer, &rig.names[i], rig.data[i].data,
					       rig.data[i].len, false);
		journal_retire(j, rig.store);
	}
	met = calls_end();
	journal_recover(rig.store);
	for (int i = 0; i < NR; i++)
		if (!ok(placed[i] || is_whole(i)))
			failed_at(plan);
	free(placer);
	remove_files();
	return met >= plan->at;
}

static void journal_keeps_its_promises(void)
{
	rig_make();
	every_point(try_journal);
	rig_release();
}

/* One put to its place, and again, and in place of itself: whole or not there, nothing beside. */
static bool try_place(const struct calls_plan *plan)
{
	struct placer *placer = calloc(1, sizeof(*placer));
	int first, again, replaced;
	uint64_t met;

	placer_init(placer, store_dir_fd(rig.store));
	calls_begin(plan);
	first = placer_put(placer, rig.names, rig.data[0].data, rig.data[0].len, false);
	again = placer_put(placer, rig.names, rig.data[0].data, rig.data[0].len, false);
	replaced = placer_put(placer, rig.names, rig.data[0].data, rig.data[0].len, true);
	segment_place_sync(store_dir_fd(rig.store), rig.names);
	met = calls_end();
	if (!ok(is_whole(0) || (first && again && replaced)))
		failed_at(plan);
	if (met < plan->at)
		ok(!first && again == -EEXIST && !replaced);
	free(placer);
	remove_files();
	return met >= plan->at;
}

static void places_are_whole_or_empty(void)
{
	rig_make();
	every_point(try_place);
	rig_release();
}

/* One put with an error at one call; how many of its calls there are, 0: past the last one. */
static uint64_t put_failing(uint64_t at, int error, int *status)
{
	struct placer *placer = calloc(1, sizeof(*placer));
	uint64_t met;

	placer_init(placer, store_dir_fd(rig.store));
	calls_begin(&(struct calls_plan){ CALLS_FAIL_ONCE, at, error });
	*status = placer_put(placer, rig.names, rig.data[0].data, rig.data[0].len, false);
	met = calls_end();
	free(placer);
	return met >= at ? met : 0;
}

/* File systems that cannot promise not to replace say so in two ways; all else is a failure. */
static void only_want_of_the_promise_is_got_round(void)
{
	static const struct {
		int error;
		uint64_t nr_got_round;
	} cases[] = { { EINVAL, 1 }, { ENOSYS, 1 }, { EIO, 0 }, { ENOSPC, 0 }, { EPERM, 0 } };

	rig_make();
	for (size_t i = 0; i < TAP_NR(cases); i++) {
		uint64_t nr_got_round = 0;
		int status;

		for (uint64_t at = 1; put_failing(at, cases[i].error, &status); at++) {
			ok(status ? status == -cases[i].error : is_whole(0));
			nr_got_round += !status;
			remove_files();
		}
		remove_files();
		if (!ok_eq(nr_got_round, cases[i].nr_got_round))
			tap_note("%s", strerror(cases[i].error));
	}
	rig_release();
}

static bool try_folder(const struct calls_plan *plan)
{
	struct err err = { 0 };
	const char *dir = sample_folder();
	uint64_t met;
	int fd;

	ok(!chdir(dir));
	calls_begin(plan);
	fd = durable_mkdir("one/two", &err);
	met = calls_end();
	if (!ok(fd >= 0 ? !access("one/two", F_OK) && !err.line[0] : err.line[0] != 0))
		failed_at(plan);
	if (fd >= 0)
		close(fd);
	ok(!chdir("/"));
	sample_remove(dir);
	return met >= plan->at;
}

static void folders_are_made_or_the_failure_told(void)
{
	struct err err = { 0 };
	char *path = malloc(5001);

	every_point(try_folder);
	ok_int(durable_mkdir("", &err), -ENAMETOOLONG);
	memset(path, 'x', 5000);
	path[5000] = 0;
	ok_int(durable_mkdir(path, &err), -ENAMETOOLONG);
	free(path);
}

static ssize_t write_nothing(int fd, const void *data, size_t len)
{
	(void)fd, (void)data, (void)len;
	return 0;
}

static void files_are_made_or_the_failure_told(void)
{
	static const struct durable_calls calls = { write_nothing, fsync };
	const char *dir = sample_folder();
	char name[256], path[128];
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	memset(name, 'x', 255);
	name[255] = 0;
	ok_int(durable_write(fd, name, "a", 1, NULL), -ENAMETOOLONG);
	ok_int(durable_write(fd, "file", "a", 1, &calls), -ENOSPC);
	snprintf(path, sizeof(path), "%s/file", dir);
	ok(access(path, F_OK) != 0);
	ok_int(durable_write(fd, "file", "a", 1, NULL), 0);
	ok(!access(path, F_OK));
	close(fd);
	sample_remove(dir);
}

static void found_is_what_is_there(void)
{
	char right[SEGMENT_HASH_TEXT], other[SEGMENT_HASH_TEXT];
	struct ingest_result result = { 0 };
	struct ingest *g = NULL;

	rig_make();
	ingest_free(NULL);
	calls_begin(&(struct calls_plan){ CALLS_NO_MEMORY_ONCE, 1, 0 });
	ok_int(ingest_new(&g, rig.store), -ENOMEM);
	calls_end();
	ok_int(ingest_new(&g, rig.store), 0);
	segment_hash_text(&rig.hashes[0], right);
	segment_hash_text(&rig.hashes[1], other);
	ok_int(ingest_find(g, &rig.names[0], right, &result), 0); /* not there yet */
	ok_int(ingest_put(g, &rig.names[0], rig.data[0].data, rig.data[0].len, &result, NULL), 0);
	ok(result.stored);
	ok_int(ingest_find(g, &rig.names[0], "no hash", &result), 0);
	ok_int(ingest_find(g, &rig.names[0], other, &result), 0);
	ok_int(ingest_find(g, &rig.names[0], right, &result), 1);
	ok(!result.stored && !memcmp(&result.hash, &rig.hashes[0], sizeof(result.hash)));
	/* It cannot be made durable again just now: it is not there for sure. */
	calls_begin(&(struct calls_plan){ CALLS_FAIL_FROM, 3, EIO });
	ok_int(ingest_find(g, &rig.names[0], right, &result), 0);
	calls_end();
	ok_eq(ingest_counted(g).nr_stored, 1);
	ok_eq(ingest_counted(g).nr_repeated, 1);
	ingest_free(g);
	rig_release();
}

/* The calls of reading the first segment. */
static uint64_t calls_of_reading(void)
{
	char path[SEGMENT_PATH_MAX];
	struct buf data = { 0 };
	uint64_t nr;

	segment_name_path(&rig.names[0], path);
	calls_begin(&(struct calls_plan){ CALLS_FAIL_ONCE, MAX_POINTS, EIO });
	ok_int(store_read(rig.store, path, &data, NULL), 0);
	nr = calls_end();
	buf_release(&data);
	return nr;
}

/* The segment, its folders, the store: each is opened, synced and closed. */
static uint64_t levels_of_place(void)
{
	char path[SEGMENT_PATH_MAX];
	uint64_t nr = 2;

	segment_name_path(&rig.names[0], path);
	for (const char *c = path; *c; c++)
		nr += *c == '/';
	return nr;
}

/* Somebody else wrote it and may not have synced it. */
static void what_is_found_is_synced_before_it_is_confirmed(void)
{
	struct placer *placer = calloc(1, sizeof(*placer));
	uint64_t nr_read, nr_calls = 0, nr_found = 0;
	struct ingest_result result = { 0 };
	char hash[SEGMENT_HASH_TEXT];
	struct ingest *g = NULL;

	rig_make();
	segment_hash_text(&rig.hashes[0], hash);
	ok_int(ingest_new(&g, rig.store), 0);
	placer_init(placer, store_dir_fd(rig.store));
	ok_int(placer_put(placer, rig.names, rig.data[0].data, rig.data[0].len, false), 0);
	nr_read = calls_of_reading();
	for (uint64_t at = 1; at < MAX_POINTS && !nr_calls; at++) {
		uint64_t met;

		calls_begin(&(struct calls_plan){ CALLS_FAIL_ONCE, at, EIO });
		nr_found += (uint64_t)ingest_find(g, &rig.names[0], hash, &result);
		met = calls_end();
		nr_calls = met < at ? met : nr_calls;
	}
	ok_eq(nr_calls, nr_read + 3 * levels_of_place());
	/* It is found in the last round, and where but a close failed. */
	ok_eq(nr_found, 1 + 1 + levels_of_place());
	ok_eq(ingest_counted(g).nr_repeated, nr_found);
	ingest_free(g);
	free(placer);
	rig_release();
}

static const struct tap_test tests[] = {
	{ "a recovery that fails is done by the next one", recovery_ends_in_the_end },
	{ "a journal keeps its promises whatever call fails", journal_keeps_its_promises },
	{ "a place holds the whole segment or nothing", places_are_whole_or_empty },
	{ "a file system that cannot promise not to replace is got round, errors are not",
	  only_want_of_the_promise_is_got_round },
	{ "a folder is made, or the failure is told", folders_are_made_or_the_failure_told },
	{ "a file is made, or the failure is told", files_are_made_or_the_failure_told },
	{ "found is what is there under that hash", found_is_what_is_there },
	{ "what is found is synced, with its folders, before it is confirmed",
	  what_is_found_is_synced_before_it_is_confirmed },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}
