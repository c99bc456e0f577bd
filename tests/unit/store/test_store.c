// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/store/intake/ingest.h"
#include "analyzer/store/scan/inventory.h"
#include "analyzer/store/store.h"
#include "formats/profile/profile.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define NR   500
#define BOOT "11111111-2222-3333-4444-555555555555"

static struct sample plain(uint64_t sequence)
{
	return (struct sample){
		.host = "web1",
		.boot_id = BOOT,
		.epoch = 5,
		.sequence = sequence,
		.real_offset_ns = SAMPLE_REAL_NS,
		.begin_ns = sequence * 1000000000,
		.end_ns = (sequence + 1) * 1000000000,
	};
}

static void make_segment(const struct sample *s, struct buf *out)
{
	struct request r[NR];

	sample_requests(s->sequence + 1, s->begin_ns, s->end_ns, r, NR);
	sample_segment(s, r, NR, out);
}

static struct store *open_store(const char *dir)
{
	struct store *s = NULL;
	struct err err = { 0 };

	if (!ok_int(store_open(&s, dir, true, &err), 0))
		tap_note("%s", err.line);
	return s;
}

static void words(void)
{
	char long_word[80];

	ok(segment_word_ok("web1"));
	ok(segment_word_ok("a.b-c_D9"));
	ok(!segment_word_ok(""));
	ok(!segment_word_ok("."));
	ok(!segment_word_ok(".."));
	ok(!segment_word_ok(".hidden"));
	ok(!segment_word_ok("a/b"));
	ok(!segment_word_ok("a\\b"));
	ok(!segment_word_ok("a b"));
	ok(!segment_word_ok("a:b"));
	ok(!segment_word_ok("caf\xc3\xa9"));
	ok(!segment_word_ok("a\nb"));
	memset(long_word, 'a', sizeof(long_word));
	long_word[64] = '\0';
	ok(!segment_word_ok(long_word));
	long_word[63] = '\0';
	ok(segment_word_ok(long_word));
}

static void names(void)
{
	struct segment_name n;
	char path[SEGMENT_PATH_MAX];

	ok_int(segment_name_parse(&n, "h", "b", "7", "12", NULL), 0);
	segment_name_path(&n, path);
	ok_str(path, "segments/h/b/00000000000000000007/0000000012.seg");
	ok_int(segment_name_parse(&n, "h", "b", "9223372036854775807", "9999999999", NULL), 0);
	ok_int(segment_name_parse(&n, "h", "b", "9223372036854775808", "0", NULL), -EINVAL);
	ok_int(segment_name_parse(&n, "h", "b", "18446744073709551616", "0", NULL), -EINVAL);
	ok_int(segment_name_parse(&n, "h", "b", "0", "10000000000", NULL), -EINVAL);
	ok_int(segment_name_parse(&n, "h", "b", "000000000000000000007", "0", NULL), -EINVAL);
	ok_int(segment_name_parse(&n, "h", "b", "-1", "0", NULL), -EINVAL);
	ok_int(segment_name_parse(&n, "h", "b", "0x1", "0", NULL), -EINVAL);
	ok_int(segment_name_parse(&n, "h", "b", "", "0", NULL), -EINVAL);
	ok_int(segment_name_parse(&n, "h", "..", "0", "0", NULL), -EINVAL);
}

/* A segment of host h with a profile that names the host given. */
static void segment_with_profile(const char *host, struct buf *out)
{
	struct segment_writer *w = NULL;
	struct buf json = { 0 };
	const char *text;
	struct segment_header h = { .boot_id = "b", .epoch = 1, .source = SOURCE_DISKSTATS };
	struct profile p;

	profile_init(&p);
	p.source = SOURCE_DISKSTATS;
	p.begin_s = 1;
	p.end_s = 2;
	snprintf(p.host, sizeof(p.host), "%s", host);
	snprintf(p.device, sizeof(p.device), "8:0");
	ok_int(profile_to_json(&p, PROFILE_JSON_LINE, &json), 0);
	buf_put(&json, "", 1);
	text = (const char *)json.data;
	snprintf(h.host, sizeof(h.host), "h");
	h.end.realtime_ns = h.end.monotonic_ns = h.end.boottime_ns = 1000000000;
	h.profiles = &text;
	h.nr_profiles = 1;
	ok_int(segment_writer_new(&w), 0);
	ok_int(segment_writer_finish(w, &h, out), 0);
	segment_writer_free(w);
	buf_release(&json);
	profile_release(&p);
}

