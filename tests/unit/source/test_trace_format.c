/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "agent/source/tracefs/trace_format.h"
#include "tests/support/tap.h"

#define COMMON_8                                                                       \
	"format:\n"                                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* block_rq_complete as 4.19, 6.1, 6.12 and a vendor's kernel with a longer header print it. */
static const char complete_4_19[] =
	"name: block_rq_complete\nID: 1090\n" COMMON_8
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:__data_loc char[] cmd;\toffset:40;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"%d,%d %s (%s) %llu + %u [%d]\", field:none;\n";
static const char complete_6_12[] =
	"name: block_rq_complete\nID: 1412\n" COMMON_8
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned short ioprio;\toffset:32;\tsize:2;\tsigned:0;\n"
	"\tfield:char rwbs[8];\toffset:34;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] cmd;\toffset:44;\tsize:4;\tsigned:0;\n";
static const char complete_vendor[] =
	"name: block_rq_complete\nID: 977\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned char common_preempt_lazy_count;\toffset:8;\tsize:1;\tsigned:0;\n\n"
	"\tfield:dev_t dev;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] cmd;\toffset:40;\tsize:4;\tsigned:0;\n";

static void put(uint8_t *at, uint64_t value, size_t bytes, bool is_big_endian)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> (8 * (is_big_endian ? bytes - 1 - i : i)));
}

/* A record made by the offsets that the format is known to have, and read back by the parser. */
static void completes(const char *text, unsigned int dev_at, unsigned int rwbs_at,
		      unsigned int cmd_at, bool is_big_endian)
{
	struct trace_format f;
	struct err err = { 0 };
	uint8_t record[64] = { 0 };
	uint64_t value;
	char rwbs[16];

	ok_int(trace_format_parse(&f, text, &err), 0);
	ok_str(f.event, "block_rq_complete");
	put(record + dev_at, 7u << 20 | 3, 4, is_big_endian);
	put(record + 16, 123456789012ull, 8, is_big_endian);
	put(record + 28, (uint32_t)-5, 4, is_big_endian);
	memcpy(record + rwbs_at, "FWFSMXYZ", 8); /* as full as it gets: not ended */
	put(record + cmd_at, 3u << 16 | 52, 4, is_big_endian);
	memcpy(record + 52, "ab", 3);
	ok(trace_field_number(trace_format_field(&f, "dev"), record, 56, is_big_endian, &value));
	ok_eq(value, 7u << 20 | 3);
	ok(trace_field_number(trace_format_field(&f, "sector"), record, 56, is_big_endian, &value));
	ok_eq(value, 123456789012ull);
	ok(trace_field_number(trace_format_field(&f, "error"), record, 56, is_big_endian, &value));
	ok_int((int64_t)value, -5);
	ok(trace_field_text(trace_format_field(&f, "rwbs"), record, 56, is_big_endian, rwbs,
			    sizeof(rwbs)));
	ok_str(rwbs, "FWFSMXYZ");
	ok(trace_field_text(trace_format_field(&f, "cmd"), record, 56, is_big_endian, rwbs,
			    sizeof(rwbs)));
	ok_str(rwbs, "ab");
	ok(!trace_field_text(trace_format_field(&f, "cmd"), record, 54, is_big_endian, rwbs,
			     sizeof(rwbs)));
	ok(!trace_field_number(trace_format_field(&f, "error"), record, 30, is_big_endian, &value));
	ok(trace_format_field(&f, "comm") == NULL);
}

static void versions(void)
{
	for (int is_big_endian = 0; is_big_endian < 2; is_big_endian++) {
		completes(complete_4_19, 8, 32, 40, is_big_endian);
		completes(complete_6_12, 8, 34, 44, is_big_endian);
		completes(complete_vendor, 12, 32, 40, is_big_endian);
	}
}

static void header_of_12_bytes(void)
{
	struct trace_format f;

	ok_int(trace_format_parse(&f, complete_vendor, NULL), 0);
	ok_eq(f.id, 977);
	ok_eq(trace_format_field(&f, "dev")->offset, 12);
	ok(trace_format_field(&f, "common_preempt_lazy_count") != NULL);
	ok(trace_format_field(&f, "common_pid")->is_signed);
	ok(trace_format_field(&f, "cmd")->is_data_loc);
}

static void refused(void)
{
	static const char *const bad[] = {
		"",
		"name: x\nformat:\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 70000\nformat:\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 7\n",
		"name: x\nID: 7\nformat:\n\tfield:int a;\toffset:0;\n",
		"name: x\nID: 7\nformat:\n\tfield:int a;\toffset:70000;\tsize:4;\tsigned:1;\n",
		"name: x\nID: 7\nformat:\n\tfield:;\toffset:0;\tsize:4;\tsigned:1;\n",
	};
	struct trace_format f = { .id = 1 };
	struct err err = { 0 };

	for (size_t i = 0; i < TAP_NR(bad); i++) {
		ok_int(trace_format_parse(&f, bad[i], &err), -EINVAL);
		ok(strstr(err.line, "expected") != NULL);
		ok_eq(f.id, 1);
	}
}

static const struct tap_test tests[] = {
	{ "fields are found where 4.19, 6.12 and a vendor's kernel put them, in both byte orders",
	  versions },
	{ "a common header of 12 bytes moves nothing out of sight", header_of_12_bytes },
	{ "what is no format is refused", refused },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
