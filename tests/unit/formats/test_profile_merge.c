/* SPDX-License-Identifier: Apache-2.0 */
/* Merged profiles against the window that saw all requests, and summaries through their file. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "formats/profile/profile_merge.h"
#include "formats/summary/segment_summary.h"
#include "tests/literal/slow_stream.h"
#include "tests/support/same_histogram.h"
#include "tests/support/tap.h"
#include "workload/window.h"

#define SECOND	  1000000000ull
#define NR	  20000
#define NR_PARTS  5
#define TOLERANCE 1e-12 /* of means: a sum of a handful of products of doubles */

static const struct window_config defaults;

static bool near(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= TOLERANCE * fabs(b);
}

static struct window *window_of(const struct request *r, size_t nr, uint64_t begin_ns)
{
	struct window *w = NULL;

	if (window_new(&w, &defaults, begin_ns) || window_add_many(w, r, nr))
		abort();
	return w;
}

static void describe(struct profile *p, uint64_t begin_ns, uint64_t end_ns)
{
	snprintf(p->host, sizeof(p->host), "%s", "h");
	snprintf(p->device, sizeof(p->device), "%s", "8:0");
	snprintf(p->device_name, sizeof(p->device_name), "%s", "sda");
	p->source = SOURCE_BPF;
	p->begin_s = (double)begin_ns / 1e9;
	p->end_s = (double)end_ns / 1e9;
	p->quality.coverage_ratio = 1;
	profile_grade(p);
}

/* Through the text, as files hold it. */
static void again(struct profile *p)
{
	struct err err = { 0 };
	struct buf text;

	buf_init(&text);
	if (profile_to_json(p, PROFILE_JSON_LINE, &text) < 0)
		abort();
	profile_release(p);
	if (!ok_int(profile_from_json((const char *)text.data, text.len, p, &err), 0))
		tap_note("%s", err.line);
	buf_release(&text);
}

static void check_direction(const struct direction_profile *a, const struct direction_profile *b)
{
	ok_eq(a->nr_sizes, b->nr_sizes);
	for (size_t i = 0; i < a->nr_sizes && i < b->nr_sizes; i++)
		ok(a->sizes[i].bytes == b->sizes[i].bytes &&
		   a->sizes[i].count == b->sizes[i].count);
	ok_eq(a->other_sizes, b->other_sizes);
	ok(near(a->size_mean_bytes, b->size_mean_bytes));
	for (int i = 0; i < NR_STAGES; i++)
		ok(same_histogram(&a->response.stage[i], &b->response.stage[i]));
	for (int i = 0; i < NR_SIZE_CLASSES; i++)
		ok(same_histogram(&a->response.size_class[i], &b->response.size_class[i]));
}

static void check_exact(const struct profile *a, const struct profile *b)
{
	for (int op = 0; op < NR_OPERATIONS; op++) {
		ok_eq(a->requests[op], b->requests[op]);
		ok_eq(a->bytes[op], b->bytes[op]);
	}
	ok_eq(a->errors, b->errors);
	ok_eq(a->requeues, b->requeues);
	ok_eq(a->kernel_thread_requests, b->kernel_thread_requests);
	ok(a->begin_s == b->begin_s && a->end_s == b->end_s);
	ok(near(a->open.rate_per_s, b->open.rate_per_s));
	ok(near(a->closed.in_flight_mean, b->closed.in_flight_mean));
	check_direction(&a->read, &b->read);
	check_direction(&a->write, &b->write);
	ok_eq(a->flush.stage[STAGE_TOTAL].nr, a->requests[OPERATION_FLUSH]);
	for (int i = 0; i < NR_STAGES; i++)
		ok(same_histogram(&a->flush.stage[i], &b->flush.stage[i]));
	ok(near(a->quality.coverage_ratio, b->quality.coverage_ratio));
}

