/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile/profile.h"
#include "tests/support/same_histogram.h"
#include "tests/support/tap.h"

static void fill_direction(struct direction_profile *d, uint64_t nr, uint64_t base_ns)
{
	d->size_mean_bytes = 4096.5;
	d->nr_sizes = 2;
	d->sizes = calloc(2, sizeof(*d->sizes));
	d->sizes[0] = (struct size_count){ 4096, nr - 3 };
	d->sizes[1] = (struct size_count){ 65536, 2 };
	d->other_sizes = 1;
	d->sequential_ratio = 0.1;
	d->stream_ratio = 0.7;
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t queue_ns = i % 7 * 1000, device_ns = base_ns + i * i;

		histogram_add(&d->response.stage[STAGE_QUEUE], queue_ns);
		histogram_add(&d->response.stage[STAGE_DEVICE], device_ns);
		histogram_add(&d->response.stage[STAGE_TOTAL], queue_ns + device_ns);
		histogram_add(&d->response.size_class[i % 2 ? 0 : 7], queue_ns + device_ns);
	}
}

static struct profile example(void)
{
	struct profile p;

	profile_init(&p);
	snprintf(p.host, sizeof(p.host), "%s", "web1");
	snprintf(p.device, sizeof(p.device), "%s", "7:0");
	snprintf(p.device_name, sizeof(p.device_name), "%s", "loop0");
	p.source = SOURCE_BPF;
	p.begin_s = 1700000000.125;
	p.end_s = 1700000060.25;
	p.requests[OPERATION_READ] = 20000;
	p.requests[OPERATION_WRITE] = 5000;
	p.requests[OPERATION_FLUSH] = 3;
	p.bytes[OPERATION_READ] = 81920000;
	p.bytes[OPERATION_WRITE] = 20480000;
	p.requeues = 2;
	p.closed.clients_mean = 8;
	p.closed.in_flight_mean = 1.0 / 3;
	p.closed.sample_interval_s = 1;
	p.open.rate_per_s = 416.7;
	p.open.interarrival_scv = 1.1;
	p.open.lag1_autocorrelation = -0.25;
	p.open.nr_idc = 2;
	p.open.idc = calloc(2, sizeof(*p.open.idc));
	p.open.idc[0] = (struct idc_point){ 0.01, 1.2 };
	p.open.idc[1] = (struct idc_point){ 10, NAN };
	fill_direction(&p.read, 20000, 90000);
	fill_direction(&p.write, 5000, 20000);
	p.all_sequential_ratio = 0.5;
	p.window_requests = 4096;
	p.locality.footprint_bytes = 123456512;
	p.locality.block_bytes = 4096;
	p.locality.distribution.kind = DISTRIBUTION_ZIPF;
	p.locality.distribution.nr_regions = 1000;
	p.locality.distribution.exponent = 0.99;
	p.locality.nr_miss_ratio = 2;
	p.locality.miss_ratio = calloc(2, sizeof(*p.locality.miss_ratio));
	p.locality.miss_ratio[0] = (struct cache_point){ 1 << 20, 0.9 };
	p.locality.miss_ratio[1] = (struct cache_point){ 1 << 30, 0.25 };
	p.locality.nr_miss_ratio_samples = 8192;
	p.locality.miss_ratio_sampled_ratio = 0.125;
	p.quality.coverage_ratio = 1;
	profile_grade(&p);
	p.source_detail = strdup("{\"merges\":12}");
	return p;
}

static json_t *json_of(const struct profile *p)
{
	struct buf out = { 0 };
	json_t *root;

	ok_int(profile_to_json(p, PROFILE_JSON_LINE, &out), 0);
	ok(!memchr(out.data, '\n', out.len));
	root = json_loadb((const char *)out.data, out.len, 0, NULL);
	ok(root);
	buf_release(&out);
	return root;
}

