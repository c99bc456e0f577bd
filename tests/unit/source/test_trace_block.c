/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/source/tracefs/trace_block.h"
#include "tests/support/tap.h"

#define COMMON                                                                 \
	"format:\n"                                                            \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"           \
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"                  \
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"           \
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"

static const struct {
	const char *name, *text;
} kernel_6_1[] = {
	{ "block_getrq", "name: block_getrq\nID: 11\n" COMMON
			 "\tfield:char rwbs[8];\toffset:28;\tsize:8;\tsigned:0;\n"
			 "\tfield:char comm[16];\toffset:36;\tsize:16;\tsigned:0;\n" },
	{ "block_rq_issue", "name: block_rq_issue\nID: 12\n" COMMON
			    "\tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;\n"
			    "\tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:0;\n"
			    "\tfield:char comm[16];\toffset:40;\tsize:16;\tsigned:0;\n" },
	{ "block_rq_complete", "name: block_rq_complete\nID: 13\n" COMMON
			       "\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;\n"
			       "\tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:0;\n" },
};

struct kernel {
	const char *without; /* an event it has not */
	bool was_asked_for_start;
};

static const char *load(void *ctx, const char *event)
{
	struct kernel *k = ctx;

	k->was_asked_for_start |= !strcmp(event, "block_io_start");
	for (size_t i = 0; i < TAP_NR(kernel_6_1); i++)
		if (!strcmp(event, kernel_6_1[i].name) &&
		    (!k->without || strcmp(event, k->without)))
			return kernel_6_1[i].text;
	return NULL;
}

static void put(uint8_t *at, uint64_t value, size_t bytes, bool is_big_endian)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> (8 * (is_big_endian ? bytes - 1 - i : i)));
}

static struct trace_record made(uint8_t *data, bool big, unsigned int id, uint32_t nr_sector,
				const char *rwbs, unsigned int rwbs_at)
{
	memset(data, 0, 64);
	put(data, id, 2, big);
	put(data + 4, 4711, 4, big);
	put(data + 8, device_make(8, 16), 4, big);
	put(data + 16, 1ull << 33, 8, big);
	put(data + 24, nr_sector, 4, big);
	memcpy(data + rwbs_at, rwbs, strlen(rwbs));
	return (struct trace_record){ .time_ns = 99, .data = data, .bytes = 56 };
}

static void decoded(void)
{
	for (int big = 0; big < 2; big++) {
		struct trace_block b = { .is_big_endian = big };
		struct kernel k = { .without = NULL };
		char comm[TRACE_COMM_BYTES];
		struct trace_record r;
		struct block_event e;
		uint8_t data[64];

		ok_int(trace_block_init(&b, LAYER_DEVICE, load, &k, NULL), 0);
		ok_eq(b.nr, 3);
		r = made(data, big, 11, 8, "WFSM", 28);
		memcpy(data + 36, "a-name-of-fifteen", 16); /* as full as it gets */
		ok_int(trace_block_decode(&b, &r, &e, comm), 1);
		ok_int(e.kind, BLOCK_GETRQ);
		ok_eq(e.time_ns, 99);
		ok_eq(e.tid, 4711);
		ok_eq(e.device, device_make(8, 16));
		ok_eq(e.sector, 1ull << 33);
		ok_eq(e.bytes, 4096);
		ok_int(e.operation, OPERATION_WRITE);
		ok_int(e.flags, REQUEST_FUA | REQUEST_SYNC | REQUEST_META);
		ok_str(comm, "a-name-of-fifte");

		r = made(data, big, 13, 16, "R", 32);
		put(data + 28, (uint32_t)-EIO, 4, big);
		ok_int(trace_block_decode(&b, &r, &e, comm), 1);
		ok_int(e.kind, BLOCK_COMPLETE);
		ok_eq(e.bytes, 8192);
		ok_int(e.error, EIO);
		ok_str(comm, "");

		r = made(data, big, 12, 0, "N", 32); /* a command with 36 bytes of its own */
		put(data + 28, 36, 4, big);
		ok_int(trace_block_decode(&b, &r, &e, comm), 1);
		ok_eq(e.bytes, 36);
		ok_int(e.operation, OPERATION_OTHER);
		ok(e.flags & REQUEST_PASSTHROUGH);

		r = made(data, big, 14, 8, "R", 32);
		ok_int(trace_block_decode(&b, &r, &e, comm), 0);
		r = made(data, big, 12, 8, "R", 32);
		r.bytes = 30;
		ok_int(trace_block_decode(&b, &r, &e, comm), -EBADMSG);
		r.bytes = 1;
		ok_int(trace_block_decode(&b, &r, &e, comm), -EBADMSG);
		r = made(data, big, 12, UINT32_MAX, "R", 32);
		ok_int(trace_block_decode(&b, &r, &e, comm), -EBADMSG);
	}
}

static void what_stands_in(void)
{
	struct trace_block b = { .is_big_endian = false };
	struct kernel k = { .without = NULL };
	struct err err = { 0 };

	ok_int(trace_block_init(&b, LAYER_DEVICE, load, &k, &err), 0);
	ok(!k.was_asked_for_start);
	k.without = "block_getrq";
	ok_int(trace_block_init(&b, LAYER_DEVICE, load, &k, &err), 0);
	ok(k.was_asked_for_start);
	ok_eq(b.nr, 2);
	k.without = "block_rq_complete";
	ok_int(trace_block_init(&b, LAYER_DEVICE, load, &k, &err), -ENODATA);
	ok(strstr(err.line, "block_rq_complete") != NULL);
	k.without = NULL;
	ok_int(trace_block_init(&b, LAYER_QUEUE, load, &k, &err), -ENODATA);
	ok(strstr(err.line, "block_bio_queue") != NULL);
}

static const struct tap_test tests[] = {
	{ "records become events in both byte orders", decoded },
	{ "events that a kernel lacks are done without, or named", what_stands_in },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
