/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a summary that retention left: as its file where they begin as one, with length and
 * checksum put right, else as the text in it. What is read must be written, read again, and then be
 * written the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "formats/summary/segment_summary.h"

#define SUMMARY_PREFIX	  24	       /* magic, version, length, checksum */
#define SUMMARY_MAX_BLOCK (128u << 10) /* of a zstd frame */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t summary_magic[12] = { 0x89, 'b', 'l', 'k', 's', 'u', 'm', '\n', 1 };

static void summary_put_le(uint8_t *to, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static void summary_put_right(uint8_t *file, size_t size)
{
	summary_put_le(file + 12, size, 4);
	summary_put_le(file + 16, XXH3_64bits(file + SUMMARY_PREFIX, size - SUMMARY_PREFIX), 8);
}

/* The text as it is in one block of a frame that says its length. */
static size_t put_frame(uint8_t *to, const uint8_t *text, size_t size)
{
	static const uint8_t begin[] = { 0x28, 0xb5, 0x2f, 0xfd, 0xa0 };

	memcpy(to, begin, sizeof(begin));
	summary_put_le(to + 5, size, 4);
	summary_put_le(to + 9, size << 3 | 1, 3);
	memcpy(to + 12, text, size);
	return 12 + size;
}

static void summary_again(const struct summary *s)
{
	struct buf first = { 0 }, second = { 0 };
	struct summary t;

	summary_init(&t);
	if (summary_write(s, &first) || summary_read(&t, first.data, first.len, NULL) ||
	    summary_write(&t, &second))
		abort();
	if (first.len != second.len || memcmp(first.data, second.data, first.len))
		abort();
	summary_release(&t);
	buf_release(&first);
	buf_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *file = malloc(SUMMARY_PREFIX + 12 + size);
	struct err err = { 0 };
	struct summary s;
	size_t nr = size;
	int ret;

	if (!file)
		return 0;
	if ((size >= 8 && !memcmp(data, summary_magic, 8)) || size > SUMMARY_MAX_BLOCK) {
		memcpy(file, data, size);
	} else {
		memcpy(file, summary_magic, sizeof(summary_magic));
		nr = SUMMARY_PREFIX + put_frame(file + SUMMARY_PREFIX, data, size);
	}
	if (nr >= SUMMARY_PREFIX)
		summary_put_right(file, nr);
	summary_init(&s);
	ret = summary_read(&s, file, nr, &err);
	if (!ret)
		summary_again(&s);
	else if (!err.line[0] || ret == -ENOMEM)
		abort();
	summary_release(&s);
	free(file);
	return 0;
}
