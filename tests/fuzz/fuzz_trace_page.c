/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as a page of the kernel's trace buffer, in both byte orders, and its records as
 * block events by a format of the usual shape: nothing outside the page is read, time goes on, and
 * what is handed over lies in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/source/tracefs/trace_block.h"
#include "agent/source/tracefs/trace_page.h"
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char complete_format[] =
	"name: block_rq_complete\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] comm;\toffset:40;\tsize:4;\tsigned:0;\n";

static const char *load(void *ctx, const char *event)
{
	(void)ctx;
	(void)event;
	return complete_format;
}

/* The formats are the kernel's, not the input's: read once for each byte order. */
static const struct trace_block *formats_of(bool is_big_endian)
{
	static struct trace_block blocks[2];
	struct trace_block *block = &blocks[is_big_endian];

	block->is_big_endian = is_big_endian;
	if (!block->nr && trace_block_init(block, LAYER_DEVICE, load, NULL, NULL))
		abort();
	return block;
}

static void walk(const uint8_t *page, size_t bytes, bool is_big_endian)
{
	const struct trace_page_layout layout = { .commit_at = 8,
						  .commit_bytes = 8,
						  .data_at = 16,
						  .page_bytes = 4096,
						  .is_big_endian = is_big_endian };
	const struct trace_block *block = formats_of(is_big_endian);
	struct trace_record r;
	struct trace_page p;
	struct block_event e;
	char comm[TRACE_COMM_BYTES];
	size_t left = bytes;

	if (trace_page_open(&p, &layout, page, bytes))
		return;
	while (trace_page_next(&p, &r) == 1) {
		/* Each record takes room: as many as the page has words at most. */
		if (r.data < page || r.data + r.bytes > page + bytes || left < 4)
			abort();
		left -= 4;
		if (trace_block_decode(block, &r, &e, comm) == 1 &&
		    (!memchr(comm, 0, sizeof(comm)) || e.operation >= NR_OPERATIONS))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* In memory of just its size, so that a look behind it is seen. */
	uint8_t *page = malloc(size ? size : 1);

	if (!page)
		return 0;
	memcpy(page, data, size);
	walk(page, size, false);
	walk(page, size, true);
	free(page);
	return 0;
}