/* The value at "a.b.c", borrowed; NULL where there is none. */
static const json_t *at(const json_t *root, const char *path)
{
	char key[64];

	for (; *path && root; path += strcspn(path, "."), path += *path == '.') {
		memcpy(key, path, strcspn(path, "."));
		key[strcspn(path, ".")] = 0;
		root = json_object_get(root, key);
	}
	return root;
}

static const char *const contract[] = {
	"schema",
	"host",
	"device",
	"device_name",
	"source",
	"layer",
	"begin_s",
	"end_s",
	"duration_s",
	"requests.read",
	"requests.write",
	"requests.discard",
	"requests.flush",
	"requests.other",
	"lost",
	"intensity.closed.clients_mean",
	"intensity.closed.in_flight_mean",
	"intensity.closed.think_time_mean_s",
	"intensity.open.rate_per_s",
	"intensity.open.interarrival_mean_s",
	"intensity.open.interarrival_scv",
	"intensity.open.idc",
	"request_size.read.mean_bytes",
	"request_size.read.histogram",
	"request_size.write.mean_bytes",
	"request_size.write.histogram",
	"request_mix.read",
	"request_mix.write",
	"access_pattern.read.sequential_ratio",
	"access_pattern.read.pattern",
	"access_pattern.write.sequential_ratio",
	"access_pattern.write.pattern",
	"access_pattern.all.sequential_ratio",
	"access_pattern.all.pattern",
	"access_pattern.window_requests",
	"locality.footprint_bytes",
	"locality.file_count_mean",
	"locality.file_size_mean_bytes",
	"locality.file_set_size_mean_bytes",
	"locality.distribution",
	"locality.miss_ratio_curve",
	"response_time.read.total.count",
	"response_time.read.total.mean_s",
	"response_time.read.total.p50_s",
	"response_time.read.total.p90_s",
	"response_time.read.total.p95_s",
	"response_time.read.total.p99_s",
	"response_time.read.total.p999_s",
	"response_time.read.total.p9999_s",
	"response_time.read.total.max_s",
	"response_time.read.total.histogram",
	"response_time.read.queue.p99_s",
	"response_time.read.device.p99_s",
	"response_time.write.total.p99_s",
	"response_time.write.queue.p99_s",
	"response_time.write.device.p99_s",
	"quality.coverage_ratio",
	"quality.lost_ratio",
	"quality.grade",
	"quality.why",
	"throughput.read_bytes_per_s",
	"throughput.write_bytes_per_s",
};

static void has_the_keys(const struct profile *p)
{
	json_t *root = json_of(p);

	for (size_t i = 0; i < TAP_NR(contract); i++)
		if (!ok(at(root, contract[i])))
			tap_note("missing: %s", contract[i]);
	json_decref(root);
}

static void contract_keys(void)
{
	struct profile p = example();

	has_the_keys(&p);
	profile_release(&p);
	has_the_keys(&p);
}

static void values(void)
{
	struct profile p = example();
	json_t *root = json_of(&p);

	ok_str(json_string_value(at(root, "schema")), "blkcast.profile/1");
	ok_str(json_string_value(at(root, "source")), "bpf");
	ok_near(json_real_value(at(root, "duration_s")), 60.125, 0);
	ok_near(json_real_value(at(root, "request_mix.read")), 0.8, 0);
	ok_str(json_string_value(at(root, "access_pattern.read.pattern")), "random");
	ok_str(json_string_value(at(root, "access_pattern.all.pattern")), "sequential");
	ok_near(json_real_value(at(root, "throughput.read_bytes_per_s")), 81920000 / 60.125, 0);
	ok_near(json_real_value(at(root, "response_time.read.total.p99_s")),
		histogram_quantile_s(&p.read.response.stage[STAGE_TOTAL], 0.99), 0);
	ok(json_is_null(at(root, "response_time.read.total.p9999_s"))); /* 2 values beyond */
	ok(json_is_null(at(root, "locality.file_count_mean")));
	ok_int(json_integer_value(at(root, "locality.footprint_bytes")), 123456512);
	ok_int(json_integer_value(at(root, "source_detail.merges")), 12);
	json_decref(root);
	profile_release(&p);
}

