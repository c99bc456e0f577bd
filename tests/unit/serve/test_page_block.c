// SPDX-License-Identifier: Apache-2.0
/* Sums that the live page keeps on disk, held against the windows that they are made of. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "analyzer/serve/period/page_block.h"
#include "analyzer/serve/period/page_device.h"
#include "base/system/clock.h"
#include "formats/profile/profile.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define BEGIN_S	   1767222000.0 /* the begin of a block */
#define NR	   240		/* windows of 1 s, two to a segment, from 200 s before that on */
#define MOST_BYTES (16u << 20)	/* more than all sums or all windows take */
#define AT_S(i)	   (BEGIN_S - 200 + (double)(i))

/* Window i of device d: its numbers vary, so that a window in a wrong column is noticed. */
static void test_window(int d, int i, struct buf *json)
{
	struct profile p;

	profile_init(&p);
	snprintf(p.host, sizeof(p.host), "h");
	snprintf(p.device, sizeof(p.device), "8:%d", 16 * d);
	snprintf(p.device_name, sizeof(p.device_name), "sd%c", 'a' + d);
	p.source = SOURCE_BPF;
	p.begin_s = AT_S(i);
	p.end_s = p.begin_s + 1;
	p.requests[OPERATION_READ] = (uint64_t)(100 + i * i % 97 + d);
	p.requests[OPERATION_WRITE] = (uint64_t)(i % 31);
	p.bytes[OPERATION_READ] = p.requests[OPERATION_READ] * 4096;
	for (uint64_t j = 0; j < p.requests[OPERATION_READ]; j++)
		histogram_add(&p.read.response.stage[STAGE_TOTAL],
			      10000 + j * (uint64_t)(i + 1) * 977);
	profile_to_json(&p, PROFILE_JSON_LINE, json);
	buf_put_u8(json, 0);
	profile_release(&p);
}

/* Stores the segment with the windows i and i + 1 of two devices. */
static void test_segment(const char *dir, int i)
{
	const char *profiles[4];
	struct buf json[4];
	struct sample s = { .host = "h",
			    .boot_id = "b",
			    .epoch = 1,
			    .sequence = (uint64_t)i / 2,
			    .real_offset_ns = (uint64_t)AT_S(i) * 1000000000ull,
			    .end_ns = 2000000000ull,
			    .profiles = profiles,
			    .nr_profiles = 4 };

	for (int j = 0; j < 4; j++) {
		buf_init(&json[j]);
		test_window(j % 2, i + j / 2, &json[j]);
		profiles[j] = (const char *)json[j].data;
	}
	sample_store(dir, &s, NULL, 0);
	for (int j = 0; j < 4; j++)
		buf_release(&json[j]);
}

static struct page_store *test_store(const char *dir)
{
	struct page_store *store = NULL;
	struct err err = { 0 };

	if (page_store_open(&store, dir, &err) < 0)
		tap_note("%s", err.line);
	return store;
}

static json_t *test_ask(struct page_store *store, const char *device, double step_s)
{
	struct page_device_question q = { .host = "h",
					  .device = device,
					  .begin_s = AT_S(0),
					  .end_s = AT_S(NR),
					  .step_s = step_s };
	struct err err = { 0 };
	json_t *answer = NULL;

	if (page_device_json(store, &q, &answer, &err) < 0)
		tap_note("%s", err.line);
	return answer;
}

static double test_item(const json_t *answer, const char *key, size_t i)
{
	return json_number_value(
		json_array_get(json_object_get(json_object_get(answer, "columns"), key), i));
}

/* Sums a rate of answer over its columns in [from_s, to_s), in requests. */
static double test_between(const json_t *answer, const char *key, double from_s, double to_s)
{
	size_t nr = json_array_size(json_object_get(json_object_get(answer, "columns"), "begin_s"));
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		if (test_item(answer, "begin_s", i) >= from_s &&
		    test_item(answer, "begin_s", i) < to_s)
			sum += test_item(answer, key, i) * test_item(answer, "watched_s", i);
	return sum;
}

