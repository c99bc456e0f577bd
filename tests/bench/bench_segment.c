/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes per request and requests per second of the segment codec, on made-up and on real traces,
 * beside raw structs under zstd -3 and beside memcpy. Every segment is read back and compared.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#include "formats/segment/segment.h"
#include "tests/support/traffic.h"
#include "tests/support/tap.h"

#define NR_MADE	   (4 * SEGMENT_MAX_REQUESTS)
#define REPEATS	   5 /* the fastest counts: the machine is shared */
#define MAX_COLUMN 16

struct trace {
	const char *name;
	struct request *r;
	size_t nr;
	const char *goal; /* bytes per request */
	double floor;	  /* entropy of what was drawn, bytes per request; NaN unknown */
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void figure(const char *trace, const char *what, double value, const char *unit,
		   const char *goal, const char *note)
{
	printf("figure\tsegment %s: %s\t%.4g\t%s\t%s\t%s\n", trace, what, value, unit, goal, note);
}

/* All requests as segments, one after the other. Seconds spent. */
static double encode(const struct trace *t, struct segment_writer *w, struct buf *out)
{
	struct segment_header h = { .host = "bench", .source = SOURCE_BPF };
	double begin = now_s();

	buf_clear(out);
	for (size_t i = 0; i < t->nr; i++) {
		if (segment_writer_add(w, &t->r[i]))
			abort();
		if (segment_writer_count(w) == SEGMENT_MAX_REQUESTS || i + 1 == t->nr)
			if (segment_writer_finish(w, &h, out))
				abort();
	}
	return now_s() - begin;
}

/* Reads them back into room for 4096 requests at a time, as a scan of the store does. */
static double decode(const struct buf *in, struct request *room, size_t *nr)
{
	double begin = now_s();

	*nr = 0;
	for (size_t at = 0; at < in->len;) {
		int64_t len = segment_length(in->data + at, in->len - at), got;
		struct segment_reader *s;

		if (len < 0 || segment_reader_new(&s, in->data + at, (size_t)len, NULL))
			abort();
		while ((got = segment_reader_next(s, room, 4096)) > 0)
			*nr += (size_t)got;
		segment_reader_free(s);
		at += (size_t)len;
	}
	return now_s() - begin;
}

static void verify(const struct trace *t, const struct buf *in)
{
	struct request *room = calloc(SEGMENT_MAX_REQUESTS, sizeof(*room));
	size_t done = 0;

	for (size_t at = 0; at < in->len;) {
		int64_t len = segment_length(in->data + at, in->len - at), got;
		struct segment_reader *s;

		segment_reader_new(&s, in->data + at, (size_t)len, NULL);
		got = segment_reader_next(s, room, SEGMENT_MAX_REQUESTS);
		if (got < 0 || memcmp(room, t->r + done, (size_t)got * sizeof(*room)))
			abort();
		done += (size_t)got;
		segment_reader_free(s);
		at += (size_t)len;
	}
	if (done != t->nr)
		abort();
	free(room);
}

/* Where the bytes go, as a comment. */
static void columns(const struct trace *t, const struct buf *in)
{
	struct segment_column_size size[MAX_COLUMN], sum[MAX_COLUMN] = { { NULL, 0, 0 } };
	size_t nr = 0;

	for (size_t at = 0; at < in->len;) {
		int64_t len = segment_length(in->data + at, in->len - at);
		struct segment_reader *s;

		segment_reader_new(&s, in->data + at, (size_t)len, NULL);
		nr = segment_reader_columns(s, size, MAX_COLUMN);
		for (size_t i = 0; i < nr; i++) {
			sum[i].name = size[i].name;
			sum[i].compressed_bytes += size[i].compressed_bytes;
		}
		segment_reader_free(s);
		at += (size_t)len;
	}
	printf("# %s:", t->name);
	for (size_t i = 0; i < nr; i++)
		printf(" %s %.3f", sum[i].name, (double)sum[i].compressed_bytes / (double)t->nr);
	printf(" bytes per request\n");
}

/* The peer: the same structs under zstd -3, segment by segment. */
static void peer(const struct trace *t)
{
	size_t step = SEGMENT_MAX_REQUESTS * sizeof(*t->r), bound = ZSTD_compressBound(step);
	char *packed = malloc(bound), *back = malloc(step);
	double begin, pack_s = 0, unpack_s = 0;
	size_t total = 0;

	for (size_t at = 0; at < t->nr; at += SEGMENT_MAX_REQUESTS) {
		size_t nr = t->nr - at < SEGMENT_MAX_REQUESTS ? t->nr - at : SEGMENT_MAX_REQUESTS;
		size_t len;

		begin = now_s();
		len = ZSTD_compress(packed, bound, t->r + at, nr * sizeof(*t->r), 3);
		pack_s += now_s() - begin;
		begin = now_s();
		if (ZSTD_isError(ZSTD_decompress(back, step, packed, len)))
			abort();
		unpack_s += now_s() - begin;
		total += len;
	}
	figure(t->name, "raw structs, zstd -3", (double)total / (double)t->nr, "B/request", "",
	       "peer");
	figure(t->name, "raw structs, zstd -3, encode", (double)t->nr / pack_s / 1e6, "M/s", "",
	       "peer");
	figure(t->name, "raw structs, zstd -3, decode", (double)t->nr / unpack_s / 1e6, "M/s", "",
	       "peer");
	free(packed);
	free(back);
}

static void measure(const struct trace *t)
{
	struct request *room = calloc(4096, sizeof(*room));
	double encode_s = INFINITY, decode_s = INFINITY;
	struct segment_writer *w;
	struct buf out = { 0 };
	char note[64] = "";
	size_t nr;

	if (segment_writer_new(&w))
		abort();
	for (int i = 0; i < REPEATS; i++) {
		encode_s = fmin(encode_s, encode(t, w, &out));
		decode_s = fmin(decode_s, decode(&out, room, &nr));
	}
	verify(t, &out);
	if (!isnan(t->floor))
		snprintf(note, sizeof(note), "entropy of the draws %.2f", t->floor);
	figure(t->name, "size", (double)out.len / (double)t->nr, "B/request", t->goal, note);
	figure(t->name, "encode", (double)t->nr / encode_s / 1e6, "M/s", ">= 10", "one core");
	figure(t->name, "decode", (double)t->nr / decode_s / 1e6, "M/s", ">= 20", "one core");
	peer(t);
	columns(t, &out);
	segment_writer_free(w);
	buf_release(&out);
	free(room);
}

/* Bits of a lognormal number rounded to whole ones. */
static double lognormal_bits(double median, double sigma)
{
	return log2(median * sigma * sqrt(2 * M_PI * M_E));
}

static void made(void)
{
	struct request *r = calloc(NR_MADE, sizeof(*r));
	struct traffic t = { 20 };
	double times = lognormal_bits(2000, 0.5) + lognormal_bits(1200, 0.4);
	double random_bits = times + lognormal_bits(120000, 0.5) + 0.8813; /* 70 % reads */

	traffic_random_4k(&t, r, NR_MADE, (uint64_t)1 << 29);
	measure(&(struct trace){ "random 4 KiB on 512 MiB", r, NR_MADE, "<= 8",
				 (random_bits + 17) / 8 });
	traffic_random_4k(&t, r, NR_MADE, (uint64_t)1 << 40);
	measure(&(struct trace){ "random 4 KiB on 1 TiB", r, NR_MADE, "", (random_bits + 28) / 8 });
	times = lognormal_bits(3000, 0.5) + lognormal_bits(1200, 0.4);
	traffic_sequential(&t, r, NR_MADE, 8);
	measure(&(struct trace){ "8 sequential streams, 64 KiB", r, NR_MADE, "<= 4",
				 (times + lognormal_bits(60000, 0.2)) / 8 });
	free(r);
}

static FILE *open_trace(const char *name)
{
	const char *dir = tap_data_dir();
	char path[512];
	FILE *f = NULL;

	if (dir) {
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		f = fopen(path, "r");
	}
	if (!f)
		printf("# %s: not here, left out\n", name);
	return f;
}

static struct request no_latency(uint64_t ns, uint64_t sector, uint64_t bytes, bool is_read)
{
	return (struct request){ .arrival_ns = ns,
				 .dispatch_ns = ns,
				 .completion_ns = ns,
				 .sector = sector,
				 .bytes = (uint32_t)bytes,
				 .operation = is_read ? OPERATION_READ : OPERATION_WRITE,
				 .flags = REQUEST_NO_DISPATCH | REQUEST_NO_COMPLETION |
					  REQUEST_NO_ISSUER | REQUEST_NO_CGROUP,
				 .source = SOURCE_IMPORT };
}

/* The latency that the trace lacks, drawn in whole ns. */
static void add_latency(struct request *r, size_t nr)
{
	struct traffic t = { 30 };

	for (size_t i = 0; i < nr; i++) {
		r[i].flags &= ~(uint32_t)(REQUEST_NO_DISPATCH | REQUEST_NO_COMPLETION);
		r[i].arrival_ns += traffic_random(&t) % 1000;
		r[i].dispatch_ns = r[i].arrival_ns + (uint64_t)traffic_lognormal(&t, 1200, 0.4);
		r[i].completion_ns =
			r[i].dispatch_ns + (uint64_t)traffic_lognormal(&t, 400000, 0.8);
	}
}

/* A vscsi record of version 1: 32 bytes, little-endian. */
static struct request vscsi(const uint8_t record[32])
{
	struct cursor c = cursor_make(record, 32);
	uint32_t word, bytes, cmd;
	uint64_t sector, us;