/* What counters alone give: counts, mean sizes and times. */
static struct profile counters(void)
{
	struct profile p;

	profile_init(&p);
	p.source = SOURCE_DISKSTATS;
	p.begin_s = 100;
	p.end_s = 102;
	p.unknown = UNKNOWN_OTHER | UNKNOWN_FLUSH | UNKNOWN_ERRORS | UNKNOWN_REQUEUES |
		    UNKNOWN_KERNEL_THREAD | UNKNOWN_OWN;
	p.requests[OPERATION_READ] = 1000;
	p.bytes[OPERATION_READ] = 4096000;
	p.read.size_mean_bytes = 4096;
	p.read.response.total_mean_s = 0.00125;
	p.quality.coverage_ratio = 1;
	profile_grade(&p);
	return p;
}

static void counters_leave_nulls(void)
{
	static const char *const nulls[] = {
		"requests.flush",
		"requests.other",
		"bytes.other",
		"errors",
		"requeues",
		"kernel_thread_requests",
		"own_requests",
		"request_size.read.histogram",
		"request_size.read.other_count",
		"access_pattern.window_requests",
		"locality.block_bytes",
		"response_time.read.total.count",
		"response_time.read.total.p99_s",
		"response_time.read.total.max_s",
		"response_time.read.total.histogram",
		"response_time.read.queue.mean_s",
	};
	struct profile p = counters(), q;
	struct buf text = { 0 };
	json_t *root = json_of(&p);

	for (size_t i = 0; i < TAP_NR(nulls); i++)
		if (!ok(json_is_null(at(root, nulls[i]))))
			tap_note("%s", nulls[i]);
	ok_int(json_integer_value(at(root, "requests.discard")), 0);
	ok_near(json_real_value(at(root, "response_time.read.total.mean_s")), 0.00125, 0);
	ok(json_is_null(json_object_get(
		json_array_get(at(root, "response_time.read.size_class"), 0), "count")));
	ok_int(json_integer_value(at(root, "response_time.write.total.count")), 0);
	ok_str(json_string_value(at(root, "quality.grade")), "D");
	json_decref(root);
	profile_init(&q);
	ok_int(profile_to_json(&p, PROFILE_JSON_LINE, &text), 0);
	ok_int(profile_from_json((char *)text.data, text.len, &q, NULL), 0);
	ok_eq(q.unknown, p.unknown);
	ok_near(profile_mean_s(&q.read.response, STAGE_TOTAL), 0.00125, 0);
	ok(isnan(profile_mean_s(&q.read.response, STAGE_DEVICE)));
	ok(isnan(profile_mean_s(&q.write.response, STAGE_TOTAL)));
	buf_release(&text);
	profile_release(&p);
	profile_release(&q);
}

static void details_stand_side_by_side(void)
{
	struct profile p;

	profile_init(&p);
	ok_int(profile_set_detail(&p, "dasd", "{\"total_pav\":3}"), 0);
	ok_int(profile_set_detail(&p, "zfcp", "{\"requests\":4}"), 0);
	ok_int(profile_set_detail(&p, "dasd", "{\"total_pav\":5}"), 0);
	ok_int(profile_set_detail(&p, "bad", "[1]"), -EINVAL);
	ok_str(p.source_detail, "{\"dasd\":{\"total_pav\":5},\"zfcp\":{\"requests\":4}}");
	profile_release(&p);
}

static void unknown_is_null(void)
{
	struct profile p;
	json_t *root;

	profile_init(&p);
	p.source = SOURCE_DISKSTATS;
	p.requests[OPERATION_READ] = 7;
	root = json_of(&p);
	ok(json_is_null(at(root, "response_time.read.total.count")));
	ok(json_is_null(at(root, "response_time.read.total.histogram")));
	ok(json_is_null(at(root, "request_size.read.histogram")));
	ok(json_is_null(at(root, "intensity.open.idc")));
	ok(json_is_null(at(root, "locality.distribution")));
	ok(json_is_null(at(root, "throughput.read_bytes_per_s")));
	/* No write was made: that is known, and it is none. */
	ok(json_is_integer(at(root, "response_time.write.total.count")));
	ok(json_is_array(at(root, "response_time.write.total.histogram")));
	ok(json_is_null(at(root, "response_time.write.total.p50_s")));
	json_decref(root);
	profile_release(&p);
}