static void check_unknown(const struct profile *p)
{
	ok(isnan(p->closed.think_time_mean_s) && isnan(p->open.interarrival_mean_s) &&
	   isnan(p->open.interarrival_scv) && isnan(p->open.lag1_autocorrelation));
	ok_eq(p->open.nr_idc, 0);
	ok(isnan(p->locality.footprint_bytes));
	ok_eq(p->locality.nr_miss_ratio, 0);
	ok_int(p->locality.distribution.kind, DISTRIBUTION_UNKNOWN);
}

struct parts {
	struct request *r;
	struct window *whole;
	struct profile of_whole, of_part[NR_PARTS];
};

static void parts_make(struct parts *all, double mean_gap_ns)
{
	uint64_t begin_ns = 5 * SECOND, end_ns;

	*all = (struct parts){ .r = malloc(NR * sizeof(struct request)) };
	if (!all->r)
		abort();
	slow_mixed(all->r, NR, 7, begin_ns, mean_gap_ns);
	end_ns = all->r[NR - 1].arrival_ns + SECOND;
	all->whole = window_of(all->r, NR, begin_ns);
	profile_init(&all->of_whole);
	ok_int(window_profile(all->whole, end_ns, &all->of_whole), 0);
	describe(&all->of_whole, begin_ns, end_ns);
	for (size_t i = 0; i < NR_PARTS; i++) {
		size_t from = i * i * NR / 25, to = (i + 1) * (i + 1) * NR / 25;
		uint64_t until = i + 1 < NR_PARTS ? all->r[to].arrival_ns : end_ns;
		struct window *w = window_of(all->r + from, to - from, begin_ns);

		profile_init(&all->of_part[i]);
		ok_int(window_profile(w, until, &all->of_part[i]), 0);
		describe(&all->of_part[i], begin_ns, until);
		again(&all->of_part[i]);
		begin_ns = until;
		window_free(w);
	}
}

static void parts_release(struct parts *all)
{
	window_free(all->whole);
	profile_release(&all->of_whole);
	for (size_t i = 0; i < NR_PARTS; i++)
		profile_release(&all->of_part[i]);
	free(all->r);
}

/* Every ratio of a pattern is weighted by the requests that it is of. */
static void check_patterns(const struct profile *sum, const struct parts *all)
{
	double counted = 0, clients_s = 0, nr = 0, streaming = 0, continuing = 0;
	double writes = 0, reads = 0;

	for (size_t i = 0; i < NR_PARTS; i++) {
		const struct profile *p = &all->of_part[i];

		counted += p->all_sequential_ratio * (double)profile_data_requests(p);
		nr += (double)profile_data_requests(p);
		streaming += p->write.stream_ratio * (double)p->requests[OPERATION_WRITE];
		writes += (double)p->requests[OPERATION_WRITE];
		continuing += p->read.continuing_ratio * (double)p->requests[OPERATION_READ];
		reads += (double)p->requests[OPERATION_READ];
		clients_s += p->closed.clients_mean * (p->end_s - p->begin_s);
	}
	ok(near(sum->all_sequential_ratio, counted / nr));
	ok(near(sum->closed.clients_mean, clients_s / (sum->end_s - sum->begin_s)));
	ok(near(sum->write.stream_ratio, streaming / writes));
	ok(near(sum->read.continuing_ratio, continuing / reads));
}

static void merged_is_what_the_whole_answers(void)
{
	static const int orders[][NR_PARTS] = { { 0, 1, 2, 3, 4 },
						{ 4, 3, 2, 1, 0 },
						{ 2, 1, 3, 0, 4 } };
	struct parts all;

	parts_make(&all, 50000);
	for (size_t k = 0; k < TAP_NR(orders); k++) {
		struct profile sum;

		profile_init(&sum);
		ok_int(profile_copy(&sum, &all.of_part[orders[k][0]]), 0);
		for (size_t i = 1; i < NR_PARTS; i++)
			ok_int(profile_merge(&sum, &all.of_part[orders[k][i]]), 0);
		again(&sum);
		check_exact(&sum, &all.of_whole);
		check_unknown(&sum);
		check_patterns(&sum, &all);
		for (double p = 0.5; p < 1; p += 0.09)
			ok(histogram_quantile_s(&sum.read.response.stage[STAGE_TOTAL], p) ==
			   histogram_quantile_s(&all.of_whole.read.response.stage[STAGE_TOTAL], p));
		profile_release(&sum);
	}
	parts_release(&all);
}