	cursor_get_le32(&c, &word);
	cursor_get_le32(&c, &bytes);
	cursor_get_le32(&c, &word);
	cursor_get_le32(&c, &cmd);
	cursor_get_le64(&c, &sector);
	cursor_get_le64(&c, &us);
	cmd &= 0xffff;
	return no_latency(1000 * us, sector, bytes, cmd == 0x28 || cmd == 0x88);
}

static void cloudphysics(void)
{
	FILE *f = open_trace("cloudphysics.vscsi");
	struct request *r = calloc(200000, sizeof(*r));
	uint8_t record[32];
	size_t nr = 0;

	while (f && nr < 200000 && fread(record, sizeof(record), 1, f) == 1)
		r[nr++] = vscsi(record);
	if (f) {
		measure(&(struct trace){ "cloudphysics, us, no latency", r, nr, "<= 3.5", NAN });
		add_latency(r, nr);
		measure(&(struct trace){ "cloudphysics, ns, latency drawn", r, nr, "<= 8", NAN });
		fclose(f);
	}
	free(r);
}

static void ssdsim(const char *file, const char *name)
{
	FILE *f = open_trace(file);
	struct request *r = calloc(20000, sizeof(*r));
	unsigned long long ns, sector;
	unsigned int device, sectors, is_read;
	size_t nr = 0;

	while (f && nr < 20000 &&
	       fscanf(f, "%llu %u %llu %u %u", &ns, &device, &sector, &sectors, &is_read) == 5) {
		r[nr] = no_latency(ns, sector, (uint64_t)sectors * SECTOR_BYTES, is_read);
		r[nr++].device = device;
	}
	if (f) {
		measure(&(struct trace){ name, r, nr, "<= 8", NAN });
		fclose(f);
	}
	free(r);
}

static void memory(void)
{
	size_t len = (size_t)64 << 20;
	char *a = malloc(len), *b = malloc(len);
	double best = INFINITY;

	memset(a, 1, len);
	memset(b, 2, len);
	for (int i = 0; i < REPEATS; i++) {
		double begin = now_s();

		memcpy(i % 2 ? a : b, i % 2 ? b : a, len);
		best = fmin(best, now_s() - begin);
	}
	figure("peer", "memcpy of structs", (double)len / sizeof(struct request) / best / 1e6,
	       "M/s", "", a[len / 2] ? "peer" : "");
	free(a);
	free(b);
}

int main(void)
{
	memory();
	made();
	cloudphysics();
	ssdsim("financial1-10k.ssdsim", "financial1, no latency");
	ssdsim("tpcc-small.ssdsim", "tpcc, no latency");
	return 0;
}