static void copy_is_deep(void)
{
	struct profile p = example(), copy = { .source = 0 };
	json_t *want = json_of(&p), *got;

	ok_int(profile_copy(&copy, &p), 0);
	ok_int(profile_copy(&copy, &p), 0); /* over a filled one */
	profile_release(&p);
	got = json_of(&copy);
	ok(json_equal(want, got));
	json_decref(want);
	json_decref(got);
	profile_release(&copy);
}

static void names_need_not_be_utf8(void)
{
	struct profile p = example();
	json_t *root;

	snprintf(p.host, sizeof(p.host), "%s", "caf\xe9");
	root = json_of(&p);
	ok_str(json_string_value(at(root, "host")), "caf?");
	json_decref(root);
	profile_release(&p);
}

static void classes(void)
{
	ok_eq(size_class_of(0), 0);
	ok_eq(size_class_of(4096), 0);
	ok_eq(size_class_of(4097), 1);
	ok_eq(size_class_of(262144), 6);
	ok_eq(size_class_of(262145), 7);
	ok_eq(size_class_of(UINT32_MAX), 7);
	ok_str(stage_name(STAGE_TOTAL), "total");
	ok(!stage_name(NR_STAGES));
}

static void graded(struct profile *p, char want)
{
	profile_grade(p);
	if (!ok_eq((uint64_t)p->quality.grade, (uint64_t)want))
		tap_note("%c: %s", p->quality.grade, p->quality.why);
	ok(strlen(p->quality.why) > 10 && p->quality.why[strlen(p->quality.why) - 1] == '.');
}

static void grades(void)
{
	struct profile p = example();

	graded(&p, 'A');
	p.quality.coverage_ratio = 0.95;
	graded(&p, 'C');
	p.quality.coverage_ratio = NAN;
	graded(&p, 'C');
	p.quality.coverage_ratio = 1;
	p.lost = 100;
	graded(&p, 'B');
	ok_near(p.quality.lost_ratio, 100 / 25103.0, 1e-15);
	p.lost = 100000;
	graded(&p, 'E');
	p.lost = 0;
	p.end_s = p.begin_s + 1;
	graded(&p, 'B');
	p.requests[OPERATION_READ] = 300;
	p.requests[OPERATION_WRITE] = 0;
	graded(&p, 'C');
	p.requests[OPERATION_READ] = 0;
	graded(&p, 'E');
	profile_release(&p);
	p.source = SOURCE_DISKSTATS;
	p.quality.coverage_ratio = 1;
	p.begin_s = 0;
	p.end_s = 60;
	p.requests[OPERATION_READ] = 100000;
	graded(&p, 'D');
}

static int read_back(const struct profile *p, struct profile *q, enum profile_json_style style)
{
	struct buf out = { 0 };
	struct err err = { 0 };
	int ret;

	profile_to_json(p, style, &out);
	ret = profile_from_json((const char *)out.data, out.len, q, &err);
	if (ret)
		tap_note("%s", err.line);
	buf_release(&out);
	return ret;
}