static void gaps_are_not_watched(void)
{
	struct parts all;
	struct profile sum;

	parts_make(&all, 50000);
	profile_init(&sum);
	ok_int(profile_copy(&sum, &all.of_part[0]), 0);
	all.of_part[1].begin_s += 1e6;
	all.of_part[1].end_s += 1e6;
	ok_int(profile_merge(&sum, &all.of_part[1]), 0);
	ok(sum.quality.coverage_ratio < 1e-5 && sum.quality.coverage_ratio > 0);
	ok_int(sum.quality.grade, 'E');
	sum.quality.coverage_ratio = NAN;
	ok_int(profile_merge(&sum, &all.of_part[2]), 0);
	ok(isnan(sum.quality.coverage_ratio));
	profile_release(&sum);
	parts_release(&all);
}

static void undivided_makes_all_so(void)
{
	struct parts all;
	struct profile sum;
	uint64_t nr;

	parts_make(&all, 50000);
	for (int k = 0; k < 2; k++) {
		const struct profile *divided = &all.of_part[3];
		struct profile other;

		profile_init(&other);
		profile_init(&sum);
		ok_int(profile_copy(&other, &all.of_part[4]), 0);
		profile_undivide(&other);
		ok_int(profile_copy(&sum, k ? divided : &other), 0);
		ok_int(profile_merge(&sum, k ? &other : divided), 0);
		nr = other.requests[OPERATION_OTHER];
		for (int op = 0; op < NR_OPERATIONS; op++)
			nr += divided->requests[op];
		ok_eq(sum.requests[OPERATION_OTHER], nr);
		ok(profile_is_undivided(&sum));
		ok_eq(sum.read.nr_sizes, 0);
		profile_release(&other);
		profile_release(&sum);
	}
	parts_release(&all);
}

static void summary_of(struct summary *s, const struct parts *all, uint64_t part)
{
	struct loss loss = { .cause = LOSS_SHED,
			     .count_known = true,
			     .count = part + 1,
			     .begin_real_ns = part * SECOND,
			     .end_real_ns = part * SECOND + 5,
			     .device = 8 << 20 };
	struct summary_device *d;

	summary_init(s);
	snprintf(s->host, sizeof(s->host), "%s", "h");
	snprintf(s->boot_id, sizeof(s->boot_id), "%s", "b");
	s->epoch = 9;
	s->generation = part + 1;
	s->source = SOURCE_BPF;
	s->begin = (struct clock_anchor){ part, part, part * SECOND };
	s->end = (struct clock_anchor){ part + 1, part + 1, (part + 1) * SECOND };
	s->first_real_ns = part * SECOND + 1;
	s->last_real_ns = part * SECOND + 9;
	s->segment_bytes = 100;
	s->members = calloc(1, sizeof(*s->members));
	s->members[0].sequence = part;
	s->members[0].hash.bytes[3] = (uint8_t)(part + 1);
	s->nr_members = 1;
	d = summary_device(s, 8 << 20, "sda");
	for (int op = 0; op < NR_OPERATIONS; op++) {
		d->requests[op] = all->of_part[part].requests[op];
		s->nr_requests += d->requests[op];
	}
	s->nr_captured = s->nr_requests + part + 1;
	ok_int(ledger_add(&s->ledger, &loss), 0);
	ok_int(summary_add_profile(s, &all->of_part[part]), 0);
}

