/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "agent/source/tracefs/trace_page.h"
#include "tests/support/tap.h"

#define PAGE_BYTES 4096

/* What kernels of 64 and of 32 bits print as events/header_page. */
static const char header_64[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
static const char header_32[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				"\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
				"\tfield: char data;\toffset:12;\tsize:4084;\n";

/* A page in the making, in either byte order. */
struct maker {
	struct trace_page_layout layout;
	uint8_t page[PAGE_BYTES];
	size_t used; /* of the data */
};

static void put(struct maker *m, size_t at, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		size_t from = m->layout.is_big_endian ? bytes - 1 - i : i;

		m->page[at + i] = (uint8_t)(value >> (8 * from));
	}
}

static void word(struct maker *m, uint32_t value)
{
	put(m, m->layout.data_at + m->used, value, 4);
	m->used += 4;
}

static void entry(struct maker *m, unsigned int type, uint32_t delta)
{
	word(m, m->layout.is_big_endian ? type << 27 | delta : delta << 5 | type);
}

static void begin(struct maker *m, bool is_big_endian, const char *header, uint64_t time_ns)
{
	*m = (struct maker){ .layout = { .is_big_endian = is_big_endian } };
	ok_int(trace_page_layout_parse(&m->layout, header, NULL), 0);
	put(m, m->layout.time_at, time_ns, 8);
}

static int open_page(struct maker *m, struct trace_page *p, uint64_t flags)
{
	put(m, m->layout.commit_at, m->used | flags, m->layout.commit_bytes);
	return trace_page_open(p, &m->layout, m->page, m->layout.page_bytes);
}

static void entries_of_every_kind(bool is_big_endian, const char *header)
{
	const uint64_t base = 0x1234567890abcdefull;
	const uint64_t stamp = (base & ~0x7ffffffffffffffull) | 0x400000123456789ull;
	struct trace_record r;
	struct trace_page p;
	struct maker m;

	begin(&m, is_big_endian, header, base);
	entry(&m, 2, 100); /* two words */
	word(&m, 0x11223344);
	word(&m, 5);
	entry(&m, 30, 7); /* time extend */
	word(&m, 3);
	entry(&m, 1, 0);
	word(&m, 6);
	entry(&m, 29, 9); /* taken back: 12 bytes in all, its time counts */
	word(&m, 8);
	word(&m, 0xdead);
	entry(&m, 0, 1); /* the length in its second word: 4 + 120 */
	word(&m, 124);
	for (int i = 0; i < 30; i++)
		word(&m, (uint32_t)i);
	entry(&m, 31, stamp & 0x7ffffff); /* absolute */
	word(&m, (uint32_t)(stamp >> 27));
	entry(&m, 1, 2);
	word(&m, 7);
	entry(&m, 29, 0); /* nothing more */
	word(&m, 0xffffffff);
	ok_int(open_page(&m, &p, 0), 0);
	ok(!p.has_missed);

	ok_int(trace_page_next(&p, &r), 1);
	ok_eq(r.time_ns, base + 100);
	ok_eq(r.bytes, 8);
	ok_eq(trace_number(r.data, 4, is_big_endian), 0x11223344);
	ok_int(trace_page_next(&p, &r), 1);
	ok_eq(r.time_ns, base + 100 + (3ull << 27) + 7);
	ok_eq(trace_number(r.data, 4, is_big_endian), 6);
	ok_int(trace_page_next(&p, &r), 1);
	ok_eq(r.time_ns, base + 100 + (3ull << 27) + 7 + 9 + 1);
	ok_eq(r.bytes, 120);
	ok_eq(trace_number(r.data + 116, 4, is_big_endian), 29);
	ok_int(trace_page_next(&p, &r), 1);
	ok_eq(r.time_ns, stamp + 2);
	ok_eq(trace_number(r.data, 4, is_big_endian), 7);
	ok_int(trace_page_next(&p, &r), 0);
	ok_int(trace_page_next(&p, &r), 0);
}

static void little_endian(void)
{
	entries_of_every_kind(false, header_64);
}

static void big_endian(void)
{
	entries_of_every_kind(true, header_64);
}

static void of_32_bits(void)
{
	entries_of_every_kind(false, header_32);
	entries_of_every_kind(true, header_32);
}

static void missed_events(void)
{
	struct trace_page p;
	struct maker m;

	for (int is_big_endian = 0; is_big_endian < 2; is_big_endian++) {
		begin(&m, is_big_endian, header_64, 1);
		entry(&m, 1, 1);
		word(&m, 1);
		ok_int(open_page(&m, &p, 1u << 31), 0);
		ok(p.has_missed && !p.missed_known);
		put(&m, m.layout.data_at + m.used, 4711, 8);
		ok_int(open_page(&m, &p, 3u << 30), 0);
		ok(p.has_missed && p.missed_known);
		ok_eq(p.nr_missed, 4711);
	}
}

static void missed_without_room(void)
{
	struct trace_page p;
	struct maker m;

	begin(&m, false, header_64, 1);
	m.used = m.layout.page_bytes - m.layout.data_at - 4;
	ok_int(open_page(&m, &p, 3u << 30), 0);
	ok(p.has_missed && !p.missed_known);
}

/* Each damage is refused, or ends the page, without a look behind it. */
static void damaged(void)
{
	struct trace_record r;
	struct trace_page p;
	struct maker m;

	begin(&m, false, header_64, 1);
	m.used = m.layout.page_bytes - m.layout.data_at + 1;
	ok_int(open_page(&m, &p, 0), -EBADMSG);
	ok_int(trace_page_open(&p, &m.layout, m.page, 15), -EBADMSG);

	begin(&m, false, header_64, 1);
	entry(&m, 28, 1); /* 112 bytes that are not there */
	ok_int(open_page(&m, &p, 0), 0);
	ok_int(trace_page_next(&p, &r), -EBADMSG);

	begin(&m, false, header_64, 1);
	entry(&m, 0, 1); /* without its second word */
	ok_int(open_page(&m, &p, 0), 0);
	ok_int(trace_page_next(&p, &r), -EBADMSG);
	word(&m, 3); /* a length below that of its own word */
	ok_int(open_page(&m, &p, 0), 0);
	ok_int(trace_page_next(&p, &r), -EBADMSG);

	begin(&m, false, header_64, 1);
	entry(&m, 29, 1);
	word(&m, 0xfffffffe); /* longer than any page */
	ok_int(open_page(&m, &p, 0), 0);
	ok_int(trace_page_next(&p, &r), -EBADMSG);
}

static void strange_headers(void)
{
	static const char *const bad[] = {
		"",
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\n",
		"\tfield: u64 timestamp;\toffset:0;\tsize:4;\n\tfield: local_t commit;\toffset:8;"
		"\tsize:8;\n\tfield: char data;\toffset:16;\tsize:4080;\n",
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\n\tfield: local_t commit;\toffset:8;"
		"\tsize:8;\n\tfield: char data;\toffset:12;\tsize:4080;\n",
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\n\tfield: local_t commit;\toffset:8;"
		"\tsize:8;\n\tfield: char data;\toffset:16;\tsize:4294967295;\n",
	};
	struct trace_page_layout l = { .page_bytes = 1 };
	struct err err = { 0 };

	for (size_t i = 0; i < TAP_NR(bad); i++) {
		ok_int(trace_page_layout_parse(&l, bad[i], &err), -EINVAL);
		ok(strstr(err.line, "events/header_page") != NULL);
		ok_eq(l.page_bytes, 1);
	}
	ok_int(trace_page_layout_parse(&l, header_64, &err), 0);
	ok_eq(l.page_bytes, 4096);
	ok_int(trace_page_layout_parse(&l, header_32, &err), 0);
	ok_eq(l.commit_bytes, 4);
	ok_eq(l.data_at, 12);
}

static const struct tap_test tests[] = {
	{ "a little-endian page gives every record and its time", little_endian },
	{ "a big-endian page gives the same", big_endian },
	{ "pages of 32-bit kernels give the same", of_32_bits },
	{ "missed records are told, with their number where it is stored", missed_events },
	{ "a number that the page has no room for is unknown", missed_without_room },
	{ "damaged pages are refused and never read beyond", damaged },
	{ "header pages are read, and refused by name", strange_headers },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
