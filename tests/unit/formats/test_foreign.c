/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Importers on small literal inputs with known requests; text formats also in
 * tests/cli/import-*.sh.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/foreign/foreign.h"
#include "tests/support/tap.h"

#define MAX 64

struct got {
	struct request r[MAX];
	int64_t nr;
	uint64_t skipped;
	char format[32];
	char host[MAX][FOREIGN_NAME_BYTES], name[MAX][FOREIGN_NAME_BYTES];
	uint32_t number[MAX];
	bool wall;
};

/* format NULL: detected. */
static struct got *take(const char *format, const void *data, size_t len)
{
	static struct got g;
	struct foreign_options options = { 0 };
	const struct foreign_format *which = format ? foreign_format_named(format) : NULL;
	struct foreign_input *in = NULL;
	struct foreign *f = NULL;
	struct err err = { 0 };
	int64_t nr;

	memset(&g, 0, sizeof(g));
	g.nr = -1;
	if (!ok_int(foreign_input_open_memory(&in, "test", data, len, &err), 0))
		return &g;
	if (!which)
		ok_int(foreign_detect(in, &options, &which, &err), 0);
	if (!ok(which != NULL)) {
		foreign_input_free(in);
		return &g;
	}
	snprintf(g.format, sizeof(g.format), "%s", which->name);
	if (!ok_int(foreign_open(&f, which, &options, &in, 1, &err), 0))
		return &g;
	g.nr = 0;
	while (g.nr < MAX && (nr = foreign_next(f, g.r + g.nr, (size_t)(MAX - g.nr), &err)) > 0)
		g.nr += nr;
	if (g.nr < MAX && nr < 0)
		g.nr = nr;
	for (int64_t i = 0; i < g.nr; i++) {
		const struct foreign_device *d = &f->devices[g.r[i].device];

		snprintf(g.host[i], sizeof(g.host[i]), "%s", d->host);
		snprintf(g.name[i], sizeof(g.name[i]), "%s", d->name);
		g.number[i] = d->number;
	}
	g.skipped = f->skips.nr;
	g.wall = f->wall;
	foreign_close(f);
	return &g;
}

static struct got *take_text(const char *format, const char *text)
{
	return take(format, text, strlen(text));
}

static void is_request(const struct got *g, int i, uint64_t arrival_ns, unsigned int operation,
		       uint64_t sector, uint32_t bytes, int64_t response_ns)
{
	const struct request *r = &g->r[i];

	ok_eq(r->arrival_ns, arrival_ns);
	ok_eq(r->operation, operation);
	ok_eq(r->sector, sector);
	ok_eq(r->bytes, bytes);
	ok_int(r->flags & REQUEST_NO_COMPLETION ? -1 : (int64_t)(r->completion_ns - r->arrival_ns),
	       response_ns);
	ok_eq(r->source, SOURCE_IMPORT);
	ok(request_check(r) == NULL);
}