static void write_and_read(struct summary *s, struct buf *file)
{
	struct err err = { 0 };

	buf_clear(file);
	ok_int(summary_write(s, file), 0);
	summary_release(s);
	if (!ok_int(summary_read(s, file->data, file->len, &err), 0))
		tap_note("%s", err.line);
}

static void summary_of_all(struct summary *sum, const struct parts *all, struct buf *file)
{
	summary_init(sum);
	for (uint64_t i = NR_PARTS; i-- > 0;) { /* the order of their coming does not matter */
		struct summary one;

		summary_of(&one, all, i);
		write_and_read(&one, file);
		ok_int(summary_merge(sum, &one), 0);
		summary_release(&one);
		write_and_read(sum, file);
	}
}

static void summaries_balance(void)
{
	struct parts all;
	struct summary sum, one;
	struct buf file;

	buf_init(&file);
	parts_make(&all, 50000);
	summary_of_all(&sum, &all, &file);
	ok_eq(sum.nr_requests, NR);
	ok_eq(sum.nr_captured, NR + 15);
	ok_eq(ledger_sum(&sum.ledger), 15);
	ok_eq(sum.ledger.nr, NR_PARTS);
	ok_eq(sum.segment_bytes, 500);
	ok_eq(sum.generation, NR_PARTS);
	ok_eq(sum.nr_members, NR_PARTS);
	ok(sum.begin.realtime_ns == 0 && sum.end.realtime_ns == 5 * SECOND);
	ok(sum.first_real_ns == 1 && sum.last_real_ns == 4 * SECOND + 9);
	ok(summary_find(&sum, 3) && summary_find(&sum, 3)->hash.bytes[3] == 4);
	ok(!summary_find(&sum, 5));
	ok_eq(sum.nr_profiles, 1);
	check_exact(&sum.profiles[0], &all.of_whole);
	summary_of(&one, &all, 2);
	ok_int(summary_merge(&sum, &one), -EEXIST);
	summary_release(&one);
	summary_release(&sum);
	parts_release(&all);
	buf_release(&file);
}

static void dropped_are_counted(void)
{
	struct parts all;
	struct summary sum, one;
	struct buf file;

	buf_init(&file);
	parts_make(&all, 50000);
	summary_of_all(&sum, &all, &file);
	summary_drop_profiles(&sum);
	summary_drop_profiles(&sum);
	write_and_read(&sum, &file);
	ok_eq(sum.nr_dropped, NR);
	ok_eq(sum.nr_requests, NR);
	ok_eq(sum.nr_profiles, 0);
	ok(sum.dropped_begin_real_ns == 1 && sum.dropped_end_real_ns == 4 * SECOND + 9);
	/* A late one beside what was dropped. */
	summary_of(&one, &all, 2);
	one.members[0].sequence = 77;
	ok_int(summary_merge(&sum, &one), 0);
	write_and_read(&sum, &file);
	ok_eq(sum.nr_dropped, NR);
	ok_eq(sum.nr_requests, NR + one.nr_requests);
	summary_drop_profiles(&sum);
	ok_eq(sum.nr_dropped, NR + one.nr_requests);
	summary_release(&one);
	summary_release(&sum);
	parts_release(&all);
	buf_release(&file);
}

/* What a reader would take for less than nothing is not written. */
static void what_does_not_fit_is_not_written(void)
{
	const uint64_t beyond = 1ull << 63;
	struct parts all;
	struct summary s, other;
	struct buf file;

	buf_init(&file);
	parts_make(&all, 50000);
	summary_of(&s, &all, 0);
	s.members[0].sequence = beyond;
	ok_int(summary_write(&s, &file), -EINVAL);
	s.members[0].sequence = beyond - 1;
	s.devices[0].bytes[OPERATION_WRITE] = beyond;
	ok_int(summary_write(&s, &file), -EINVAL);
	s.devices[0].bytes[OPERATION_WRITE] = beyond - 1;
	ok_int(file.len, 0);
	write_and_read(&s, &file);
	ok(summary_find(&s, beyond - 1) != NULL);
	ok_eq(s.devices[0].bytes[OPERATION_WRITE], beyond - 1);
	/* What headers claim ends at the highest, and can be written. */
	s.nr_captured = beyond - 2;
	summary_of(&other, &all, 1);
	ok_int(summary_merge(&other, &s), 0);
	ok_eq(other.nr_captured, beyond - 1);
	summary_release(&other);
	summary_release(&s);
	parts_release(&all);
	buf_release(&file);
}