/* Compares columns with those of one second that they are the sums of. */
static void test_same(const json_t *sums, const json_t *windows)
{
	static const char *const keys[] = { "reads_per_s", "writes_per_s", "read_bytes_per_s" };
	const json_t *begins = json_object_get(json_object_get(sums, "columns"), "begin_s");
	size_t nr = json_array_size(begins), nr_wrong = 0;

	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < 3; k++) {
			double from_s = test_item(sums, "begin_s", i);
			double to_s = test_item(sums, "end_s", i);

			nr_wrong += fabs(test_between(sums, keys[k], from_s, to_s) -
					 test_between(windows, keys[k], from_s, to_s)) > 1e-3;
		}
	ok(nr > 1);
	ok_int((int)nr_wrong, 0);
	ok_int((int)json_integer_value(json_object_get(sums, "windows")), NR);
	ok(json_equal(json_object_get(json_object_get(sums, "sum"), "read_p99_s"),
		      json_object_get(json_object_get(windows, "sum"), "read_p99_s")));
	ok(json_equal(json_object_get(json_object_get(sums, "sum"), "slowest"),
		      json_object_get(json_object_get(windows, "sum"), "slowest")));
	ok_str(json_string_value(json_object_get(sums, "device_name")), "sda");
	ok(json_is_null(json_object_get(sums, "read_until_s")));
}

static void columns_are_the_sums_of_their_windows(void)
{
	static const double steps_s[] = { 10, 20, 60, 120, 300 };
	const char *dir = sample_folder();
	struct page_store *store;
	json_t *windows;

	for (int i = 0; i < NR; i += 2)
		test_segment(dir, i);
	store = test_store(dir);
	windows = test_ask(store, "8:0", 0);
	ok(test_item(windows, "begin_s", 5) == AT_S(5));
	ok(fabs(test_item(windows, "reads_per_s", 5) - 125) < 1e-9);
	/* A longer name is not taken for one that it begins with. */
	ok(!test_ask(store, "8:0 8:0 8:0 8:0 8:0 8:0 8:0 8:0 8:0 8:0 8:0 8:0 8:0 8:0 8:0 8:0 ",
		     10));
	/* The second time finds what the first one has kept. */
	for (size_t i = 0; i < 2 * sizeof(steps_s) / sizeof(steps_s[0]); i++) {
		json_t *sums = test_ask(store, "8:0", steps_s[i / 2]);

		test_same(sums, windows);
		json_decref(sums);
	}
	json_decref(windows);
	page_store_close(store);
	sample_remove(dir);
}

/* Replaces the file of a segment by one that cannot be read. */
static void test_spoil(const char *dir, int i)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/segments/h/b/%020d/%010d.seg", dir, 1, i / 2);
	sample_write(path, "spoiled", 7);
}

static int test_unreadable(struct page_store *store, const char *device, double step_s)
{
	json_t *answer = test_ask(store, device, step_s);
	int nr = (int)json_integer_value(json_object_get(answer, "unreadable"));

	nr += 1000 * (NR - (int)json_integer_value(json_object_get(answer, "windows")));
	json_decref(answer);
	return nr;
}

/* All segments of a block, as the page's thread takes them. */
static void test_keep(struct page_store *store, size_t most_bytes, size_t most_window_bytes)
{
	const struct page_block_limits limits = { .most_bytes = most_bytes,
						  .most_window_bytes = most_window_bytes };
	struct page_question q = { .host = "h", .end_real_ns = UINT64_MAX };
	struct page_segment *segments = NULL;
	struct err err = { 0 };
	size_t nr = 0, from = 0;
	bool whole;

	ok_int(page_store_find(store, &q, &segments, &nr, &whole, &err), 0);
	page_block_sort(segments, nr);
	for (size_t i = 1; i <= nr; i++)
		if (i == nr || page_block_of(&segments[i]) != page_block_of(&segments[from])) {
			ok_int(page_block_keep(store, segments + from, i - from, &limits), 0);
			from = i;
		}
	free(segments);
}

static void what_is_kept_needs_no_file(void)
{
	const char *dir = sample_folder();
	struct page_store *store;

	for (int i = 0; i < NR; i += 2)
		test_segment(dir, i);
	store = test_store(dir);
	test_keep(store, MOST_BYTES, MOST_BYTES);
	page_store_close(store);
	/* Another process finds it, and the windows one by one as well. */
	store = test_store(dir);
	test_spoil(dir, 100);
	ok_int(test_unreadable(store, "8:0", 60), 0);
	ok_int(test_unreadable(store, "8:16", 60), 0);
	ok_int(test_unreadable(store, "8:32", 60), 1000 * NR); /* which has no window */
	ok_int(test_unreadable(store, "8:0", 0), 0);
	ok_int(test_unreadable(store, "8:32", 0), 1000 * NR);
	page_store_close(store);
	sample_remove(dir);
}

