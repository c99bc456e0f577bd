/* SPDX-License-Identifier: Apache-2.0 */
/* The bounds of summary files: what a reader refuses, and what a writer leaves out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "formats/summary/segment_summary.h"
#include "tests/support/tap.h"

/* One segment of one device, whose profile has a response time in each bucket of the grid. */
static void sample_summary(struct summary *s)
{
	struct profile p;
	struct summary_device *d;

	summary_init(s);
	profile_init(&p);
	snprintf(s->host, sizeof(s->host), "web1");
	snprintf(s->boot_id, sizeof(s->boot_id), "b");
	s->epoch = s->generation = 1;
	s->members = calloc(1, sizeof(*s->members));
	s->nr_members = 1;
	snprintf(p.host, sizeof(p.host), "web1");
	snprintf(p.device, sizeof(p.device), "8:0");
	snprintf(p.device_name, sizeof(p.device_name), "sda");
	p.begin_s = 1;
	p.end_s = 2;
	for (int k = HISTOGRAM_BUCKET_MIN; k <= HISTOGRAM_BUCKET_MAX; k++) {
		uint64_t ns = (uint64_t)(histogram_bucket_end_s(k) * 1e9);

		histogram_add(&p.read.response.stage[STAGE_TOTAL], ns);
		for (int c = 0; c < NR_SIZE_CLASSES; c++)
			histogram_add(&p.read.response.size_class[c], ns);
	}
	s->nr_requests = p.requests[OPERATION_READ] = p.read.response.stage[STAGE_TOTAL].nr;
	d = summary_device(s, 8u << 20, "sda");
	if (!s->members || !d)
		abort();
	d->requests[OPERATION_READ] = s->nr_requests;
	ok_int(summary_add_profile(s, &p), 0);
	profile_release(&p);
}

static void file_of_frame(const void *frame, size_t len, struct buf *file)
{
	buf_clear(file);
	if (buf_put(file,
		    "\x89"
		    "blksum\n",
		    8) ||
	    buf_put_le32(file, SUMMARY_VERSION) || buf_put_le32(file, (uint32_t)(24 + len)) ||
	    buf_put_le64(file, XXH3_64bits(frame, len)) || buf_put(file, frame, len))
		abort();
}

/* Makes a file of any text. */
static void file_of(const char *text, size_t len, struct buf *file)
{
	size_t bound = ZSTD_compressBound(len);
	char *packed = malloc(bound);
	size_t nr = packed ? ZSTD_compress(packed, bound, text, len, 3) : 0;

	if (!nr)
		abort();
	file_of_frame(packed, nr, file);
	free(packed);
}

/* One item of each kind that nests as many values as its text has room for. */
static void large_items_are_refused(void)
{
	static char text[2 * SUMMARY_MAX_ITEM_BYTES];
	static const char *const begins[] = { "{\"facts\":[", "{\"profiles\":[[",
					      "{\"segments\":[[" };
	struct buf file;

	buf_init(&file);
	for (size_t i = 0; i < TAP_NR(begins); i++) {
		size_t len = (size_t)snprintf(text, sizeof(text), "%s[]", begins[i]);
		struct err err = { 0 };
		struct summary s;

		while (len < SUMMARY_MAX_ITEM_BYTES + 1000)
			len += (size_t)snprintf(text + len, sizeof(text) - len, ",[]");
		len += (size_t)snprintf(text + len, sizeof(text) - len, i ? "]]}" : "]}");
		file_of(text, len, &file);
		summary_init(&s);
		ok_int(summary_read(&s, file.data, file.len, &err), -EBADMSG);
		ok_str(err.line, "text: expected a JSON object of items within the bounds");
	}
	buf_release(&file);
}

static void large_profiles_lose_detail(void)
{
	struct summary s, again;
	struct profile *p;
	struct buf file;

	buf_init(&file);
	sample_summary(&s);
	p = &s.profiles[0];
	p->read.sizes = calloc(3000, sizeof(struct size_count));
	if (!p->read.sizes)
		abort();
	for (; p->read.nr_sizes < 3000; p->read.nr_sizes++)
		p->read.sizes[p->read.nr_sizes] =
			(struct size_count){ .bytes = 512 * ((uint32_t)p->read.nr_sizes + 1) };
	p->read.sizes[2999].count = 7;
	for (int c = 0; c < NR_SIZE_CLASSES; c++)
		ok_int(histogram_merge(&p->write.response.size_class[c],
				       &p->read.response.size_class[c]),
		       0);
	summary_fit(&s);
	ok_eq(p->read.nr_sizes, SUMMARY_MAX_SIZES);
	ok_eq(p->read.other_sizes, 7);
	ok_eq(p->read.response.size_class[0].nr, 0);
	ok_eq(p->read.response.stage[STAGE_TOTAL].nr, s.nr_requests);
	ok(summary_profile_bytes(p) < SUMMARY_MAX_ITEM_BYTES);
	ok_int(summary_write(&s, &file), 0);
	summary_init(&again);
	ok_int(summary_read(&again, file.data, file.len, NULL), 0);
	ok_eq(again.nr_requests, s.nr_requests);
	ok_eq(summary_profile_bytes(&again.profiles[0]), summary_profile_bytes(p));
	summary_release(&again);
	summary_release(&s);
	buf_release(&file);
}

/*
 * A frame declares one MiB of text and holds 256 GiB of blanks, in blocks that repeat one byte
 * (RFC 8878, 3.1.1.2). A reader that believed the declaration would work for many minutes.
 */
static void undeclared_text_is_refused(void)
{
	static const uint8_t begin[] = { 0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0x10, 0 };
	static const uint8_t blanks[] = { 0x02, 0x00, 0x10, ' ' };
	size_t nr = (SUMMARY_MAX_BYTES - 24 - sizeof(begin)) / sizeof(blanks);
	struct buf frame, file;
	struct err err = { 0 };
	struct summary s;

	buf_init(&frame);
	buf_init(&file);
	buf_put(&frame, begin, sizeof(begin));
	for (size_t i = 0; i < nr; i++)
		buf_put(&frame, blanks, sizeof(blanks));
	ok_int(frame.error, 0);
	file_of_frame(frame.data, frame.len, &file);
	summary_init(&s);
	ok_int(summary_read(&s, file.data, file.len, &err), -EBADMSG);
	ok_str(err.line, "text: expected one zstd frame within the bounds");
	buf_release(&frame);
	buf_release(&file);
}

/* What does not fit is not written: the segments then stay. */
static void what_cannot_be_read_is_not_written(void)
{
	struct summary s;
	struct buf file;

	buf_init(&file);
	sample_summary(&s);
	for (uint32_t i = 1; i <= SUMMARY_MAX_DEVICES; i++)
		if (!summary_device(&s, i, ""))
			abort();
	ok_int(summary_write(&s, &file), -E2BIG);
	ok_eq(file.len, 0);
	summary_release(&s);
	buf_release(&file);
}

static const struct tap_test tests[] = {
	{ "items of a summary beyond the bounds are refused", large_items_are_refused },
	{ "profiles beyond the bounds lose detail and keep their requests",
	  large_profiles_lose_detail },
	{ "text beyond what a frame declares is refused", undeclared_text_is_refused },
	{ "a summary that no reader would take is not written",
	  what_cannot_be_read_is_not_written },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