/* The checksum is right and the content is not: the line says where. */
static void wrong_content_is_named(void)
{
	struct parts all;
	struct summary s;
	struct buf file;
	struct err err = { 0 };

	buf_init(&file);
	parts_make(&all, 50000);
	summary_of(&s, &all, 0);
	s.ledger.losses[0].begin_real_ns = 6;
	ok_int(summary_write(&s, &file), 0);
	summary_release(&s);
	ok_int(summary_read(&s, file.data, file.len, &err), -EBADMSG);
	ok_str(err.line, "losses: expected an end that is not before the begin");
	buf_clear(&file);
	summary_of(&s, &all, 0);
	s.profiles[0].end_s = s.profiles[0].begin_s - 1;
	ok_int(summary_write(&s, &file), 0);
	summary_release(&s);
	ok_int(summary_read(&s, file.data, file.len, &err), -EBADMSG);
	ok(!strncmp(err.line, "profiles: 0: ", 13) && strstr(err.line, "expected"));
	tap_note("%s", err.line);
	parts_release(&all);
	buf_release(&file);
}

#define PREFIX_BYTES 24 /* formats/summary/segment_summary.md; the checksum is the last of it */

/* Puts to in place of the first from in the text of a summary's file, which is sound otherwise. */
static void forge(struct buf *file, const char *from, const char *to)
{
	const uint8_t *packed = file->data + PREFIX_BYTES;
	size_t size = (size_t)ZSTD_getFrameContentSize(packed, file->len - PREFIX_BYTES), rest;
	char *text = malloc(size + strlen(to) + 1), *at;
	struct buf made;

	if (!text || ZSTD_decompress(text, size, packed, file->len - PREFIX_BYTES) != size)
		abort();
	text[size] = 0;
	at = strstr(text, from);
	if (!at)
		abort();
	rest = size - (size_t)(at - text) - strlen(from);
	memmove(at + strlen(to), at + strlen(from), rest);
	memcpy(at, to, strlen(to));
	size += strlen(to) - strlen(from);
	buf_init(&made);
	if (buf_reserve(&made, ZSTD_compressBound(size)))
		abort();
	made.len = ZSTD_compress(made.data, ZSTD_compressBound(size), text, size, 3);
	file->len = PREFIX_BYTES - 12;
	if (buf_put_le32(file, (uint32_t)(PREFIX_BYTES + made.len)) ||
	    buf_put_le64(file, XXH3_64bits(made.data, made.len)) ||
	    buf_put(file, made.data, made.len))
		abort();
	buf_release(&made);
	free(text);
}

