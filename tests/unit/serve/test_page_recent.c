// SPDX-License-Identifier: Apache-2.0
/* The newest windows of a small fleet are packed on arrival, so that no file is read again. */
#include <jansson.h>
#include <stdio.h>
#include <time.h>

#include "analyzer/serve/fleet/page_fleet.h"
#include "analyzer/serve/period/page_device.h"
#include "analyzer/serve/period/page_recent.h"
#include "base/system/clock.h"
#include "formats/profile/profile.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define NR_SEGMENTS 8 /* with two windows of a second of two devices each */

/* The windows lie in the last 20 s, so that their quarter of an hour is not summed up yet. */
struct recent_test {
	const char *dir;
	double begin_s;
	struct page_store *store;
	struct page_fleet *fleet;
};

static void test_window(unsigned int major, unsigned int minor, double begin_s, struct buf *json)
{
	struct profile p;

	profile_init(&p);
	snprintf(p.host, sizeof(p.host), "h");
	snprintf(p.device, sizeof(p.device), "%u:%u", major, minor);
	snprintf(p.device_name, sizeof(p.device_name), "d%u", minor);
	p.source = SOURCE_BPF;
	p.begin_s = begin_s;
	p.end_s = begin_s + 1;
	p.requests[OPERATION_READ] = 10 + (uint64_t)begin_s % 13 + minor;
	for (uint64_t i = 0; i < p.requests[OPERATION_READ]; i++)
		histogram_add(&p.read.response.stage[STAGE_TOTAL], 10000 + i * 977);
	profile_to_json(&p, PROFILE_JSON_LINE, json);
	buf_put_u8(json, 0);
	profile_release(&p);
}

/* Stores a segment of two seconds: two windows of each device. */
static void test_segment(const struct recent_test *t, uint64_t sequence, unsigned int major,
			 unsigned int nr_devices)
{
	double begin_s = t->begin_s + 2 * (double)sequence;
	const char *profiles[2 * PAGE_RECENT_DEVICES + 2];
	struct buf json[2 * PAGE_RECENT_DEVICES + 2];
	struct sample s = { .host = "h",
			    .boot_id = "b",
			    .epoch = 1,
			    .sequence = sequence,
			    .real_offset_ns = (uint64_t)begin_s * CLOCK_NS_PER_S,
			    .end_ns = 2 * CLOCK_NS_PER_S,
			    .profiles = profiles,
			    .nr_profiles = 2 * nr_devices };

	for (unsigned int i = 0; i < 2 * nr_devices; i++) {
		buf_init(&json[i]);
		test_window(major, i / 2, begin_s + i % 2, &json[i]);
		profiles[i] = (const char *)json[i].data;
	}
	sample_store(t->dir, &s, NULL, 0);
	for (unsigned int i = 0; i < 2 * nr_devices; i++)
		buf_release(&json[i]);
}

static json_t *test_ask(struct recent_test *t, const char *device)
{
	struct page_device_question q = { .host = "h",
					  .device = device,
					  .begin_s = t->begin_s,
					  .end_s = t->begin_s + 2 * NR_SEGMENTS };
	json_t *answer = NULL;
	struct err err = { 0 };

	if (page_device_json(t->store, &q, &answer, &err) < 0)
		tap_note("%s", err.line);
	return answer;
}

static bool test_open(struct recent_test *t)
{
	struct err err = { 0 };

	if (page_store_open(&t->store, t->dir, &err) == 0 && page_store_sync(t->store, &err) == 0)
		return true;
	tap_note("%s", err.line);
	return false;
}

/* Starts the fleet, and returns when it has read the segments. */
static bool test_load(struct recent_test *t)
{
	const struct timespec tick = { .tv_nsec = 10000000 };
	struct err err = { 0 };

	if (page_fleet_start(&t->fleet, t->store, NULL, &err) < 0)
		return false;
	for (int i = 0; i < 3000 && !(page_fleet_loaded_s(t->fleet) > 0); i++)
		nanosleep(&tick, NULL);
	return page_fleet_loaded_s(t->fleet) > 0;
}

static void test_delete_files(const struct recent_test *t)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/segments", t->dir);
	sample_remove(path);
}

static struct recent_test test_begin(void)
{
	struct recent_test t = { .dir = sample_folder() };

	t.begin_s = (double)(clock_real_ns() / CLOCK_NS_PER_S) - 2 * NR_SEGMENTS - 4;
	return t;
}

static void test_end(struct recent_test *t)
{
	page_fleet_stop(t->fleet);
	page_store_close(t->store);
	sample_remove(t->dir);
}

static void a_small_fleet_is_packed(void)
{
	struct recent_test t = test_begin();
	json_t *read[2], *packed[2];

	for (uint64_t i = 0; i < NR_SEGMENTS; i++)
		test_segment(&t, i, 8, 2);
	ok(test_open(&t));
	read[0] = test_ask(&t, "8:0");
	read[1] = test_ask(&t, "8:1");
	page_store_close(t.store);

	ok(test_open(&t));
	ok(test_load(&t));
	test_delete_files(&t);
	packed[0] = test_ask(&t, "8:0");
	packed[1] = test_ask(&t, "8:1");
	for (int i = 0; i < 2; i++) {
		ok_int((int)json_integer_value(json_object_get(read[i], "windows")),
		       2 * NR_SEGMENTS);
		ok(json_equal(read[i], packed[i]));
		json_decref(read[i]);
		json_decref(packed[i]);
	}
	test_end(&t);
}

static void a_large_fleet_is_read_when_asked_for(void)
{
	struct recent_test t = test_begin();
	json_t *answer;

	test_segment(&t, 0, 9, PAGE_RECENT_DEVICES + 1);
	for (uint64_t i = 1; i < NR_SEGMENTS; i++)
		test_segment(&t, i, 8, 2);
	ok(test_open(&t));
	ok(test_load(&t));
	answer = test_ask(&t, "8:0");
	ok_int((int)json_integer_value(json_object_get(answer, "windows")), 2 * (NR_SEGMENTS - 1));
	json_decref(answer);
	test_delete_files(&t);
	/* Nobody asked for this device before. */
	answer = test_ask(&t, "8:1");
	ok_int((int)json_integer_value(json_object_get(answer, "windows")), 0);
	json_decref(answer);
	test_end(&t);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "the newest windows of a small fleet are in memory, as the files say",
		  a_small_fleet_is_packed },
		{ "those of a large fleet are read when somebody asks",
		  a_large_fleet_is_read_when_asked_for },
	};

	return tap_run(tests, TAP_NR(tests));
}