static void no_host_speaks_for_another(void)
{
	const char *dir = sample_folder();
	struct store *store = open_store(dir);
	struct ingest *g = NULL;
	struct ingest_result result = { 0 };
	struct buf own = { 0 }, foreign = { 0 };
	struct err err = { 0 };

	segment_with_profile("h", &own);
	segment_with_profile("victim", &foreign);
	ok_int(ingest_new(&g, store), 0);
	ok_int(ingest_put(g, NULL, foreign.data, foreign.len, &result, &err), -EINVAL);
	ok(strstr(err.line, "number 0 is of host 'victim', expected 'h'") != NULL);
	ok_int(ingest_put(g, NULL, own.data, own.len, &result, &err), 0);
	ingest_free(g);
	store_close(store);
	sample_remove(dir);
	buf_release(&own);
	buf_release(&foreign);
}

static void once(void)
{
	const char *dir = sample_folder();
	struct store *store = open_store(dir);
	struct ingest *g = NULL;
	struct ingest_result result = { 0 };
	struct sample s = plain(0);
	struct buf one = { 0 }, other = { 0 };
	struct err err = { 0 };

	make_segment(&s, &one);
	ok_int(ingest_new(&g, store), 0);
	ok_int(ingest_put(g, NULL, one.data, one.len, &result, &err), 0);
	ok(result.stored);
	ok_int(ingest_put(g, &result.name, one.data, one.len, &result, &err), 0);
	ok(!result.stored);
	ok_int(store_sync(store, &err), 0);
	ok_eq(store_sync_result(store)->nr_segments, 1);

	s.end_ns += 1;
	make_segment(&s, &other);
	ok_int(ingest_put(g, NULL, other.data, other.len, &result, &err), -EEXIST);
	ok_str(err.line, "web1/" BOOT "/5/0: another segment is stored under this name");
	ok_eq(ingest_counted(g).nr_stored, 1);
	ok_eq(ingest_counted(g).nr_repeated, 1);
	ok_eq(ingest_counted(g).nr_conflicts, 1);
	ingest_free(g);
	store_close(store);
	buf_release(&one);
	buf_release(&other);
	sample_remove(dir);
}

static void damage(void)
{
	const char *dir = sample_folder();
	struct store *store = open_store(dir);
	struct ingest *g = NULL;
	struct ingest_result result;
	struct sample s = plain(3);
	struct segment_name expected = { .host = "web1", .boot_id = BOOT, .epoch = 5 };
	struct buf b = { 0 };
	size_t taken = 0;

	make_segment(&s, &b);
	ok_int(ingest_new(&g, store), 0);
	for (size_t len = 0; len < b.len; len += 1 + len / 20)
		taken += ingest_put(g, NULL, b.data, len, &result, NULL) == 0;
	for (size_t at = 0; at < b.len; at += 1 + b.len / 500) {
		b.data[at] ^= 1u << at % 8;
		taken += ingest_put(g, NULL, b.data, b.len, &result, NULL) == 0;
		b.data[at] ^= 1u << at % 8;
	}
	ok_eq(taken, 0);
	ok_int(ingest_put(g, &expected, b.data, b.len, &result, NULL), -EINVAL);
	ok_int(store_sync(store, NULL), 0);
	ok_eq(store_sync_result(store)->nr_segments, 0);
	ok_int(ingest_put(g, NULL, b.data, b.len, &result, NULL), 0);
	ingest_free(g);
	store_close(store);
	buf_release(&b);
	sample_remove(dir);
}

struct put {
	struct ingest *g;
	const struct buf *segments;
	size_t nr;
	uint64_t nr_stored;
};

static void *put_all(void *ctx)
{
	struct put *p = ctx;
	struct ingest_result result;

	for (size_t i = 0; i < p->nr; i++)
		if (ingest_put(p->g, NULL, p->segments[i].data, p->segments[i].len, &result,
			       NULL) == 0)
			p->nr_stored += result.stored;
	return NULL;
}