/* Likewise in what other programs wrote, whose numbers may be any. */
static void forged_content_is_named(void)
{
	static const struct {
		const char *from, *to, *line;
	} all[] = {
		{ "5,8388608]", "5,4294967295]", NULL },
		{ "5,8388608]", "5,4303355904]", "losses: expected a device number below 2^32" },
		{ "[8388608,\"sda\"", "[4303355904,\"sda\"",
		  "devices: expected a device number below 2^32" },
		{ "\"epoch\":9", "\"epoch\":-9", "epoch: expected a whole number of 0 or more" },
		{ "\"shed\"", "\"shade\"", "losses: expected a cause that this version knows" },
		{ "\"host\":\"", "\"host\":\"x", "profiles: expected the host of the summary" },
		{ "{\"schema\"", "{\"epoch\":9,\"schema\"", "epoch: expected it once" },
		{ "\"losses\":[", "\"losses\":[],\"losses\":[", "losses: expected it once" },
		{ "\"devices\":[", "\"devices\":[[9999999,\"z\",1,[0,0,0,0,0],[0,0,0,0,0]],",
		  "devices: expected ascending numbers and names" },
		{ "\"dropped\":{\"requests\":0", "\"dropped\":{\"requests\":1",
		  "profiles: expected as many requests as were not dropped" },
	};
	struct parts parts;
	struct buf file;

	buf_init(&file);
	parts_make(&parts, 50000);
	for (size_t i = 0; i < TAP_NR(all); i++) {
		struct err err = { 0 };
		struct summary s;

		buf_clear(&file);
		summary_of(&s, &parts, 0);
		ok_int(summary_write(&s, &file), 0);
		summary_release(&s);
		forge(&file, all[i].from, all[i].to);
		ok_int(summary_read(&s, file.data, file.len, &err), all[i].line ? -EBADMSG : 0);
		ok_str(err.line, all[i].line ? all[i].line : "");
		summary_release(&s);
	}
	parts_release(&parts);
	buf_release(&file);
}

static void damage_is_refused(void)
{
	struct parts all;
	struct summary s;
	struct buf file;
	uint64_t nr_taken = 0;
	struct err err = { 0 };

	buf_init(&file);
	parts_make(&all, 50000);
	summary_of(&s, &all, 0);
	write_and_read(&s, &file);
	summary_release(&s);
	for (size_t len = 0; len < file.len; len++)
		nr_taken += summary_read(&s, file.data, len, &err) == 0;
	ok_eq(nr_taken, 0);
	for (size_t bit = 0; bit < 8 * file.len; bit++) {
		file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		nr_taken += summary_read(&s, file.data, file.len, &err) == 0;
		file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	ok_eq(nr_taken, 0);
	file.data[8] = 2;
	ok_int(summary_read(&s, file.data, file.len, &err), -EPROTONOSUPPORT);
	ok_str(err.line, "version: expected 1, got 2");
	parts_release(&all);
	buf_release(&file);
}

/* Numbers and names in an order that is none, and all of them once more. */
static void devices_are_in_order(void)
{
	struct summary s;
	size_t in_order = 0;

	summary_init(&s);
	for (uint32_t i = 0; i < 400; i++) {
		char name[2] = { (char)('a' + i % 2), 0 };
		struct summary_device *d = summary_device(&s, i * 37 % 100, name);

		if (!ok(d && d->device == i * 37 % 100 && !strcmp(d->name, name)))
			break;
	}
	for (size_t i = 1; i < s.nr_devices; i++) {
		const struct summary_device *a = &s.devices[i - 1], *b = &s.devices[i];

		in_order += a->device < b->device ||
			    (a->device == b->device && strcmp(a->name, b->name) < 0);
	}
	ok_eq(s.nr_devices, 100);
	ok_eq(in_order, 99);
	summary_release(&s);
}

static const struct tap_test tests[] = {
	{ "devices of a summary are in order, each of them once", devices_are_in_order },
	{ "a merged profile is what the whole answers, in any order",
	  merged_is_what_the_whole_answers },
	{ "a gap between periods is not watched", gaps_are_not_watched },
	{ "a period whose operations are unknown makes all so", undivided_makes_all_so },
	{ "merged summaries balance", summaries_balance },
	{ "dropped requests are counted with their interval", dropped_are_counted },
	{ "a number that the format cannot hold is not written", what_does_not_fit_is_not_written },
	{ "content that is wrong is named", wrong_content_is_named },
	{ "so is what another program wrote", forged_content_is_named },
	{ "every flipped bit and every truncation is refused", damage_is_refused },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
