// SPDX-License-Identifier: Apache-2.0
/* Windows that the live page reads in part, packs and keeps. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/serve/period/page_cache.h"
#include "analyzer/serve/period/page_column.h"
#include "analyzer/serve/period/page_window.h"
#include "tests/support/tap.h"
#include "workload/window.h"

/* A window of a second on device 8:0: 500 reads and writes of several sizes, and some flushes. */
static char *make_window(const char *name)
{
	struct window_config config = { 0 };
	struct profile p;
	struct window *w;
	struct buf json;

	window_new(&w, &config, 0);
	for (uint64_t i = 0; i < 500; i++) {
		struct request r = { .arrival_ns = i * 2000000,
				     .dispatch_ns = i * 2000000 + 1000,
				     .completion_ns = i * 2000000 + 2000 + i * i * 37 % 1500000,
				     .sector = i * 7919 % 10000 * 8,
				     .bytes = i % 10 == 9 ? 0 : 4096u << i % 3,
				     .operation = i % 10 == 9 ? OPERATION_FLUSH
						  : i % 3     ? OPERATION_READ
							      : OPERATION_WRITE };

		window_add(w, &r);
	}
	profile_init(&p);
	window_profile(w, 1000000000, &p);
	window_free(w);
	snprintf(p.host, sizeof(p.host), "h");
	snprintf(p.device, sizeof(p.device), "8:0");
	snprintf(p.device_name, sizeof(p.device_name), "%s", name);
	p.source = SOURCE_BPF;
	p.layer = LAYER_QUEUE;
	p.begin_s = 1767222000;
	p.end_s = 1767222001;
	buf_init(&json);
	profile_to_json(&p, PROFILE_JSON_LINE, &json);
	buf_put_u8(&json, 0);
	profile_release(&p);
	return (char *)json.data;
}

/* Returns the text of the columns that the page would draw; the caller frees it. */
static char *text_of(const struct page_column *c)
{
	json_t *columns = page_columns_json(c, 1), *sum = page_columns_sum_json(c, 1);
	json_t *both = json_pack("[o, o]", columns, sum);
	char *text = json_dumps(both, JSON_SORT_KEYS);

	json_decref(both);
	return text;
}

static void a_part_shows_what_the_whole_shows(void)
{
	char *text = make_window("s\"d\\a\t\xc3\xbc"), *of_part, *of_whole;
	struct page_column part = { 0 }, whole = { 0 };
	struct profile p, q;
	bool is_other = true;

	profile_init(&q);
	ok_int(page_window_read(text, "8:0", &p, &is_other), 0);
	ok(!is_other);
	ok_int(profile_from_json(text, strlen(text), &q, NULL), 0);
	ok_str(p.device_name, q.device_name);
	ok_str(p.host, "h");
	ok_int(p.source, SOURCE_BPF);
	ok_int(p.layer, LAYER_QUEUE);
	ok_int((int)p.end_s - 1767222000, 1);
	ok_int(page_column_add(&part, &p), 0);
	ok_int(page_column_add(&whole, &q), 0);
	of_part = text_of(&part);
	of_whole = text_of(&whole);
	ok_str(of_part, of_whole);
	ok(whole.requests[OPERATION_FLUSH] == 50 && whole.size_class[1][0] > 0);
	free(of_part);
	free(of_whole);
	page_column_release(&part);
	page_column_release(&whole);
	profile_release(&p);
	profile_release(&q);
	free(text);
}

static void other_devices_are_left_early(void)
{
	char *text = make_window("sda");
	struct profile p;
	bool is_other = false;

	*(strstr(text, "\"begin_s\"") + 1) = '"'; /* All that follows the names is broken. */
	ok_int(page_window_read(text, "8:16", &p, &is_other), 0);
	ok(is_other);
	profile_release(&p);
	ok_int(page_window_read(text, "8:0", &p, &is_other), -EBADMSG);
	profile_release(&p);
	free(text);
}

static void broken_text_is_refused(void)
{
	static const char *const wrong[] = {
		"",
		"[]",
		"null",
		"{",
		"{\"schema\"",
		"{\"schema\":\"other/1\"}",
		"{\"a\":]}",
		"{\"schema\":\"blkcast.profile/1\",\"begin_s\":2,\"end_s\":1}",
		"{\"schema\":\"blkcast.profile/1\",\"begin_s\":1e999}",
		"{\"schema\":\"blkcast.profile/1\",\"begin_s\":1,\"end_s\":2,\"requests\":{\"read\":-1}}",
		"{\"schema\":\"blkcast.profile/1\",\"begin_s\":1,\"end_s\":2,"
		"\"requests\":{\"read\":99999999999999999999}}",
		"{\"schema\":\"blkcast.profile/1\",\"begin_s\":1,\"end_s\":2,"
		"\"response_time\":{\"read\":{\"total\":{\"histogram\":[[449,1]]}}}}",
		"{\"schema\":\"blkcast.profile/1\",\"begin_s\":1,\"end_s\":2,"
		"\"response_time\":{\"read\":{\"total\":{\"histogram\":[[1,1]],\"max_s\":null}}}}",
	};
	char *text = make_window("sda");
	size_t len = strlen(text), nr_accepted = 0;
	struct profile p;
	bool is_other;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ok_int(page_window_read(wrong[i], NULL, &p, &is_other), -EBADMSG);
		profile_release(&p);
	}
	for (size_t cut = 1; cut < len; cut++) {
		char *copy =
			strndup(text, len - cut); /* of its own, so that a sanitizer sees its end */

		nr_accepted += page_window_read(copy, NULL, &p, &is_other) == 0;
		profile_release(&p);
		free(copy);
	}
	ok_int((int)nr_accepted, 0);
	free(text);
}