/* Windows that take more than their bound are read from the files; sums are kept. */
static void many_windows_leave_their_sums(void)
{
	const char *dir = sample_folder();
	struct page_store *store;

	for (int i = 0; i < NR; i += 2)
		test_segment(dir, i);
	store = test_store(dir);
	test_keep(store, MOST_BYTES, 1000);
	test_spoil(dir, 100);
	ok_int(test_unreadable(store, "8:0", 60), 0);
	ok_int(test_unreadable(store, "8:0", 0), 2001);
	page_store_close(store);
	sample_remove(dir);
}

/* A level of long items loses them first; that a device had windows must not be lost with them. */
static void what_left_the_disk_is_read_again(void)
{
	static const atomic_bool stop = true;
	const struct page_block_limits limits = { &stop, MOST_BYTES, MOST_BYTES };
	struct page_question q = { .host = "h", .end_real_ns = UINT64_MAX };
	const char *dir = sample_folder();
	struct page_segment *segments = NULL;
	struct page_store *store;
	struct err err = { 0 };
	size_t nr = 0;
	bool whole;

	for (int i = 0; i < NR; i += 2)
		test_segment(dir, i);
	store = test_store(dir);
	ok_int(page_store_find(store, &q, &segments, &nr, &whole, &err), 0);
	ok_int(page_block_keep(store, segments, nr, &limits), -ETIME);
	free(segments);
	page_kept_bound(page_store_kept(store), 300);
	test_keep(store, MOST_BYTES, MOST_BYTES);
	ok_int(test_unreadable(store, "8:0", 10), 0);
	ok_int(test_unreadable(store, "8:0", 300), 0);
	/* The names of all devices are still there: of another one no file is read. */
	test_spoil(dir, 100);
	ok_int(test_unreadable(store, "8:32", 10), 1000 * NR);
	ok_int(test_unreadable(store, "8:16", 10), 2001);
	page_store_close(store);
	sample_remove(dir);
}

/* Counts the windows of packed columns. */
static double test_packed_windows(const struct buf *packed)
{
	struct cursor from = cursor_make(packed->data, packed->len);
	struct page_windows_head head;
	struct page_column c;
	double nr = 0;

	ok_int(cursor_get(&from, &head, sizeof(head)), 0);
	while (page_column_next_packed(&from, &c) == 0) {
		nr += c.windows;
		ok_int(page_column_merge_packed(NULL, &c, &from, NULL), 0);
	}
	return nr;
}

/* However little time there is, what was read is shown, and nothing of it is kept as the whole. */
static void a_block_that_takes_too_long_is_shown_in_part(void)
{
	struct page_question q = { .host = "h", .end_real_ns = UINT64_MAX };
	const char *dir = sample_folder();
	struct page_segment *segments = NULL;
	struct page_store *store;
	struct err err = { 0 };
	size_t nr = 0, nr_read = 0, from = 0;
	uint64_t time_ns = 0;
	struct buf packed;
	bool whole;

	for (int i = 0; i < NR; i += 2)
		test_segment(dir, i);
	store = test_store(dir);
	buf_init(&packed);
	ok_int(page_store_find(store, &q, &segments, &nr, &whole, &err), 0);
	page_block_sort(segments, nr);
	while (from < nr && page_block_of(&segments[from]) == page_block_of(&segments[0]))
		from++;
	for (int ret = -ETIME; ret == -ETIME; time_ns = 2 * time_ns + 20000) {
		ret = page_block_columns(store, segments, from, "8:0", PAGE_BY_10_S,
					 time_ns ? clock_monotonic_ns() + time_ns : 1, &nr_read,
					 &packed);
		if (!ok(ret == -ETIME || ret == 0) || !ok(ret == 0 || nr_read < from))
			break;
		if (time_ns == 0)
			ok(ret == -ETIME && nr_read == 0);
		ok_eq((uint64_t)test_packed_windows(&packed), 2 * nr_read);
	}
	ok_eq(nr_read, from);
	buf_release(&packed);
	free(segments);
	page_store_close(store);
	sample_remove(dir);
}

