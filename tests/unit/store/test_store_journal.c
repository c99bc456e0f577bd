/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/store/store.h"
#include "analyzer/store/store_journal.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define NR	4
#define JOURNAL "journal-0000000001.log"

struct rig {
	char dir[128];
	struct buf segments[NR];
	struct segment_hash hashes[NR];
	struct segment_name names[NR];
	struct buf journal; /* what a death leaves: all NR records */
};

static void make_segment(uint64_t sequence, uint64_t salt, struct buf *out)
{
	struct sample s = { .host = "db1",
			    .boot_id = "b1",
			    .epoch = 5,
			    .sequence = sequence,
			    .real_offset_ns = SAMPLE_REAL_NS,
			    .begin_ns = 1000 + salt,
			    .end_ns = 2000 + salt };
	struct request requests[2];

	buf_init(out);
	sample_requests(sequence, s.begin_ns, s.end_ns, requests, 2);
	sample_segment(&s, requests, 2, out);
}

static void read_whole(const char *dir, const char *name, struct buf *out)
{
	char path[256];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) || buf_reserve(out, (size_t)st.st_size) ||
	    read(fd, out->data, (size_t)st.st_size) != st.st_size)
		abort();
	out->len = (size_t)st.st_size;
	close(fd);
}

static void rig_make(struct rig *r)
{
	struct journal_item items[NR];
	struct journal *j = NULL;
	int dir_fd;

	snprintf(r->dir, sizeof(r->dir), "%s", sample_folder());
	for (uint64_t i = 0; i < NR; i++) {
		make_segment(i, 0, &r->segments[i]);
		r->hashes[i] = segment_hash_of(r->segments[i].data, r->segments[i].len);
		r->names[i] = (struct segment_name){ "db1", "b1", 5, i };
		items[i] = (struct journal_item){ r->segments[i].data, r->segments[i].len,
						  &r->hashes[i] };
	}
	dir_fd = open(r->dir, O_RDONLY | O_DIRECTORY);
	ok_int(journal_new(&j, dir_fd), 0);
	ok_int(journal_append(j, items, 1), 0);
	ok_int(journal_append(j, items + 1, NR - 1), 0);
	buf_init(&r->journal);
	read_whole(r->dir, JOURNAL, &r->journal);
	ok_eq(r->journal.len, journal_bytes(j));
	ok_int(journal_retire(j, NULL), 0);
	close(dir_fd);
}

static void rig_release(struct rig *r)
{
	for (int i = 0; i < NR; i++)
		buf_release(&r->segments[i]);
	buf_release(&r->journal);
	sample_remove(r->dir);
}

static void write_file(const char *dir, const char *name, const void *data, size_t len)
{
	char path[384];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	sample_write(path, data, len);
}

/* Opens the store in a fresh folder that has these bytes as its journal; which segments are there,
 * as bits; ends the test program where it does not open. */
static unsigned int recovered(const struct rig *r, const void *journal, size_t len,
			      struct journal_recovery *counts)
{
	const char *dir = sample_folder();
	struct store *store = NULL;
	unsigned int there = 0;
	struct buf data;

	buf_init(&data);
	write_file(dir, JOURNAL, journal, len);
	if (store_open(&store, dir, true, NULL))
		abort();
	for (int i = 0; i < NR; i++) {
		char path[SEGMENT_PATH_MAX];

		segment_name_path(&r->names[i], path);
		if (!store_read(store, path, &data, NULL) && data.len == r->segments[i].len &&
		    !memcmp(data.data, r->segments[i].data, data.len))
			there |= 1u << i;
	}
	*counts = *store_recovery(store);
	store_close(store);
	buf_release(&data);
	sample_remove(dir);
	return there;
}

/* How many records lie whole in the first len bytes. */
static unsigned int whole_records(const struct rig *r, size_t len)
{
	size_t at = 0;
	unsigned int nr = 0;

	while (nr < NR && at + 32 + r->segments[nr].len <= len)
		at += 32 + r->segments[nr++].len;
	return nr;
}

static void what_is_whole_is_put_in_place(void)
{
	struct journal_recovery c;
	size_t nr_wrong = 0;
	struct rig r;

	rig_make(&r);
	for (size_t len = 0; len <= r.journal.len; len += 1 + len % 7) {
		unsigned int nr = whole_records(&r, len);

		nr_wrong += recovered(&r, r.journal.data, len, &c) != (1u << nr) - 1 ||
			    c.nr_failed || c.nr_placed != nr;
	}
	ok_eq(nr_wrong, 0);
	ok_eq(recovered(&r, r.journal.data, r.journal.len, &c), (1u << NR) - 1);
	ok_eq(c.nr_journals, 1);
	ok_eq(c.nr_skipped, 0);
	rig_release(&r);
}

static void what_is_damaged_is_left_out(void)
{
	struct journal_recovery c;
	size_t nr_wrong = 0;
	struct rig r;

	rig_make(&r);
	for (size_t at = 0; at < r.journal.len; at += 5) {
		unsigned int hit = whole_records(&r, at), there;
		size_t begin = 0;

		for (unsigned int i = 0; i < hit; i++)
			begin += 32 + r.segments[i].len;
		r.journal.data[at] ^= (uint8_t)(1u << at % 8);
		there = recovered(&r, r.journal.data, r.journal.len, &c);
		r.journal.data[at] ^= (uint8_t)(1u << at % 8);
		/* A head that is wrong hides what follows it, a segment only itself. */
		nr_wrong += there != (at - begin < 32 ? (1u << hit) - 1
						      : ((1u << NR) - 1) & ~(1u << hit)) ||
			    !c.nr_skipped || c.nr_failed;
	}
	ok_eq(nr_wrong, 0);
	rig_release(&r);
}