#define MINIMAL		  "{\"schema\":\"blkcast.profile/1\",\"begin_s\":1,\"end_s\":2"
#define MINIMAL_OF_DEVICE MINIMAL ",\"device\":\"8:0\""

static void only_a_window_of_the_device_counts_for_it(void)
{
	static const char *const wrong[] = {
		MINIMAL "}",
		MINIMAL ",\"d\\u0065vice\":\"8:0\"}",
		MINIMAL ",\"source_detail\":{\"device\":\"8:0\"}}",
		MINIMAL_OF_DEVICE
		",\"response_time\":{\"read\":{\"total\":"
		"{\"histogram\":[[-300,2]],\"histogram\":[[-300,2]],\"max_s\":1}}}}",
		MINIMAL_OF_DEVICE ",\"response_time\":{\"read\":"
				  "{\"total\":{\"histogram\":[[-300,2]],\"max_s\":1},"
				  "\"total\":{\"histogram\":[[-300,2]],\"max_s\":1}}}}",
	};
	struct profile p;
	bool is_other;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ok_int(page_window_read(wrong[i], "8:0", &p, &is_other), -EBADMSG);
		profile_release(&p);
	}
	ok_int(page_window_read(MINIMAL_OF_DEVICE "}", "8:0", &p, &is_other), 0);
	profile_release(&p);
}

/* A tally counts each request once; whether the number of requests comes before it or after. */
static void a_tally_holds_no_more_than_the_requests(void)
{
#define READS	      ",\"requests\":{\"read\":3}"
#define TALLY(counts) ",\"arrivals\":{\"read\":{\"outstanding\":" counts "}}"
	static const struct {
		const char *text;
		int ret;
	} cases[] = {
		{ MINIMAL_OF_DEVICE READS TALLY("[[0,1],[1,2]]") "}", 0 },
		{ MINIMAL_OF_DEVICE TALLY("[[0,1],[1,2]]") READS "}", 0 },
		{ MINIMAL_OF_DEVICE READS TALLY("[[0,1],[1,3]]") "}", -EBADMSG },
		{ MINIMAL_OF_DEVICE TALLY("[[0,1],[1,3]]") READS "}", -EBADMSG },
		{ MINIMAL_OF_DEVICE READS TALLY("[[0,9223372036854775807],[1,3]]") "}", -EBADMSG },
		{ MINIMAL_OF_DEVICE TALLY("[[0,1]]") "}", -EBADMSG },
	};
	struct profile p;
	bool is_other;

	for (size_t i = 0; i < TAP_NR(cases); i++) {
		ok_int(page_window_read(cases[i].text, "8:0", &p, &is_other), cases[i].ret);
		profile_release(&p);
	}
}

static void response_times_of_zero_are_shown(void)
{
	char text[300];
	struct profile p;
	bool is_other;

	snprintf(text, sizeof(text),
		 MINIMAL_OF_DEVICE
		 ",\"response_time\":{\"flush\":{\"total\":{\"count\":3,\"min_s\":0.0,"
		 "\"max_s\":0.0,\"histogram\":[[%d,3]]}}}}",
		 histogram_bucket(0));
	ok_int(page_window_read(text, "8:0", &p, &is_other), 0);
	ok_int((int)p.flush.stage[STAGE_TOTAL].nr, 3);
	profile_release(&p);
}

/* Windows that are not in order go from one column to another and back. */
static void packed_columns_of_several_sums_stay_apart(void)
{
	struct page_column window = { 0 }, packed[2] = { 0 }, sums[2] = { 0 }, c;
	static struct page_gather gather;
	char *text = make_window("sda");
	struct cursor from;
	struct profile p;
	struct buf out;
	bool is_other;

	buf_init(&out);
	page_window_read(text, NULL, &p, &is_other);
	page_column_add(&window, &p);
	for (int i = 0; i < 7; i++) {
		ok_int(page_column_pack(&window, &out), 0);
		ok_int(page_column_merge(&sums[i % 3 > 0], &window), 0);
	}
	from = cursor_make(out.data, out.len);
	for (int i = 0; page_column_next_packed(&from, &c) == 0; i++)
		ok_int(page_column_merge_packed(&packed[i % 3 > 0], &c, &from, &gather), 0);
	ok_int(page_gather_end(&gather), 0);
	for (int i = 0; i < 2; i++) {
		char *of_packed = text_of(&packed[i]), *of_sum = text_of(&sums[i]);

		ok_str(of_packed, of_sum);
		free(of_packed);
		free(of_sum);
		page_column_release(&packed[i]);
		page_column_release(&sums[i]);
	}
	page_column_release(&window);
	profile_release(&p);
	buf_release(&out);
	free(text);
}