/* Stores a segment whose windows reach over hours, each in a column of its own. */
static void test_far(const char *dir, int nr)
{
	const char **profiles = calloc((size_t)nr, sizeof(*profiles));
	struct buf *json = calloc((size_t)nr, sizeof(*json));
	struct sample s = { .host = "h",
			    .boot_id = "b",
			    .epoch = 1,
			    .sequence = 0,
			    .real_offset_ns = (uint64_t)BEGIN_S * 1000000000ull,
			    .end_ns = 2000000000ull,
			    .profiles = profiles,
			    .nr_profiles = (size_t)nr };

	for (int i = 0; i < nr; i++) {
		struct profile p;

		profile_init(&p);
		snprintf(p.host, sizeof(p.host), "h");
		snprintf(p.device, sizeof(p.device), "8:0");
		p.source = SOURCE_BPF;
		p.begin_s = BEGIN_S + 10 * i;
		p.end_s = p.begin_s + 1;
		p.requests[OPERATION_READ] = 150;
		for (int j = 0; j < 150; j++)
			histogram_add(&p.read.response.stage[STAGE_TOTAL],
				      (uint64_t)(10000 * pow(1.03, j)));
		buf_init(&json[i]);
		profile_to_json(&p, PROFILE_JSON_LINE, &json[i]);
		buf_put_u8(&json[i], 0);
		profiles[i] = (const char *)json[i].data;
		profile_release(&p);
	}
	sample_store(dir, &s, NULL, 0);
	for (int i = 0; i < nr; i++)
		buf_release(&json[i]);
	free(json);
	free(profiles);
}

/* Whatever an agent says of times, sums take bounded memory; windows are then read one by one. */
static void too_many_columns_are_not_kept(void)
{
	const struct page_device_question q = { .host = "h",
						.device = "8:0",
						.begin_s = BEGIN_S,
						.end_s = BEGIN_S + 8000,
						.step_s = 60 };
	const char *dir = sample_folder();
	struct page_store *store;
	struct err err = { 0 };

	test_far(dir, 800);
	store = test_store(dir);
	test_keep(store, 8u << 20, MOST_BYTES);
	for (int round = 0; round < 2; round++) {
		json_t *answer = NULL;

		/* Nothing was kept: where the file cannot be read, there is nothing. */
		if (round == 0)
			test_spoil(dir, 0);
		else
			test_far(dir, 800);
		ok_int(page_device_json(store, &q, &answer, &err), 0);
		ok_int((int)json_integer_value(json_object_get(answer, "windows")), round * 800);
		ok_int((int)json_integer_value(json_object_get(answer, "unreadable")), !round);
		json_decref(answer);
	}
	page_store_close(store);
	sample_remove(dir);
}

static void what_changes_is_not_kept(void)
{
	const char *dir = sample_folder();
	struct page_store *store;
	struct err err = { 0 };

	for (int i = 0; i < NR; i += 2)
		if (i != 220)
			test_segment(dir, i);
	store = test_store(dir);
	ok_int(test_unreadable(store, "8:0", 60), 2000);
	/* A segment that arrives late is another block. */
	test_segment(dir, 220);
	ok_int(page_store_sync(store, &err), 0);
	ok_int(test_unreadable(store, "8:0", 60), 0);
	/* A block whose file cannot be read is not kept. */
	test_spoil(dir, 100);
	ok_int(test_unreadable(store, "8:16", 60), 2001);
	test_keep(store, MOST_BYTES, MOST_BYTES);
	test_segment(dir, 100);
	ok_int(test_unreadable(store, "8:16", 60), 0);
	page_store_close(store);
	sample_remove(dir);
}