/* The path of segment 0 below a store, its folders made. */
static void place_by_hand(const char *dir, const struct buf *data)
{
	write_file(dir, "segments/db1/b1/00000000000000000005/0000000000.seg", data->data,
		   data->len);
}

static bool is_stored(struct store *s, const struct buf *want)
{
	bool same;
	struct buf got;

	buf_init(&got);
	same = !store_read(s, "segments/db1/b1/00000000000000000005/0000000000.seg", &got, NULL) &&
	       got.len == want->len && !memcmp(got.data, want->data, got.len);
	buf_release(&got);
	return same;
}

static void whole_files_stay(void)
{
	struct store *store = NULL;
	struct buf other, torn;
	struct rig r;

	rig_make(&r);
	make_segment(0, 500, &other);
	place_by_hand(r.dir, &other);
	write_file(r.dir, JOURNAL, r.journal.data, r.journal.len);
	ok_int(store_open(&store, r.dir, true, NULL), 0);
	ok_eq(store_recovery(store)->nr_placed, NR - 1);
	ok(is_stored(store, &other));
	store_close(store);

	torn = r.segments[0];
	torn.len /= 2;
	place_by_hand(r.dir, &torn);
	write_file(r.dir, "journal-0000000009.redo", r.journal.data, r.journal.len);
	ok_int(store_open(&store, r.dir, true, NULL), 0);
	ok_eq(store_recovery(store)->nr_placed, NR); /* also those that look whole */
	ok(is_stored(store, &r.segments[0]));
	store_close(store);
	buf_release(&other);
	rig_release(&r);
}

/* Of two records of a name the later counts: the earlier was never acknowledged. */
static void the_later_counts(void)
{
	struct store *store = NULL;
	struct segment_hash hash;
	struct journal *j = NULL;
	struct buf other, record;
	struct rig r;
	int dir_fd;

	rig_make(&r);
	make_segment(0, 500, &other);
	hash = segment_hash_of(other.data, other.len);
	dir_fd = open(r.dir, O_RDONLY | O_DIRECTORY);
	ok_int(journal_new(&j, dir_fd), 0);
	ok_int(journal_append(j, &(struct journal_item){ other.data, other.len, &hash }, 1), 0);
	buf_init(&record);
	read_whole(r.dir, JOURNAL, &record);
	ok_int(journal_retire(j, NULL), 0);
	close(dir_fd);

	write_file(r.dir, JOURNAL, r.journal.data, r.journal.len);
	write_file(r.dir, "journal-0000000002.log", record.data, record.len);
	ok_int(store_open(&store, r.dir, true, NULL), 0);
	ok_eq(store_recovery(store)->nr_journals, 2);
	ok(is_stored(store, &other));
	store_close(store);
	buf_release(&other);
	buf_release(&record);
	rig_release(&r);
}

static void a_living_ones_is_left_alone(void)
{
	struct journal *j = NULL;
	struct store *store = NULL;
	struct rig r;
	int dir_fd;

	rig_make(&r);
	dir_fd = open(r.dir, O_RDONLY | O_DIRECTORY);
	ok_int(journal_new(&j, dir_fd), 0);
	ok_int(journal_append(j,
			      &(struct journal_item){ r.segments[0].data, r.segments[0].len,
						      &r.hashes[0] },
			      1),
	       0);
	ok_int(store_open(&store, r.dir, true, NULL), 0);
	ok_eq(store_recovery(store)->nr_journals, 0);
	ok_eq(store_sync_result(store)->nr_segments, 0);
	ok(faccessat(dir_fd, JOURNAL, F_OK, 0) == 0);
	ok_int(journal_retire(j, store), 0);
	ok(faccessat(dir_fd, JOURNAL, F_OK, 0) < 0);
	store_close(store);
	close(dir_fd);
	rig_release(&r);
}

static void names(void)
{
	static const char *const none[] = { "journal-1.log",	       "journal-0000000001.logs",
					    "journal-0000000001",      "journal-00000000010.log",
					    "journal-000000000x.log",  "catalog.sqlite",
					    "journal-0000000001.redo~" };
	uint64_t number = 0;
	bool redo = true;

	ok(journal_name(JOURNAL, &number, &redo));
	ok_eq(number, 1);
	ok(!redo);
	ok(journal_name("journal-0000000042.redo", &number, &redo));
	ok_eq(number, 42);
	ok(redo);
	for (size_t i = 0; i < TAP_NR(none); i++)
		ok(!journal_name(none[i], &number, &redo));
}

static const struct tap_test tests[] = {
	{ "cut at any length, its whole records are put in place", what_is_whole_is_put_in_place },
	{ "a damaged record is left out", what_is_damaged_is_left_out },
	{ "whole files stay, damaged ones are put back", whole_files_stay },
	{ "of two records of a name the later counts", the_later_counts },
	{ "the journal of a living serve is left alone", a_living_ones_is_left_alone },
	{ "names", names },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}
