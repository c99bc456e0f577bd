/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "formats/segment/segment.h"
#include "tests/support/traffic.h"
#include "tests/support/tap.h"

static struct segment_header plain_header(void)
{
	struct segment_header h = { .host = "web1", .source = SOURCE_BPF, .sequence = 7 };

	h.begin = (struct clock_anchor){ 1, 2, 3 };
	h.end = (struct clock_anchor){ 4, 5, 6 };
	return h;
}

/* One segment of nr requests, appended. */
static void encode(const struct request *r, size_t nr, const struct segment_header *h,
		   struct buf *out)
{
	struct segment_writer *w = NULL;

	ok_int(segment_writer_new(&w), 0);
	for (size_t i = 0; i < nr; i++)
		if (segment_writer_add(w, &r[i]))
			ok_int((int64_t)i, -1);
	ok_eq(segment_writer_count(w), nr);
	ok_int(segment_writer_finish(w, h, out), 0);
	ok_eq(segment_writer_count(w), 0);
	segment_writer_free(w);
}

static void same_requests(struct segment_reader *s, const struct request *want, size_t nr,
			  size_t step)
{
	struct request *got = calloc(step, sizeof(*got));
	size_t at = 0, wrong = 0;
	int64_t n;

	ok_eq(segment_reader_count(s), nr);
	while ((n = segment_reader_next(s, got, step)) > 0)
		for (int64_t i = 0; i < n; i++, at++)
			wrong += at >= nr || memcmp(&got[i], &want[at], sizeof(*got));
	ok_int(n, 0);
	ok_eq(at, nr);
	ok_eq(wrong, 0);
	free(got);
}

/* What a device and operation have in totals. */
static struct segment_kind total_of(const struct segment_totals *t, uint32_t device,
				    unsigned int operation)
{
	struct segment_kind sum = { 0 };

	for (size_t i = 0; i < t->nr_kinds; i++) {
		if (t->kinds[i].device != device || t->kinds[i].operation != operation)
			continue;
		sum.requests += t->kinds[i].requests;
		sum.bytes += t->kinds[i].bytes;
	}
	return sum;
}

/* Against adding up the requests one by one; with a reader that has read them before. */
static void same_totals(struct segment_reader *s, const struct buf *segment,
			const struct request *r, size_t nr)
{
	uint64_t first = nr ? UINT64_MAX : 0, last = 0, requests = 0;
	struct segment_totals t = { 0 };
	struct request left;

	ok_int(segment_reader_again(s, segment->data, segment->len, NULL), 0);
	ok_int(segment_reader_total(s, &t), 0);
	ok_int(segment_reader_next(s, &left, 1), 0);
	for (size_t i = 0; i < nr; i++) {
		struct segment_kind want = { 0 }, got;

		first = r[i].arrival_ns < first ? r[i].arrival_ns : first;
		last = r[i].completion_ns > last ? r[i].completion_ns : last;
		if (i >= 8) /* devices and operations of the first few, for the time it takes */
			continue;
		for (size_t k = 0; k < nr; k++) {
			bool counts =
				r[k].device == r[i].device && r[k].operation == r[i].operation;

			want.requests += counts;
			want.bytes += counts ? r[k].bytes : 0;
		}
		got = total_of(&t, r[i].device, r[i].operation);
		ok_eq(got.requests, want.requests);
		ok_eq(got.bytes, want.bytes);
	}
	for (size_t i = 0; i < t.nr_kinds; i++)
		requests += t.kinds[i].requests;
	ok_eq(requests, nr);
	ok_eq(t.first_arrival_ns, first);
	ok_eq(t.last_completion_ns, last);
	segment_totals_release(&t);
}

static void round_trip(const struct request *r, size_t nr, size_t step)
{
	struct segment_header h = plain_header();
	struct segment_reader *s = NULL;
	struct buf out = { 0 };
	struct err err = { 0 };

	encode(r, nr, &h, &out);
	ok_int(segment_length(out.data, out.len), (int64_t)out.len);
	if (ok_int(segment_reader_new(&s, out.data, out.len, &err), 0)) {
		same_requests(s, r, nr, step);
		same_totals(s, &out, r, nr);
		segment_reader_again(s, out.data, out.len, NULL);
		same_requests(s, r, nr, step);
	} else {
		tap_note("%s", err.line);
	}
	if (nr)
		tap_note("%zu requests, %.2f bytes each", nr, (double)out.len / (double)nr);
	segment_reader_free(s);
	buf_release(&out);
}

