// SPDX-License-Identifier: Apache-2.0
/* A device over a period: which windows are counted in it, and what of it counts as watched. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "analyzer/serve/period/page_device.h"
#include "base/system/clock.h"
#include "formats/profile/profile.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define BEGIN_S 1767222000.0 /* the begin of a block */
#define AT_S(i) (BEGIN_S - 200 + (double)(i))

/* Stores segment i of a second with the profile of the window that ended 80 ms after its begin. */
static void test_segment(const char *dir, int i)
{
	struct buf json;
	struct sample s = { .host = "h",
			    .boot_id = "b",
			    .epoch = 1,
			    .sequence = (uint64_t)i,
			    .real_offset_ns = (uint64_t)AT_S(i) * CLOCK_NS_PER_S,
			    .end_ns = CLOCK_NS_PER_S,
			    .nr_profiles = 1 };
	struct profile p;

	profile_init(&p);
	snprintf(p.host, sizeof(p.host), "h");
	snprintf(p.device, sizeof(p.device), "8:0");
	p.source = SOURCE_BPF;
	p.begin_s = AT_S(i) - 0.92;
	p.end_s = AT_S(i) + 0.08;
	p.requests[OPERATION_READ] = 7;
	buf_init(&json);
	profile_to_json(&p, PROFILE_JSON_LINE, &json);
	buf_put_u8(&json, 0);
	s.profiles = (const char *const[]){ (const char *)json.data };
	sample_store(dir, &s, NULL, 0);
	buf_release(&json);
	profile_release(&p);
}

/* Asks for [from, to), and checks how many windows it has and how many columns were watched. */
static void test_period(struct page_store *store, int from, int to, int nr_windows, int nr_watched)
{
	struct page_device_question q = {
		.host = "h", .device = "8:0", .begin_s = AT_S(from), .end_s = AT_S(to)
	};
	struct err err = { 0 };
	json_t *answer = NULL;
	const json_t *watched;
	int nr = 0;

	ok_int(page_device_json(store, &q, &answer, &err), 0);
	ok_int((int)json_integer_value(json_object_get(answer, "windows")), nr_windows);
	watched = json_object_get(json_object_get(answer, "columns"), "watched_s");
	for (int i = 0; i < to - from; i++)
		nr += json_number_value(json_array_get(watched, (size_t)i)) > 0;
	ok_int(nr, nr_watched);
	json_decref(answer);
}

/* The profile of a window lies in the segment that is open when the window ends. */
static void windows_of_later_segments_belong_to_the_period(void)
{
	const char *dir = sample_folder();
	struct page_store *store = NULL;
	struct err err = { 0 };

	for (int i = 0; i < 210; i++)
		if (i != 50)
			test_segment(dir, i);
	ok_int(page_store_open(&store, dir, &err), 0);
	test_period(store, 20, 30, 10, 10);
	test_period(store, 190, 200, 10, 10); /* until the end of a block */
	/* Window 49 is not there, but its time was watched. */
	test_period(store, 45, 55, 9, 10);
	/* The window that begins in the last second has not ended yet. */
	test_period(store, 200, 210, 9, 9);
	page_store_close(store);
	sample_remove(dir);
}

static void a_device_is_named_by_its_number(void)
{
	static const struct {
		const char *device;
		int ret;
	} cases[] = {
		{ "8:0", 0 },	     { "259:12", 0 },	  { "", -EINVAL },	{ "sda", -EINVAL },
		{ "8", -EINVAL },    { "8:", -EINVAL },	  { ":0", -EINVAL },	{ " 8:0", -EINVAL },
		{ "8:+0", -EINVAL }, { "8:0 ", -EINVAL }, { "8:0:1", -EINVAL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct page_device_question q = {
			.host = "h", .device = cases[i].device, .begin_s = 1, .end_s = 2
		};
		struct err err = { 0 };

		if (!ok_int(page_device_check(&q, &err), cases[i].ret))
			tap_note("%s", cases[i].device);
	}
}

static const struct tap_test tests[] = {
	{ "a window belongs to the period in which it begins, whatever segment has it",
	  windows_of_later_segments_belong_to_the_period },
	{ "a device is named by its number", a_device_is_named_by_its_number },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
