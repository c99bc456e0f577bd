/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile.h"
#include "tests/tap.h"

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
		snprintf(key, sizeof(key), "%.*s", (int)strcspn(path, "."), path);
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

static const struct tap_test tests[] = {
	{ "every key of the contract is there, whatever is known", contract_keys },
	{ "values are SI and derived ones agree", values },
	{ "what the source cannot know is null and what did not happen is zero", unknown_is_null },
	{ "a copy owns all it holds", copy_is_deep },
	{ "a name that is not UTF-8 is still written", names_need_not_be_utf8 },
	{ "size classes end where they say", classes },
	{ "the grade is the worst of what is known", grades },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