static void traffic_survives(void)
{
	static const size_t sizes[] = { 0, 1, 2, 7, 255, 256, 257, 5000, SEGMENT_MAX_REQUESTS };
	struct request *r = calloc(SEGMENT_MAX_REQUESTS, sizeof(*r));
	struct traffic t = { 1 };

	for (size_t i = 0; i < TAP_NR(sizes); i++) {
		traffic_random_4k(&t, r, sizes[i], 1 << 29);
		round_trip(r, sizes[i], 100);
		traffic_sequential(&t, r, sizes[i], 8);
		round_trip(r, sizes[i], 1000);
	}
	free(r);
}

static void anything_survives(void)
{
	static const size_t sizes[] = { 1, 2, 100, 300, 20000 };
	struct request *r = calloc(20000, sizeof(*r));
	struct traffic t = { 2 };

	for (size_t i = 0; i < TAP_NR(sizes); i++) {
		traffic_anything(&t, r, sizes[i]);
		for (size_t k = 0; k < sizes[i]; k++)
			if (r[k].operation == OPERATION_OTHER && r[k].tid & 1)
				r[k].flags |= REQUEST_NO_OPERATION;
		round_trip(r, sizes[i], 777);
	}
	free(r);
}

static void edges_survive(void)
{
	struct request r[600] = { { .bytes = 0 } };

	r[1].arrival_ns = r[1].dispatch_ns = r[1].completion_ns = TRACE_TIME_MAX_NS;
	r[2].completion_ns = TRACE_TIME_MAX_NS;
	r[3].dispatch_ns = r[3].completion_ns = TRACE_TIME_MAX_NS;
	r[4].sector = REQUEST_END_SECTOR_MAX - REQUEST_MAX_DATA_BYTES / SECTOR_BYTES;
	r[4].bytes = REQUEST_MAX_DATA_BYTES;
	r[5].sector = 6;
	r[6].cgroup_id = UINT64_MAX;
	r[6].tid = r[6].pid = r[6].device = r[6].queue_depth = UINT32_MAX;
	r[7].error = r[7].requeues = UINT16_MAX;
	r[7].flags = REQUEST_FLAGS_ALL;
	r[7].operation = OPERATION_OTHER;
	r[8].arrival_ns = 0;
	r[8].dispatch_ns = r[8].completion_ns = TRACE_TIME_MAX_NS / 2;
	r[9].operation = OPERATION_DISCARD;
	r[9].bytes = REQUEST_MAX_BYTES;
	for (uint32_t i = 10; i < 600; i++)
		r[i].tid = i; /* more than 256 issuers */
	round_trip(r, 10, 3);
	round_trip(r, 600, 64);
}

static void header_survives(void)
{
	static const struct segment_device devices[] = { { 7 << 20, 1 << 30, "loop0", "" },
							 { UINT32_MAX, 1ull << 63, "", "" } };
	static const struct segment_process processes[] = { { 1, "init" }, { 77, "a[b] \xe9+c" } };
	static const struct segment_cgroup cgroups[] = { { 1, "/" },
							 { UINT64_MAX, "/system.slice" } };
	static const char *const profiles[] = { "{\"schema\":\"blkcast.profile/1\"}", "" };
	struct segment_header h = plain_header();
	const struct segment_header *got;
	struct segment_reader *s = NULL;
	struct ledger ledger = { 0 };
	struct buf out = { 0 };

	ledger_add(&ledger, &(struct loss){ LOSS_RING_FULL, true, 12, 100, 200, 5 });
	ledger_add(&ledger, &(struct loss){ LOSS_NOT_WATCHED, false, 0, 1, 2, 0 });
	h.epoch = UINT64_MAX;
	h.nr_captured = 1234567;
	snprintf(h.boot_id, sizeof(h.boot_id), "b0075e75-0000-4000-8000-000000000000");
	snprintf(h.agent_version, sizeof(h.agent_version), "0.1.0");
	h.layer = LAYER_QUEUE;
	h.devices = devices, h.nr_devices = 2;
	h.processes = processes, h.nr_processes = 2;
	h.cgroups = cgroups, h.nr_cgroups = 2;
	h.profiles = profiles, h.nr_profiles = 2;
	h.ledger = &ledger;
	encode(NULL, 0, &h, &out);
	ok_int(segment_reader_new(&s, out.data, out.len, NULL), 0);
	got = segment_reader_header(s);
	ok_str(got->host, "web1");
	ok_str(got->boot_id, h.boot_id);
	ok_str(got->agent_version, "0.1.0");
	ok_eq(got->epoch, UINT64_MAX);
	ok_eq(got->sequence, 7);
	ok_eq(got->source, SOURCE_BPF);
	ok_eq(got->layer, LAYER_QUEUE);
	ok(!memcmp(&got->begin, &h.begin, sizeof(h.begin)));
	ok(!memcmp(&got->end, &h.end, sizeof(h.end)));
	ok_eq(got->nr_captured, 1234567);
	ok(got->nr_devices == 2 && !memcmp(got->devices, devices, sizeof(devices)));
	ok(got->nr_processes == 2 && !memcmp(got->processes, processes, sizeof(processes)));
	ok(got->nr_cgroups == 2 && !memcmp(got->cgroups, cgroups, sizeof(cgroups)));
	ok_eq(got->nr_profiles, 2);
	ok_str(got->profiles[0], profiles[0]);
	ok_str(got->profiles[1], "");
	ok_eq(got->ledger->nr, 2);
	ok_eq(got->ledger->total[LOSS_RING_FULL], 12);
	ok_eq(got->ledger->losses[0].device, 5);
	ok(!got->ledger->losses[1].count_known);
	segment_reader_free(s);
	ledger_release(&ledger);
	buf_release(&out);
}