static void packed_columns_add_up_the_same(void)
{
	char *text = make_window("sda"), *of_packed, *of_sum;
	struct page_column window = { 0 }, sum = { 0 }, packed = { 0 }, c;
	static struct page_gather gather;
	struct cursor from;
	struct profile p;
	struct buf out;
	bool is_other;

	buf_init(&out);
	page_window_read(text, NULL, &p, &is_other);
	page_column_add(&window, &p);
	for (int i = 0; i < 3; i++) {
		ok_int(page_column_pack(&window, &out), 0);
		if (i != 1)
			page_column_merge(&sum, &window);
	}
	from = cursor_make(out.data, out.len);
	for (int i = 0; page_column_next_packed(&from, &c) == 0; i++)
		ok_int(page_column_merge_packed(i == 1 ? NULL : &packed, &c, &from, &gather), 0);
	ok_int(page_gather_end(&gather), 0);
	of_packed = text_of(&packed);
	of_sum = text_of(&sum);
	ok_str(of_packed, of_sum);
	free(of_packed);
	free(of_sum);
	page_column_release(&window);
	page_column_release(&sum);
	page_column_release(&packed);
	profile_release(&p);
	buf_release(&out);
	free(text);
}

/* Two counts of 2^63 would add up to none, and what they left would go to the next column. */
static void counts_beyond_64_bits_are_refused(void)
{
	struct page_column window = { .windows = 1 }, sum = { 0 }, c;
	static struct page_gather gather;
	struct cursor from;
	struct buf out;

	buf_init(&out);
	ok_int(histogram_add_bucket(&window.response[0], 7, 1ull << 63), 0);
	for (int i = 0; i < 2; i++)
		ok_int(page_column_pack(&window, &out), 0);
	from = cursor_make(out.data, out.len);
	ok_int(page_column_next_packed(&from, &c), 0);
	ok_int(page_column_merge_packed(&sum, &c, &from, &gather), 0);
	ok_int(page_column_next_packed(&from, &c), 0);
	ok_int(page_column_merge_packed(&sum, &c, &from, &gather), -EBADMSG);
	page_column_release(&window);
	page_column_release(&sum);
	buf_release(&out);
}

static void the_oldest_items_make_room(void)
{
	struct page_cache *c = page_cache_new(4096);
	char data[1000];
	struct buf out;
	int nr = 0;

	buf_init(&out);
	for (uint64_t key = 0; key < 100; key++) {
		size_t len = 1 + (size_t)(key * 97 % 900);

		memset(data, (int)key, sizeof(data));
		page_cache_put(c, key, data, len);
		if (!page_cache_get(c, key, &out) || out.len != len || out.data[len - 1] != key)
			nr = -1000;
		nr += key > 0 && page_cache_get(c, key - 1, &out);
	}
	ok_int(nr, 99);
	ok(!page_cache_get(c, 80, &out));
	page_cache_put(c, 99, "new", 3);
	ok(page_cache_get(c, 99, &out) && out.len == 3 && memcmp(out.data, "new", 3) == 0);
	memset(data, 'x', sizeof(data));
	for (uint64_t key = 200; key < 204; key++)
		page_cache_put(c, key, data, sizeof(data));
	ok(!page_cache_get(c, 99, &out)); /* The older item with this key is not found again. */
	page_cache_free(c);
	buf_release(&out);
}

static const struct tap_test tests[] = {
	{ "a part of a window shows what all of it shows", a_part_shows_what_the_whole_shows },
	{ "windows of other devices are left early", other_devices_are_left_early },
	{ "text that is not a window is refused", broken_text_is_refused },
	{ "only a window that names the device counts for it, and once",
	  only_a_window_of_the_device_counts_for_it },
	{ "a tally holds no more than the requests", a_tally_holds_no_more_than_the_requests },
	{ "a window whose response times are all 0 is shown", response_times_of_zero_are_shown },
	{ "packed columns add up as others do", packed_columns_add_up_the_same },
	{ "packed columns of several sums stay apart", packed_columns_of_several_sums_stay_apart },
	{ "counts of packed columns beyond 64 bits are refused",
	  counts_beyond_64_bits_are_refused },
	{ "the oldest items make room in the cache", the_oldest_items_make_room },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