static void round_trip(void)
{
	struct profile p = example(), q = { .source = 0 };
	json_t *want, *got;

	/* Numbers whose shortest form has 17 digits, and a sum past 64 bits. */
	p.open.rate_per_s = 0.1 + 0.2;
	p.open.interarrival_mean_s = 1e-9 / 3;
	p.closed.think_time_mean_s = -5e-324;
	p.read.response.stage[STAGE_QUEUE].sum_high = 5;
	want = json_of(&p);
	ok_int(read_back(&p, &q, PROFILE_JSON_LINE), 0);
	got = json_of(&q);
	ok(json_equal(want, got));
	json_decref(got);
	ok(q.open.rate_per_s == p.open.rate_per_s);
	ok(q.open.interarrival_mean_s == p.open.interarrival_mean_s);
	ok(isnan(q.open.idc[1].idc) && isnan(q.locality.file_count_mean));
	for (int i = 0; i < NR_STAGES; i++)
		ok(same_histogram(&p.read.response.stage[i], &q.read.response.stage[i]));
	ok_str(q.source_detail, "{\"merges\":12}");
	ok_int(read_back(&p, &q, PROFILE_JSON_PRETTY), 0);
	got = json_of(&q);
	ok(json_equal(want, got));
	json_decref(got);
	json_decref(want);
	profile_release(&p);
	profile_release(&q);
}

static void empty_round_trip(void)
{
	struct profile p, q;

	profile_init(&p);
	profile_init(&q);
	ok_int(read_back(&p, &q, PROFILE_JSON_LINE), 0);
	ok(isnan(q.begin_s) && isnan(q.read.size_mean_bytes) && !q.open.idc);
	p.source = SOURCE_DISKSTATS;
	p.requests[OPERATION_WRITE] = 9;
	ok_int(read_back(&p, &q, PROFILE_JSON_LINE), 0);
	ok_eq(q.requests[OPERATION_WRITE], 9);
	ok_eq(q.write.response.stage[STAGE_TOTAL].nr, 0);
}

/* The error when the value at path is replaced by JSON text, or taken away where that is NULL. */
static void refuses(const char *path, const char *with, const char *want)
{
	struct profile p = example(), q = { .source = 0 };
	json_t *root = json_of(&p), *parent = root;
	const char *key = path, *dot;
	struct err err = { 0 };
	char *text;

	for (; (dot = strchr(key, '.')); key = dot + 1)
		parent = json_object_getn(parent, key, (size_t)(dot - key));
	if (with)
		json_object_set_new(parent, key, json_loads(with, JSON_DECODE_ANY, NULL));
	else
		json_object_del(parent, key);
	text = json_dumps(root, 0);
	ok_int(profile_from_json(text, strlen(text), &q, &err), -EINVAL);
	ok_str(err.line, want);
	ok(!q.host[0] && !q.open.idc);
	free(text);
	json_decref(root);
	profile_release(&p);
}

static void errors_name_the_path(void)
{
	refuses("schema", "\"blkcast.profile/9\"",
		"schema: expected \"blkcast.profile/1\", got \"blkcast.profile/9\"");
	refuses("host", NULL, "host: expected it, but it is missing");
	refuses("requests.read", "-1",
		"requests.read: expected a whole number of 0 or more, and not too large");
	refuses("requests.read", "1.5",
		"requests.read: expected a whole number of 0 or more, and not too large");
	refuses("end_s", "5", "end_s: expected a time after begin_s");
	refuses("begin_s", "-1", "begin_s: expected seconds since 1970, not below 0");
	refuses("end_s", "1e300", "end_s: expected seconds since 1970, below 18446744073");
	refuses("quality.lost_ratio", "1.5", "quality.lost_ratio: expected a number of 0 to 1");
	refuses("source", "\"magic\"", "source: expected one of the names that the format knows");
	refuses("intensity.open.idc", "[[1, 2], [3]]",
		"intensity.open.idc[1]: expected an array of two values");
	refuses("response_time.read.total.count", "4",
		"response_time.read.total.count: expected the sum of the histogram");
	refuses("response_time.read.total.max_s", "4",
		"response_time.read.total.max_s: expected a duration in the last bucket of the "
		"histogram");
	refuses("response_time.write.queue.histogram", "[[0, 1], [0, 1]]",
		"response_time.write.queue.histogram[1]: expected buckets of the grid in ascending "
		"order");
	refuses("response_time.write.queue.histogram", "[[449, 1]]",
		"response_time.write.queue.histogram[0]: expected buckets of the grid in ascending "
		"order");
	refuses("locality.distribution.kind", "\"cauchy\"",
		"locality.distribution.kind: expected one of the names that the format knows");
	refuses("request_size.read.histogram", "[[8, 1], [4, 1]]",
		"request_size.read.histogram[1]: expected sizes in ascending order");
}

