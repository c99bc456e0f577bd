/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a segment. The length and the checksum are put right first, so that what lies behind
 * them is reached. Whatever opens must decode without harm, and what decodes must encode again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "formats/segment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_right(uint8_t *copy, size_t size)
{
	uint64_t sum = XXH3_64bits(copy + 24, size - 24);

	for (int i = 0; i < 4; i++)
		copy[12 + i] = (uint8_t)(size >> 8 * i);
	for (int i = 0; i < 8; i++)
		copy[16 + i] = (uint8_t)(sum >> 8 * i);
}

/* 0 or what ended it. */
static int read_all(struct segment_reader *s)
{
	static struct segment_writer
		*w; /* one for all inputs, as the agent has one for all segments */
	struct request r[64];
	struct buf out = { 0 };
	int64_t nr;

	if (!w && segment_writer_new(&w))
		return -ENOMEM;
	while ((nr = segment_reader_next(s, r, 64)) > 0)
		for (int64_t i = 0; i < nr; i++)
			if (segment_writer_add(w, &r[i]))
				abort();
	if (segment_writer_finish(w, segment_reader_header(s), &out) == 0 &&
	    segment_length(out.data, out.len) != (int64_t)out.len)
		abort();
	segment_writer_clear(w);
	buf_release(&out);
	return (int)nr;
}

/* Adding up in the memory of the reading comes to the same verdict. */
static void total_again(struct segment_reader *s, const uint8_t *copy, size_t size, int verdict)
{
	struct segment_totals t = { 0 };

	if (segment_reader_again(s, copy, size, NULL) || segment_reader_total(s, &t) != verdict)
		abort();
	segment_totals_release(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct segment_reader *s = NULL;
	struct err err = { 0 };
	uint8_t *copy = calloc(size + 1, 1);

	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	segment_length(copy, size);
	if (size >= 24)
		put_right(copy, size);
	if (segment_reader_new(&s, copy, size, &err)) {
		if (!err.line[0])
			abort();
	} else {
		total_again(s, copy, size, read_all(s));
	}
	segment_reader_free(s);
	free(copy);
	return 0;
}