static void many_senders(void)
{
	const char *dir = sample_folder();
	struct store *store = open_store(dir);
	struct buf segments[20] = { 0 };
	struct put put[4];
	pthread_t threads[4];
	struct ingest *g = NULL;
	uint64_t stored = 0;

	ok_int(ingest_new(&g, store), 0);
	for (uint64_t i = 0; i < TAP_NR(segments); i++) {
		struct sample s = plain(i);

		make_segment(&s, &segments[i]);
	}
	ingest_limit_journal(g, 3 * segments[0].len);
	ok_int(ingest_retire_beside(g), 0);
	for (int i = 0; i < 4; i++) {
		put[i] = (struct put){ g, segments, TAP_NR(segments), 0 };
		ok_int(pthread_create(&threads[i], NULL, put_all, &put[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		stored += put[i].nr_stored;
	}
	ok_eq(stored, TAP_NR(segments));
	ok_eq(ingest_counted(g).nr_repeated, 3 * TAP_NR(segments));
	ingest_free(g);
	store_close(store);
	for (size_t i = 0; i < TAP_NR(segments); i++)
		buf_release(&segments[i]);
	sample_remove(dir);
}

static void fill(const char *dir, uint64_t nr)
{
	struct request r[NR];

	for (uint64_t i = 0; i < nr; i++) {
		struct sample s = plain(i);

		sample_requests(i + 1, s.begin_ns, s.end_ns, r, NR);
		sample_store(dir, &s, r, NR);
	}
}

static void check_catalog(const char *dir, uint64_t nr)
{
	struct store *store = open_store(dir);
	struct inventory v;

	inventory_init(&v);
	ok_int(inventory_collect(&v, store, NULL), 0);
	if (ok_eq(v.nr_hosts, 1)) {
		ok_str(v.hosts[0].host, "web1");
		ok_eq(v.hosts[0].nr_segments, nr);
		ok_eq(v.hosts[0].nr_requests, nr * NR);
		ok_eq(v.hosts[0].nr_covered, 1);
		ok_eq(inventory_covered_ns(&v.hosts[0]), nr * 1000000000);
		ok_eq(v.hosts[0].nr_devices, 2);
		ok_eq(inventory_device_requests(&v.hosts[0].devices[0]) +
			      inventory_device_requests(&v.hosts[0].devices[1]),
		      nr * NR);
	}
	inventory_release(&v);
	store_close(store);
}

/* Deletes, empties or spoils the catalog, and expects it to be made anew. */
static void rebuilt(void)
{
	const char *dir = sample_folder();
	char path[512], wal[512];
	int fd;

	snprintf(path, sizeof(path), "%s/catalog.sqlite", dir);
	snprintf(wal, sizeof(wal), "%s/catalog.sqlite-wal", dir);
	fill(dir, 4);
	check_catalog(dir, 4);
	fill(dir, 6);
	check_catalog(dir, 6);
	ok_int(unlink(path), 0);
	check_catalog(dir, 6);
	ok_int(truncate(path, 0), 0);
	check_catalog(dir, 6);
	unlink(wal);
	sample_write(path, "this is no database, and never was one", 38);
	check_catalog(dir, 6);
	unlink(wal);
	fd = open(path, O_WRONLY);
	ok_int(pwrite(fd, "\0\0\0\x7f", 4, 60), 4); /* user_version, big-endian at 60 */
	close(fd);
	check_catalog(dir, 6);
	sample_remove(dir);
}

static void follows_files(void)
{
	const char *dir = sample_folder();
	char path[512];
	struct store *store;

	fill(dir, 3);
	store = open_store(dir);
	ok_eq(store_sync_result(store)->nr_segments, 3);
	snprintf(path, sizeof(path), "%s/segments/web1/" BOOT "/%020d/%010d.seg", dir, 5, 1);
	ok_int(truncate(path, 100), 0);
	ok_int(store_sync(store, NULL), 0);
	ok_int(unlink(path), 0);
	ok_int(store_sync(store, NULL), 0);
	ok_eq(store_sync_result(store)->nr_segments, 2);
	ok_eq(store_sync_result(store)->nr_removed, 1);
	sample_write(path, "not a segment", 13);
	ok_int(store_sync(store, NULL), 0);
	ok_eq(store_sync_result(store)->nr_segments, 2);
	ok_eq(store_sync_result(store)->nr_damaged, 1);
	ok_int(unlink(path), 0);
	ok_int(store_sync(store, NULL), 0);
	ok_eq(store_sync_result(store)->nr_damaged, 0);
	snprintf(path, sizeof(path), "%s/segments/web1/" BOOT "/%020d/%010d.seg.tmp", dir, 5, 9);
	sample_write(path, "half", 4);
	ok_int(store_sync(store, NULL), 0);
	ok_eq(store_sync_result(store)->nr_damaged, 0);
	store_close(store);
	sample_remove(dir);
}

/* A header that names another segment than the file's name says must not be found under it. */
static void misnamed(void)
{
	const char *dir = sample_folder();
	char from[512], to[512];
	struct store *store;

	fill(dir, 2);
	snprintf(from, sizeof(from), "%s/segments/web1/" BOOT "/%020d/%010d.seg", dir, 5, 1);
	snprintf(to, sizeof(to), "%s/segments/web1/" BOOT "/%020d/%010d.seg", dir, 5, 8);
	ok_int(rename(from, to), 0);
	store = open_store(dir);
	ok_eq(store_sync_result(store)->nr_segments, 1);
	ok_eq(store_sync_result(store)->nr_damaged, 1);
	store_close(store);
	sample_remove(dir);
}

static void read_only(void)
{
	const char *dir = sample_folder();
	struct store *store = NULL;
	struct err err = { 0 };
	char path[512];

	fill(dir, 2);
	snprintf(path, sizeof(path), "%s/catalog.sqlite", dir);
	ok_int(chmod(dir, 0555), 0);
	if (geteuid() == 0)
		ok_int(seteuid(65534), 0);
	if (access(dir, R_OK) == 0) {
		ok_int(store_open(&store, dir, false, &err), 0);
		ok_eq(store ? store_sync_result(store)->nr_segments : 0, 2);
		ok(access(path, F_OK) < 0);
		store_close(store);
	} else {
		tap_note("the test folder cannot be read without privilege");
	}
	if (getuid() == 0)
		ok_int(seteuid(0), 0);
	chmod(dir, 0755);
	sample_remove(dir);
}

static void no_store(void)
{
	const char *dir = sample_folder();
	struct store *store = NULL;
	struct err err = { 0 };

	ok_int(store_open(&store, dir, false, &err), -ENOENT);
	ok(strstr(err.line, "expected a store") != NULL);
	ok_int(store_open(&store, "/nonexistent/store", false, &err), -ENOENT);
	sample_remove(dir);
}

static void too_large_is_the_senders_fault(void)
{
	const char *dir = sample_folder();
	struct store *store = open_store(dir);
	struct ingest *g = NULL;
	struct ingest_result result;
	struct sample s = plain(0);
	struct buf b = { 0 };

	make_segment(&s, &b);
	b.data[15] = 0x7f; /* the length in the prefix */
	ok_int(ingest_new(&g, store), 0);
	ok_int(ingest_put(g, NULL, b.data, b.len, &result, NULL), -EFBIG);
	ok_eq(ingest_counted(g).nr_damaged, 1);
	ok_eq(ingest_counted(g).nr_disk_errors, 0);
	ingest_free(g);
	store_close(store);
	buf_release(&b);
	sample_remove(dir);
}

/* The bytes of the journals that lie in the store. */
static uint64_t journal_size(const char *dir)
{
	uint64_t bytes = 0;
	struct dirent *entry;
	DIR *d = opendir(dir);

	while (d && (entry = readdir(d))) {
		struct stat st;

		if (strncmp(entry->d_name, "journal-", 8) == 0 &&
		    !fstatat(dirfd(d), entry->d_name, &st, 0))
			bytes += (uint64_t)st.st_size;
	}
	if (d)
		closedir(d);
	return bytes;
}

static void journals_end_at_their_limit(void)
{
	const char *dir = sample_folder();
	struct store *store = open_store(dir);
	struct ingest *g = NULL;
	struct ingest_result result;
	uint64_t first = 0;

	ok_int(ingest_new(&g, store), 0);
	ingest_limit_journal(g, 1);
	for (uint64_t i = 0; i < 4; i++) {
		struct sample s = plain(i);
		struct buf b = { 0 };

		make_segment(&s, &b);
		ok_int(ingest_put(g, NULL, b.data, b.len, &result, NULL), 0);
		buf_release(&b);
		if (!i)
			first = journal_size(dir);
		ok(first > 0 && journal_size(dir) < 2 * first);
	}
	ingest_free(g);
	ok_eq(journal_size(dir), 0);
	store_close(store);
	sample_remove(dir);
}

static const struct tap_test tests[] = {
	{ "a profile of another host than its segment's is refused", no_host_speaks_for_another },
	{ "hosts and boot ids are words that cannot leave their folder", words },
	{ "names are checked before they become paths", names },
	{ "a segment sent twice is stored once, another under its name refused", once },
	{ "no truncated, flipped or misnamed segment is taken", damage },
	{ "senders at once store each segment once", many_senders },
	{ "a catalog that is missing, damaged or of another version is made anew", rebuilt },
	{ "the catalog follows files that come, go and are no segments", follows_files },
	{ "a file under another segment's name is damaged", misnamed },
	{ "a read-only store is read without writing", read_only },
	{ "what is no store is said to be none", no_store },
	{ "a segment that is too large is the sender's fault", too_large_is_the_senders_fault },
	{ "a journal ends at its limit, and leaves nothing", journals_end_at_their_limit },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