/* Above what kernels give by one: neither written nor, from another writer, read. */
static void values_that_no_kernel_gives_are_refused(void)
{
	struct request wrong[] = {
		{ .completion_ns = TRACE_TIME_MAX_NS + 1 },
		{ .bytes = REQUEST_MAX_DATA_BYTES + 1 },
		{ .operation = OPERATION_OTHER,
		  .flags = REQUEST_NO_OPERATION,
		  .bytes = REQUEST_MAX_DATA_BYTES + 1 },
		{ .operation = OPERATION_DISCARD, .bytes = REQUEST_MAX_BYTES + 1 },
		{ .sector = REQUEST_END_SECTOR_MAX + 1 },
		{ .sector = REQUEST_END_SECTOR_MAX, .bytes = 1 },
	};
	struct request fits[] = { { .sector = REQUEST_END_SECTOR_MAX },
				  { .operation = OPERATION_OTHER, .bytes = REQUEST_MAX_BYTES } };
	struct segment_writer *w = NULL;

	segment_writer_new(&w);
	for (size_t i = 0; i < TAP_NR(wrong); i++)
		ok_int(segment_writer_add(w, &wrong[i]), -EINVAL);
	for (size_t i = 0; i < TAP_NR(fits); i++)
		ok_int(segment_writer_add(w, &fits[i]), 0);
	segment_writer_free(w);
}

static void devices_are_bounded(void)
{
	struct segment_writer *w = NULL;
	struct request r = { .operation = 0 };

	segment_writer_new(&w);
	for (r.device = 0; r.device < SEGMENT_MAX_DEVICES; r.device++)
		if (segment_writer_add(w, &r))
			break;
	ok_eq(r.device, SEGMENT_MAX_DEVICES);
	ok_int(segment_writer_add(w, &r), -ENOSPC);
	r.device = 5;
	ok_int(segment_writer_add(w, &r), 0);
	segment_writer_clear(w);
	r.device = SEGMENT_MAX_DEVICES;
	ok_int(segment_writer_add(w, &r), 0);
	segment_writer_free(w);
}

static void writer_refuses(void)
{
	struct segment_writer *w = NULL;
	struct segment_header h = plain_header();
	struct request r = { .operation = NR_OPERATIONS };
	struct buf out = { 0 };

	segment_writer_new(&w);
	ok_int(segment_writer_add(w, &r), -EINVAL);
	r.operation = 0;
	for (unsigned int i = 0; i < SEGMENT_MAX_REQUESTS; i++)
		segment_writer_add(w, &r);
	ok_int(segment_writer_add(w, &r), -ENOSPC);
	h.nr_devices = 1000000;
	ok_int(segment_writer_finish(w, &h, &out), -E2BIG);
	ok_eq(out.len, 0);
	ok_eq(segment_writer_count(w), SEGMENT_MAX_REQUESTS); /* they stay */
	segment_writer_clear(w);
	ok_eq(segment_writer_count(w), 0);
	segment_writer_free(w);
	segment_writer_free(NULL);
	segment_reader_free(NULL);
}