static void not_json(void)
{
	struct profile q = { .source = 0 };
	struct err err = { 0 };

	ok_int(profile_from_json("{\"a\": 1,}", 9, &q, &err), -EINVAL);
	ok(!strncmp(err.line, "profile: line 1, column 9", 25));
	ok_int(profile_from_json("{\"a\": 1, \"a\": 2}", 16, &q, &err), -EINVAL);
	ok_int(profile_from_json("[]", 2, &q, &err), -EINVAL);
	ok_int(profile_from_json("", 0, &q, NULL), -EINVAL);
}

/* What another tool may leave out: the additional keys. */
static void additional_keys_are_optional(void)
{
	static const char *const keys[] = {
		"errors",	"requeues", "bytes", "own_requests", "kernel_thread_requests",
		"source_detail"
	};
	struct profile p = example(), q = { .source = 0 };
	json_t *root = json_of(&p), *total;
	struct err err = { 0 };
	char *text;

	for (size_t i = 0; i < TAP_NR(keys); i++)
		json_object_del(root, keys[i]);
	total = (json_t *)at(root, "response_time.read.total");
	json_object_del(total, "sum_s");
	json_object_del(total, "min_s");
	json_object_set_new(root, "some_day", json_true());
	text = json_dumps(root, 0);
	if (!ok_int(profile_from_json(text, strlen(text), &q, &err), 0))
		tap_note("%s", err.line);
	ok_eq(q.errors, 0);
	ok_near(histogram_mean_s(&q.read.response.stage[STAGE_TOTAL]),
		histogram_mean_s(&p.read.response.stage[STAGE_TOTAL]), 1e-12);
	ok_near((double)q.read.response.stage[STAGE_TOTAL].min_ns, 90000, 90000 * 0.022);
	free(text);
	json_decref(root);
	profile_release(&p);
	profile_release(&q);
}

static void german(void)
{
	char dir[] = "/tmp/blkcast-locale.XXXXXX", command[256];

	if (!mkdtemp(dir))
		tap_skip("locales", "no folder for a locale");
	snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
		 dir);
	setenv("LOCPATH", dir, 1);
	if (system(command) || !setlocale(LC_ALL, "de_DE.UTF-8")) {
		snprintf(command, sizeof(command), "rm -rf %s", dir);
		if (system(command))
			tap_note("%s stays", dir);
		tap_skip("locales", "no German locale can be made");
	}
	ok_str(localeconv()->decimal_point, ",");
	round_trip();
	setlocale(LC_ALL, "C");
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ok_int(system(command), 0);
}

static const struct tap_test tests[] = {
	{ "every key of the contract is there, whatever is known", contract_keys },
	{ "values are SI and derived ones agree", values },
	{ "what the source cannot know is null and what did not happen is zero", unknown_is_null },
	{ "a copy owns all it holds", copy_is_deep },
	{ "a name that is not UTF-8 is still written", names_need_not_be_utf8 },
	{ "a profile read back is the same to the last bit", round_trip },
	{ "a profile of nothing and one of counters come back", empty_round_trip },
	{ "an error names the path of the field", errors_name_the_path },
	{ "what is no JSON is refused with its place", not_json },
	{ "additional keys may be missing and unknown ones are ignored",
	  additional_keys_are_optional },
	{ "a locale with a decimal comma changes nothing", german },
	{ "size classes end where they say", classes },
	{ "the grade is the worst of what is known", grades },
	{ "counters leave null what only requests tell, and it is read back",
	  counters_leave_nulls },
	{ "details of several sources stand side by side", details_stand_side_by_side },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