static void put(uint8_t *at, uint64_t value, int bytes, bool big)
{
	for (int i = 0; i < bytes; i++)
		at[big ? bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static void vscsi_1_in_both_orders(void)
{
	for (int big = 0; big < 2; big++) {
		uint8_t data[3 * 32] = { 0 };
		const struct got *g;

		for (int i = 0; i < 3; i++) {
			uint8_t *r = data + 32 * i;

			put(r, 0x80000000u + (unsigned int)i, 4, big);
			put(r + 4, 4096u << i, 4, big);
			put(r + 8, 1, 4, big);
			put(r + 12, i == 0 ? 0x28 : i == 1 ? 0x8a : 0x42, 2, big);
			put(r + 14, 0x0100, 2, big);
			put(r + 16, 0x123456789aull + (unsigned int)i, 8, big);
			put(r + 24, 5633898368802ull + 10u * (unsigned int)i, 8, big);
		}
		g = take(NULL, data, sizeof(data));
		ok_str(g->format, "vscsi");
		ok_int(g->nr, 3);
		is_request(g, 0, 5633898368802000ull, OPERATION_READ, 0x123456789aull, 4096, -1);
		is_request(g, 1, 5633898368812000ull, OPERATION_WRITE, 0x123456789bull, 8192, -1);
		is_request(g, 2, 5633898368822000ull, OPERATION_DISCARD, 0x123456789cull, 16384,
			   -1);
	}
}

static void vscsi_2_has_response_times(void)
{
	for (int big = 0; big < 2; big++) {
		uint8_t data[2 * 40 + 7] = { 0 };
		const struct got *g;

		for (int i = 0; i < 2; i++) {
			uint8_t *r = data + 40 * i;

			put(r, i ? 0x35 : 0x2a, 2, big);
			put(r + 2, 0x0200, 2, big);
			put(r + 8, i ? 0 : 512, 4, big);
			put(r + 16, 77, 8, big);
			put(r + 24, 1000 + (unsigned int)i, 8, big);
			put(r + 32, 250, 8, big);
		}
		g = take(NULL, data, sizeof(data));
		ok_str(g->format, "vscsi");
		ok_int(g->nr, 2);
		ok_eq(g->skipped, 1); /* the seven bytes left over */
		is_request(g, 0, 1000000, OPERATION_WRITE, 77, 512, 250000);
		is_request(g, 1, 1001000, OPERATION_FLUSH, 77, 0, 250000);
	}
}

static void oracle_has_no_operations(void)
{
	uint8_t data[2 * 24] = { 0 };
	const struct got *g;

	for (int i = 0; i < 2; i++) {
		put(data + 24 * i, 100 + (unsigned int)i, 4, false);
		put(data + 24 * i + 4, 42949672960ull, 8, false);
		put(data + 24 * i + 12, 1536, 4, false);
		put(data + 24 * i + 16, i ? UINT64_MAX : 1, 8, false);
	}
	g = take(NULL, data, sizeof(data));
	ok_str(g->format, "oracle");
	ok_int(g->nr, 2);
	is_request(g, 0, 100000000000ull, OPERATION_OTHER, 42949672960ull, 1536, -1);
	is_request(g, 1, 101000000000ull, OPERATION_OTHER, 42949672960ull, 1536, -1);
	ok(g->r[0].flags & g->r[1].flags & REQUEST_NO_OPERATION);
}

static void text_formats_are_told_apart(void)
{
	static const struct {
		const char *format, *text;
	} all[] = {
		{ "msr",
		  "128166372003061629,usr,0,Read,0,512,10\n128166372003061630,usr,0,Write,0,512,10\n" },
		{ "alibaba", "419,W,0,512,1577808000000626\n725,R,0,512,1577808000001545\n" },
		{ "tencent", "1538323200,0,8,0,1063\n1538323201,0,8,1,1063\n" },
		{ "spc", "0,20941264,8192,W,0.551706\n1,3698,512,r,0.554041\n" },
		{ "systor",
		  "Timestamp,Response,IOType,LUN,Offset,Size\n1455592320.0,,W,2,0,512\n" },
		{ "ssdsim", "0 0 303567 7 0\n26214000 1 240840 6 1\n" },
		{ "disksim", "0.5 0 303567 7 1\n26.2 1 240840 6 0\n" },
		{ "disksim-service", "W Hit 4583176 4 663.0 45422.0\nR Miss 0 4 6.0 34.0\n" },
		{ "arc", "230027 8 0 0\n1842745 64 0 1\n" },
		{ "fio-iolog", "fio version 3 iolog\n0 f add\n0 f open\n5 f read 0 512\n" },
		{ "blkparse",
		  "  8,0 1 1 0.000000001 7 G R 8 + 8 [x y]\n  8,0 1 2 0.000000009 7 C R 8 + 8 [0]\n" },
		{ "csv", "version,time,op,size,lbn\n1,5633898,2a,512,42932745\n" },
	};

	for (size_t i = 0; i < TAP_NR(all); i++) {
		const struct got *g = take_text(NULL, all[i].text);

		ok_str(g->format, all[i].format);
		ok(g->nr > 0);
		ok_eq(g->skipped, 0);
	}
}

static void msr_times_and_names(void)
{
	const struct got *g = take_text("msr", "128166372003061629,usr,7,Read,1536,512,10\n"
					       "116444735999999999,usr,7,Read,0,512,10\n"
					       "128166372003061629,usr,7,Read,0,4294967296,10\n"
					       "128166372003061629,usr,7,Read,0,512,864000000001\n"
					       "128166372003061629,src,7,Write,0,512,0");

	ok_int(g->nr, 2);
	ok_eq(g->skipped, 3); /* before 1970, over 4 GiB, over a day */
	ok(g->wall);
	is_request(g, 0, 1172163600306162900ull, OPERATION_READ, 3, 512, 1000);
	is_request(g, 1, 1172163600306162900ull, OPERATION_WRITE, 0, 512, 0);
	ok_str(g->host[0], "usr");
	ok_str(g->host[1], "src");
	ok_str(g->name[0], "disk7");
	ok_eq(g->number[0], device_make(FOREIGN_MAJOR_NUMBERED, 7));
}

/* 4 GiB less 1 KiB can be discarded at once, and not written. */
static void blkparse_lengths(void)
{
	const struct got *g = take_text("blkparse", "  8,0 0 1 0.000000100 7 D WS 8 + 8388606 [x]\n"
						    "  8,0 0 2 0.000000200 7 C WS 8 + 8388606 [0]\n"
						    "  8,0 0 3 0.000000300 7 D D 8 + 8388606 [x]\n"
						    "  8,0 0 4 0.000000400 7 C D 8 + 8388606 [0]\n"
						    "  8,0 0 5 0.000000500 7 D WS 8 + 8 [x]\n"
						    "  8,0 0 6 0.000000600 7 C WS 8 + 8 [0]\n");

	ok_int(g->nr, 2);
	ok_eq(g->skipped, 2);
	is_request(g, 0, 300, OPERATION_DISCARD, 8, 8388606u * 512, 100);
	is_request(g, 1, 500, OPERATION_WRITE, 8, 4096, 100);
}

static void numbers_become_ns(void)
{
	static const struct {
		const char *text;
		uint64_t unit_ns, ns;
		bool good;
	} all[] = {
		{ "1.5", 1000000000, 1500000000, true },
		{ "0.0000000005", 1000000000, 1, true }, /* rounded */
		{ "0.00000000049", 1000000000, 0, true },
		{ "1454284800.123456789", 1000000000, 1454284800123456789ull, true },
		{ "1.25e-3", 1000000000, 1250000, true },
		{ "2E3", 1000, 2000000, true },
		{ "9999999999.999999999", 1000000000, 9999999999999999999ull, true },
		{ "18446744074", 1000000000, 0, false },
		{ "1e400", 1, 0, false },
		{ "0e399", 1, 0, true },
		{ "", 1, 0, false },
		{ ".", 1, 0, false },
		{ "-1", 1, 0, false },
		{ "1.2.3", 1, 0, false },
		{ "nan", 1, 0, false },
		{ "1e", 1, 0, false },
		{ ".5", 100, 50, true },
		{ "3.", 100, 300, true },
	};

	for (size_t i = 0; i < TAP_NR(all); i++) {
		uint64_t ns = 0;
		bool good =
			text_ns(text_make(all[i].text, strlen(all[i].text)), all[i].unit_ns, &ns);

		tap_note("%s", all[i].text);
		ok(good == all[i].good);
		ok_eq(ns, all[i].ns);
	}
}

static void clocks_are_not_mixed(void)
{
	const struct got *g = take_text("alibaba", "1,R,0,512,1577808000000000\n1,R,0,512,17\n"
						   "1,R,0,512,9223372036854775807\n"
						   "1,R,0,512,1577808000000001\n");

	ok_int(g->nr, 2);
	ok_eq(g->skipped, 2);
}

static void many_devices_keep_their_numbers(void)
{
	static char text[400000];
	const struct got *g;
	size_t len = 0;

	/* 5000 volumes: the table of them grows */
	for (unsigned int i = 0; i < 5000; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "1538323200,0,8,0,%u\n",
					(i * 7919) % 5000);
	g = take("tencent", text, len);
	ok_int(g->nr, MAX);
	for (unsigned int i = 0; i < MAX; i++)
		ok_eq(g->number[i], device_make(FOREIGN_MAJOR_NUMBERED, (i * 7919) % 5000));
}

/* A zstd stream of one line, whose header asks for a window of 2^log bytes. */
static int open_with_window(unsigned int log, struct err *err)
{
	const uint8_t packed[] = { 0x28, 0xb5, 0x2f, 0xfd, 0,	(uint8_t)((log - 10) << 3),
				   17,	 0,    0,    'a',  '\n' };
	struct foreign_input *in = NULL;
	const char *line;
	size_t len;
	int status;

	if (!ok_int(foreign_input_open_memory(&in, "trace.zst", packed, sizeof(packed), err), 0))
		return 0;
	status = foreign_input_line(in, &line, &len, err);
	foreign_input_free(in);
	return status;
}

static void large_windows_are_refused(void)
{
	struct err err = { 0 };

	ok_int(open_with_window(25, &err), 1);
	ok_int(open_with_window(26, &err), -EFBIG);
	ok_str(err.line, "trace.zst: expected zstd data with a window of up to 32 MiB, "
			 "decompress it first");
}

static const struct tap_test tests[] = {
	{ "a zstd stream that asks for more memory than 32 MiB is refused",
	  large_windows_are_refused },
	{ "vscsi version 1 in both byte orders", vscsi_1_in_both_orders },
	{ "vscsi version 2 has response times, and its cut end is counted",
	  vscsi_2_has_response_times },
	{ "oracleGeneral: seconds and places, no operations", oracle_has_no_operations },
	{ "formats of text are told apart by their first lines", text_formats_are_told_apart },
	{ "MSR: FILETIME, hosts, disks; what cannot be is skipped", msr_times_and_names },
	{ "blkparse: a length that no kernel gives to an operation is skipped", blkparse_lengths },
	{ "decimal numbers of any unit become nanoseconds", numbers_become_ns },
	{ "times of another clock in between are skipped", clocks_are_not_mixed },
	{ "thousands of devices keep their own numbers", many_devices_keep_their_numbers },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