/* What was kept under another secret is not found. */
static void keys_depend_on_the_secret_of_the_file(void)
{
	const char *dir = sample_folder();
	struct page_store *store;
	sqlite3 *db = NULL;
	char path[4096];

	for (int i = 0; i < NR; i += 2)
		test_segment(dir, i);
	store = test_store(dir);
	test_keep(store, MOST_BYTES, MOST_BYTES);
	test_spoil(dir, 100);
	ok_int(test_unreadable(store, "8:0", 60), 0);
	page_store_close(store);
	snprintf(path, sizeof(path), "%s/page.sqlite", dir);
	ok_int(sqlite3_open(path, &db), SQLITE_OK);
	ok_int(sqlite3_exec(db, "UPDATE secret SET value = value + 1", NULL, NULL, NULL), 0);
	sqlite3_close(db);
	store = test_store(dir);
	ok(test_unreadable(store, "8:0", 60) > 0);
	page_store_close(store);
	sample_remove(dir);
}

/* Puts an item of a thousand bytes that do not compress. */
static void test_put(struct page_kept *k, uint64_t key)
{
	uint8_t data[1000];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)((key * 7919 + i * i * 104729) >> 5);
	page_kept_put(k, &(struct page_kept_item){ key, 0, data, sizeof(data) }, 1);
}

/* What is put again, and what a full disk does not take, must not push out what is there. */
static void what_is_not_there_takes_no_room(void)
{
	const char *dir = sample_folder();
	struct rlimit whole, full;
	struct page_kept *k = NULL;
	char path[4096];
	struct stat st;

	ok_int(page_kept_open(&k, dir), 0);
	page_kept_bound(k, 20000);
	test_put(k, 1);
	for (int i = 0; i < 100; i++)
		test_put(k, 2);
	ok(page_kept_has(k, 1) && page_kept_has(k, 2));

	snprintf(path, sizeof(path), "%s/page.sqlite-wal", dir);
	ok_int(stat(path, &st), 0);
	ok_int(getrlimit(RLIMIT_FSIZE, &whole), 0);
	full = (struct rlimit){ (rlim_t)st.st_size, whole.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	ok_int(setrlimit(RLIMIT_FSIZE, &full), 0);
	for (uint64_t key = 3; key < 103; key++)
		test_put(k, key);
	ok_int(setrlimit(RLIMIT_FSIZE, &whole), 0);
	ok(!page_kept_has(k, 102));
	test_put(k, 103);
	ok(page_kept_has(k, 1) && page_kept_has(k, 2) && page_kept_has(k, 103));
	page_kept_close(k);
	sample_remove(dir);
}

/* A machine that lost its power may leave a file whose begin is whole and whose rest is not. */
static void a_damaged_file_is_made_again(void)
{
	const char *dir = sample_folder();
	struct page_kept *k = NULL;
	uint8_t data[1000];
	char path[4096];
	struct buf out;
	FILE *f;

	buf_init(&out);
	memset(data, 0xff, sizeof(data));
	for (int round = 0; round < 2; round++) {
		ok_int(page_kept_open(&k, dir), 0);
		for (uint64_t key = 0; key < 50; key++)
			page_kept_put(k, &(struct page_kept_item){ key, 0, data, 1000 - key }, 1);
		ok(page_kept_get(k, 49, &out) && out.len == 951);
		page_kept_close(k);
		snprintf(path, sizeof(path), "%s/page.sqlite", dir);
		f = fopen(path, "r+");
		ok(f && fseek(f, 4096, SEEK_SET) == 0);
		for (int i = 0; f && i < 50; i++)
			fwrite(data, 1, sizeof(data), f);
		if (f)
			fclose(f);
	}
	buf_release(&out);
	sample_remove(dir);
}

static const struct tap_test tests[] = {
	{ "columns of every step are the sums of their windows",
	  columns_are_the_sums_of_their_windows },
	{ "what is kept needs no file", what_is_kept_needs_no_file },
	{ "where windows take too much, their sums are kept", many_windows_leave_their_sums },
	{ "a block that takes too long is shown in part",
	  a_block_that_takes_too_long_is_shown_in_part },
	{ "what left the disk is read again", what_left_the_disk_is_read_again },
	{ "sums take bounded memory", too_many_columns_are_not_kept },
	{ "late and damaged segments are never kept wrong", what_changes_is_not_kept },
	{ "a damaged file is made again", a_damaged_file_is_made_again },
	{ "what is put again or does not fit takes no room", what_is_not_there_takes_no_room },
	{ "what is kept depends on a secret of its file", keys_depend_on_the_secret_of_the_file },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