/* The code and line that a reader gives for data; 0 where it reads to the end. */
static int verdict(const void *data, size_t len, struct err *err)
{
	struct segment_reader *s = NULL;
	struct segment_totals t;
	struct request r[64];
	int64_t n;
	int ret;

	memset(err, 0, sizeof(*err));
	ret = segment_reader_new(&s, data, len, err);
	if (ret)
		return ret;
	while ((n = segment_reader_next(s, r, 64)) > 0)
		;
	/* Summing them finds the same. */
	ret = segment_reader_again(s, data, len, err);
	if (ret == 0)
		ret = segment_reader_total(s, &t);
	if (ret != n)
		ok_int(ret, n);
	if (ret == 0)
		segment_totals_release(&t);
	segment_reader_free(s);
	return (int)n;
}

static struct buf small_segment(void)
{
	struct request r[300];
	struct traffic t = { 5 };
	struct segment_header h = plain_header();
	struct buf out = { 0 };

	traffic_random_4k(&t, r, 300, 1 << 29);
	encode(r, 300, &h, &out);
	return out;
}

/* One reader for all: what it refused leaves nothing behind. */
static void damage_is_refused_again(void)
{
	struct buf good = small_segment();
	struct segment_reader *s = NULL;
	struct segment_totals t;
	struct err err, again;

	ok_int(segment_reader_new(&s, good.data, good.len, &err), 0);
	for (size_t bit = 0; bit < 8 * good.len; bit += 3) {
		int want, got;

		good.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		want = verdict(good.data, good.len, &err);
		memset(&again, 0, sizeof(again));
		got = segment_reader_again(s, good.data, good.len, &again);
		if (got != want || strcmp(again.line, err.line) != 0)
			ok_int(got, want);
		good.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (segment_reader_again(s, good.data, good.len, &err) ||
		    segment_reader_total(s, &t)) {
			ok_int((int64_t)bit, -1);
			break;
		}
		if (bit % 8 == 0)
			segment_reader_clear(s);
		segment_totals_release(&t);
	}
	segment_reader_free(s);
	buf_release(&good);
}

