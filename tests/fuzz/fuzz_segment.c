/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a segment. The length and the checksum are put right first, so that what lies behind
 * them is reached. Whatever opens must decode without harm, and what decodes must encode again.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "formats/segment/segment.h"

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

/*
 * Most in one reader, as a store and an import read one segment after the other; every 64th in one
 * of its own. What it answers must not depend on what was read before.
 */
static void open_and_read(const uint8_t *copy, size_t size)
{
	static struct segment_reader *kept;
	static unsigned int nr;
	struct segment_reader *own = NULL;
	struct err err = { 0 };
	bool with_own = !kept || nr++ % 64 == 0;
	int ret = with_own ? segment_reader_new(&own, copy, size, &err)
			   : segment_reader_again(kept, copy, size, &err);

	if (ret && !err.line[0])
		abort();
	if (!ret)
		total_again(with_own ? own : kept, copy, size, read_all(with_own ? own : kept));
	if (!with_own)
		segment_reader_clear(kept);
	else if (!kept)
		kept = own;
	else
		segment_reader_free(own);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = calloc(size + 1, 1);

	if (!copy)
		return 0;
	if (size)
		memcpy(copy, data, size);
	segment_length(copy, size);
	if (size >= 24)
		put_right(copy, size);
	open_and_read(copy, size);
	free(copy);
	return 0;
}
