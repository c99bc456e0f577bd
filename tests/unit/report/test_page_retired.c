// SPDX-License-Identifier: Apache-2.0
/* Pictures of the live page for periods whose requests retention has removed. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/page_shell.h"
#include "analyzer/keep/retain.h"
#include "analyzer/serve/period/page_device.h"
#include "formats/block_event.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define SEGMENTS  40 /* of three minutes: two hours, which are two windows of retention */
#define EACH	  150
#define SEGMENT_S 180ull
#define BEGIN_S	  (SAMPLE_REAL_NS / 1e9)

/* Makes the store; reads[h] counts the reads on 8:0 that arrive in hour h. */
static void test_store(const char *dir, double reads[2], double *read_bytes)
{
	struct request r[EACH];

	for (uint64_t i = 0; i < SEGMENTS; i++) {
		struct sample s = { .host = "h",
				    .boot_id = "b",
				    .epoch = 1,
				    .sequence = i,
				    .real_offset_ns = SAMPLE_REAL_NS,
				    .begin_ns = i * SEGMENT_S * 1000000000,
				    .end_ns = (i + 1) * SEGMENT_S * 1000000000 };

		sample_requests(i, s.begin_ns, s.end_ns, r, i < SEGMENTS / 2 ? EACH : EACH / 3);
		for (size_t k = 0; k < (i < SEGMENTS / 2 ? EACH : EACH / 3); k++)
			if (r[k].device == device_make(8, 0) && r[k].operation == OPERATION_READ) {
				reads[i / (SEGMENTS / 2)]++;
				*read_bytes += r[k].bytes;
			}
		sample_store(dir, &s, r, i < SEGMENTS / 2 ? EACH : EACH / 3);
	}
}

static void test_retain(const char *dir)
{
	const struct retain_limits limits = { .requests_ns = 1 };
	struct retain_counts counts = { 0 };
	struct store *store = NULL;
	struct err err = { 0 };

	ok_int(store_open(&store, dir, true, &err), 0);
	ok_int(retain_pass(store, &limits, SAMPLE_REAL_NS + 86400000000000ull, NULL, &counts, &err),
	       0);
	ok_int((int)counts.nr_segments, SEGMENTS);
	store_close(store);
}

static json_t *test_ask(const char *dir, double begin_s, double end_s)
{
	struct page_device_question q = {
		.host = "h", .device = "8:0", .begin_s = begin_s, .end_s = end_s, .step_s = 60
	};
	struct page_store *store = NULL;
	struct err err = { 0 };
	json_t *answer = NULL;

	ok_int(page_store_open(&store, dir, &err), 0);
	ok_int(page_device_json(store, &q, &answer, &err), 0);
	page_store_close(store);
	return answer;
}

static double test_number(const json_t *answer, const char *object, const char *key)
{
	return json_number_value(json_object_get(json_object_get(answer, object), key));
}

/* Returns how many of the columns have this rate of reads. */
static int test_columns_of(const json_t *answer, double per_s)
{
	const json_t *list = json_object_get(json_object_get(answer, "columns"), "reads_per_s");
	int nr = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		nr += fabs(json_number_value(json_array_get(list, i)) - per_s) < 1e-6;
	return nr;
}

static void retired_requests_are_drawn(void)
{
	const char *dir = sample_folder();
	double reads[2] = { 0 }, read_bytes = 0;
	json_t *answer;

	test_store(dir, reads, &read_bytes);
	ok(reads[0] > 2 * reads[1] && reads[1] > 0);
	test_retain(dir);
	answer = test_ask(dir, BEGIN_S, BEGIN_S + 7200);
	ok_int((int)rint(test_number(answer, "sum", "reads")), (int)(reads[0] + reads[1]));
	ok(fabs(test_number(answer, "sum", "read_bytes_per_s") * 7200 - read_bytes) < 1);
	ok(test_number(answer, "sum", "read_p99_s") > 0);
	ok_int(test_columns_of(answer, reads[0] / 3600), 60);
	ok_int(test_columns_of(answer, reads[1] / 3600), 60);
	ok(json_number_value(json_object_get(answer, "retired_until_s")) == BEGIN_S + 7200);
	ok_int((int)json_integer_value(json_object_get(answer, "windows")), 2);
	json_decref(answer);
	/* A part of an hour has its rate in every column, also in the first and the last. */
	answer = test_ask(dir, BEGIN_S + 900, BEGIN_S + 2700);
	ok_int(test_columns_of(answer, reads[0] / 3600), 30);
	ok_int((int)rint(test_number(answer, "sum", "reads") * 2), (int)reads[0]);
	json_decref(answer);
	answer = test_ask(dir, BEGIN_S - 7200, BEGIN_S);
	ok_int((int)json_integer_value(json_object_get(answer, "windows")), 0);
	ok(json_is_null(json_object_get(answer, "retired_until_s")));
	json_decref(answer);
	sample_remove(dir);
}

static void text_that_is_not_utf8_is_shown(void)
{
	struct buf out;

	buf_init(&out);
	page_escape(&out, "<\xff\xfe \xc3\xbc>\xc3");
	buf_put_u8(&out, 0);
	ok_str((const char *)out.data, "&lt;\\xff\\xfe \xc3\xbc&gt;\\xc3");
	buf_release(&out);
}

static const struct tap_test tests[] = {
	{ "retired requests are drawn by the sums that are left", retired_requests_are_drawn },
	{ "text that is not UTF-8 is shown in a page by its bytes",
	  text_that_is_not_utf8_is_shown },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