static void damage_is_refused(void)
{
	struct buf good = small_segment();
	struct err err;

	ok_int(verdict(good.data, good.len, &err), 0);
	for (size_t len = 0; len < good.len; len++)
		if (verdict(good.data, len, &err) != -EBADMSG || !err.line[0])
			ok_int((int64_t)len, -1);
	for (size_t bit = 0; bit < 8 * good.len; bit++) {
		good.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (!verdict(good.data, good.len, &err) || !err.line[0])
			ok_int((int64_t)bit, -1);
		good.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	buf_put_u8(&good, 0);
	ok_int(verdict(good.data, good.len, &err), -EBADMSG);
	tap_note("%s", err.line);
	ok_int(verdict("\x7f"
		       "ELF and so on, but longer",
		       28, &err),
	       -EBADMSG);
	tap_note("%s", err.line);
	buf_release(&good);
}

static void later_versions_are_refused(void)
{
	struct buf good = small_segment();
	struct err err;

	good.data[8] = 3;
	ok_int(verdict(good.data, good.len, &err), -EPROTONOSUPPORT);
	ok_str(err.line, "segment: offset 8: version 3, this program reads versions 1, 2, 4 and 8");
	good.data[8] = 1;
	good.data[15] = 0x7f;
	ok_int(verdict(good.data, good.len, &err), -EFBIG);
	buf_release(&good);
}

/* Puts the right checksum over what is there, as somebody who means harm would. */
static void sign(struct buf *b)
{
	uint64_t sum = XXH3_64bits(b->data + 24, b->len - 24);

	for (int i = 0; i < 8; i++)
		b->data[16 + i] = (uint8_t)(sum >> 8 * i);
}

static void signed_damage_is_survived(void)
{
	struct buf good = small_segment();
	struct traffic t = { 9 };
	struct err err;
	int refused = 0;

	for (size_t at = 24; at < good.len; at++)
		for (int k = 0; k < 3; k++) {
			uint8_t before = good.data[at];

			good.data[at] = (uint8_t)traffic_random(&t);
			sign(&good);
			refused += verdict(good.data, good.len, &err) != 0;
			good.data[at] = before;
		}
	ok(refused > 100);
	buf_release(&good);
}

static void named_keys(void)
{
	struct buf good = small_segment();
	struct err err;
	uint8_t *at = memmem(good.data, good.len, "sequence", 8);

	ok(at);
	memcpy(at, "sequel_s", 8);
	sign(&good);
	ok_int(verdict(good.data, good.len, &err), -EPROTONOSUPPORT);
	ok_str(err.line, "segment header: key 'sequel_s' is not known here");
	buf_release(&good);
}

static void counts_must_match(void)
{
	struct buf good = small_segment();
	uint8_t *at = memmem(good.data, good.len, "requests\xcd\x01\x2c", 11);
	struct err err;

	if (!ok(at)) {
		buf_release(&good);
		return;
	}
	for (int off = -20; off <= 20; off++) {
		at[10] = (uint8_t)(0x2c + off);
		sign(&good);
		ok_int(verdict(good.data, good.len, &err), off ? -EBADMSG : 0);
		if (off)
			ok(!strncmp(err.line, "segment: column ", 16));
	}
	tap_note("%s", err.line);
	buf_release(&good);
}

/* A segment of a header and nothing else, with all lengths and the checksum right. */
static struct buf framed(const void *header, size_t len)
{
	struct buf b = { 0 };

	buf_put(&b,
		"\x89"
		"blkseg\n",
		8);
	buf_put_le32(&b, 1);
	buf_put_le32(&b, (uint32_t)(28 + len));
	buf_put_le64(&b, 0);
	buf_put_le32(&b, (uint32_t)len);
	buf_put(&b, header, len);
	sign(&b);
	return b;
}

static void one_header(const void *header, size_t len, const char *want)
{
	struct buf b = framed(header, len);
	struct err err;

	ok_int(verdict(b.data, b.len, &err), -EBADMSG);
	ok_str(err.line, want);
	buf_release(&b);
}

static void hostile_headers(void)
{
	static const char no_map[] =
		"segment header: header: expected one msgpack map that fills it";
	uint8_t *many = malloc(3 << 20);

	one_header("\x80", 1, "segment header: host: expected it, but it is missing");
	one_header("\xc0", 1, "segment header: header: expected a map");
	one_header("", 0, no_map);
	one_header("\x80\x80", 2, no_map);			    /* more than one object */
	one_header("\x81\xa4host\xdd\xff\xff\xff\xff", 11, no_map); /* four billion entries */
	one_header("\x81\xa4host\xdb\xff\xff\xff\xff", 11, no_map); /* four billion bytes */
	one_header("\xdf\xff\xff\xff\xff\xa4host", 10, no_map);
	one_header("\x81\xa4host\x91\x91\x91\x91\x90", 11, no_map); /* too deep */
	one_header("\x81\xa4host\xff", 7, no_map);		    /* a negative number */
	one_header("\x81\xa4host\x07", 7,
		   "segment header: host: expected a text that is not too long");
	one_header("\x82\xa4host\xa1x\xa4host\xa1x", 15, "segment header: host: expected it once");
	memset(many, 0xc0, 3 << 20); /* millions of nils, 24 bytes each once unpacked */
	memcpy(many, "\x81\xa4host\xdd\x00\x2f\xff\xf5", 11);
	one_header(many, 3 << 20, no_map);
	free(many);
}

static void lengths(void)
{
	struct buf good = small_segment();

	ok_int(segment_length(good.data, 23), -EAGAIN);
	ok_int(segment_length(good.data, 0), -EAGAIN);
	ok_int(segment_length(good.data, 24), (int64_t)good.len);
	ok_int(segment_length("GET / HTTP/1.1", 14), -EBADMSG);
	good.data[0] ^= 1;
	ok_int(segment_length(good.data, good.len), -EBADMSG);
	buf_release(&good);
}

static void hashes(void)
{
	struct segment_hash h = segment_hash_of("", 0);
	char text[SEGMENT_HASH_TEXT];

	/* The published test vector of XXH3_128bits with no input. */
	segment_hash_text(&h, text);
	ok_str(text, "99aa06d3014798d86001c324468d497f");
}

static const struct tap_test tests[] = {
	{ "random and sequential traffic comes back bit by bit", traffic_survives },
	{ "any legal requests come back bit by bit", anything_survives },
	{ "values that no kernel gives are not written", values_that_no_kernel_gives_are_refused },
	{ "a segment has requests of 512 devices at most", devices_are_bounded },
	{ "the edges of every field come back", edges_survive },
	{ "the header comes back whole", header_survives },
	{ "the writer refuses what it cannot hold and keeps the rest", writer_refuses },
	{ "a cut or a flipped bit anywhere is refused with a line", damage_is_refused },
	{ "a reader that has refused one reads the next as if it were new",
	  damage_is_refused_again },
	{ "a later version and an absurd length are refused by name", later_versions_are_refused },
	{ "damage under a right checksum harms nothing", signed_damage_is_survived },
	{ "an unknown key is refused by name", named_keys },
	{ "a number of requests that the columns do not hold is refused", counts_must_match },
	{ "a header that promises more than it holds is refused at once", hostile_headers },
	{ "the length is told from the prefix alone", lengths },
	{ "the content hash is XXH3 as published", hashes },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
