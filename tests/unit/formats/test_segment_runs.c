/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that go on where another ended, or near there, come back and take few bytes. */
#include <stdlib.h>
#include <string.h>

#include "formats/segment/segment.h"
#include "tests/support/tap.h"

#define NR	4000u
#define NR_RUNS 16u

/* Request i of a run that goes on gap sectors behind the end of its last request. */
static void make_runs(struct request *r, uint64_t apart, uint64_t gap)
{
	for (uint32_t i = 0; i < NR; i++) {
		r[i] = (struct request){ .bytes = 4096, .device = 1 };
		r[i].arrival_ns = r[i].dispatch_ns = r[i].completion_ns = 1000u * i;
		r[i].sector = i % NR_RUNS * apart + i / NR_RUNS * (8 + gap);
	}
}

/* Returns the bytes of the segment, whose requests are compared with those that were added. */
static size_t bytes_of(const struct request *r)
{
	struct segment_header h = { .host = "web1", .boot_id = "boot" };
	struct segment_writer *w = NULL;
	struct segment_reader *s = NULL;
	struct request *got = calloc(NR, sizeof(*got));
	struct buf out = { 0 };
	size_t bytes;

	ok_int(segment_writer_new(&w), 0);
	for (size_t i = 0; i < NR; i++)
		ok_int(segment_writer_add(w, &r[i]), 0);
	ok_int(segment_writer_finish(w, &h, &out), 0);
	ok_int(segment_reader_new(&s, out.data, out.len, NULL), 0);
	ok_int(segment_reader_next(s, got, NR), NR);
	ok(!memcmp(got, r, NR * sizeof(*got)));
	bytes = out.len;
	segment_reader_free(s);
	segment_writer_free(w);
	buf_release(&out);
	free(got);
	return bytes;
}

static void runs_take_few_bytes(void)
{
	struct request *r = calloc(NR, sizeof(*r));
	size_t exact, near, far;

	make_runs(r, 1ull << 27, 0);
	exact = bytes_of(r);
	/* The last sector is below 2^31, so a distance below 2^18 sectors is near. */
	make_runs(r, 1ull << 27, 40);
	near = bytes_of(r);
	make_runs(r, 1ull << 27, 40);
	for (size_t i = 0; i < NR; i++)
		r[i].sector += i * 0x9e3779b97f4a7c15ull >> 33 & ~7ull;
	far = bytes_of(r);
	ok(exact < 2000);
	ok(near < 2 * exact);
	ok(far > 2 * NR);
	free(r);
}

/* The low halves of the ends are equal, which must not be taken for a continuation. */
static void ends_apart_by_four_billion_sectors_differ(void)
{
	struct request *r = calloc(NR, sizeof(*r));

	make_runs(r, 1ull << 32, 0);
	bytes_of(r);
	for (size_t i = 0; i < NR; i++)
		r[i].sector = (i * 0x9e3779b97f4a7c15ull >> 44 << 32) + 8 * (i % 5);
	bytes_of(r);
	make_runs(r, 1ull << 49, 1ull << 33); /* near beyond what 32 bits hold */
	ok(bytes_of(r) < 2 * NR);
	free(r);
}

static const struct tap_test tests[] = {
	{ "runs, also those with gaps, take few bytes", runs_take_few_bytes },
	{ "ends a multiple of 2^32 sectors apart are told apart",
	  ends_apart_by_four_billion_sectors_differ },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
