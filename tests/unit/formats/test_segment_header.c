/* SPDX-License-Identifier: Apache-2.0 */
/* Segments under a right checksum with one thing wrong in them: each refused by its name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "agent/spool/tally.h"
#include "base/memory/varint.h"
#include "formats/segment/column.h"
#include "formats/segment/plane.h"
#include "formats/segment/segment.h"
#include "formats/segment/segment_header.h"
#include "formats/streams.h"
#include "tests/support/tap.h"

/* One entry of the header's map, already packed. */
struct entry {
	const char *key, *bytes;
	size_t len;
};
#define ENTRY(key, bytes)                      \
	{                                      \
		key, bytes, sizeof(bytes) - 1, \
	}

/* A header of all keys that holds nothing; columns are packed apart. */
static const struct entry plain[] = {
	ENTRY("host", "\xa1h"),
	ENTRY("boot_id", "\xa1"
			 "b"),
	ENTRY("agent_version", "\xa1v"),
	ENTRY("epoch", "\x05"),
	ENTRY("sequence", "\x07"),
	ENTRY("source", "\xa3"
			"bpf"),
	ENTRY("layer", "\xa6"
		       "device"),
	ENTRY("begin", "\x93\x01\x02\x03"),
	ENTRY("end", "\x93\x04\x05\x06"),
	ENTRY("captured", "\x00"),
	ENTRY("requests", "\x00"),
	ENTRY("devices", "\x90"),
	ENTRY("processes", "\x90"),
	ENTRY("cgroups", "\x90"),
	ENTRY("losses", "\x90"),
	ENTRY("profiles", "\x90"),
};

static void put_text(struct buf *b, const char *text)
{
	buf_put_u8(b, (uint8_t)(0xa0 | strlen(text)));
	buf_put(b, text, strlen(text));
}

static void put_columns(struct buf *b, const struct buf columns[NR_SEGMENT_COLUMNS])
{
	buf_put_u8(b, 0x90 | NR_SEGMENT_COLUMNS);
	for (unsigned int i = 0; i < NR_SEGMENT_COLUMNS; i++) {
		buf_put_u8(b, 0x92);
		put_text(b, segment_column_name(i));
		buf_put_u8(b, 0xcd);
		buf_put_u8(b, (uint8_t)(columns[i].len >> 8));
		buf_put_u8(b, (uint8_t)columns[i].len);
	}
}

/* The plain header with some entries in place of its own. */
static void put_header(struct buf *b, const struct entry *other, size_t nr,
		       const struct buf columns[NR_SEGMENT_COLUMNS])
{
	bool has_columns = false;

	buf_put(b, "\xde\x00\x11", 3); /* 17 entries */
	for (size_t i = 0; i < TAP_NR(plain); i++) {
		const struct entry *e = &plain[i];

		for (size_t k = 0; k < nr; k++)
			if (!strcmp(other[k].key, plain[i].key))
				e = &other[k];
		put_text(b, e->key);
		buf_put(b, e->bytes, e->len);
	}
	put_text(b, "columns");
	for (size_t k = 0; k < nr; k++)
		if (!strcmp(other[k].key, "columns")) {
			buf_put(b, other[k].bytes, other[k].len);
			has_columns = true;
		}
	if (!has_columns)
		put_columns(b, columns);
}

/* A whole segment, with its lengths and its checksum right. */
static void frame(struct buf *b, const void *header, size_t header_len, const void *rest,
		  size_t rest_len)
{
	size_t len = SEGMENT_PREFIX_BYTES + 4 + header_len + rest_len;
	struct buf body = { 0 };

	buf_put_le32(&body, (uint32_t)header_len);
	buf_put(&body, header, header_len);
	if (rest_len)
		buf_put(&body, rest, rest_len);
	buf_put(b, SEGMENT_MAGIC, SEGMENT_MAGIC_BYTES);
	buf_put_le32(b, SEGMENT_VERSION_PAUSES);
	buf_put_le32(b, (uint32_t)len);
	buf_put_le64(b, XXH3_64bits(body.data, body.len));
	buf_put(b, body.data, body.len);
	buf_release(&body);
}

/* The code that a reader gives, or what the requests give; *nr of them came. */
static int verdict(const struct buf *b, struct err *err, size_t *nr)
{
	struct segment_reader *s = NULL;
	struct request r[8];
	int64_t got;
	int ret;

	*err = (struct err){ 0 };
	*nr = 0;
	ret = segment_reader_new(&s, b->data, b->len, err);
	if (ret) {
		ok(!s && err->line[0]);
		return ret;
	}
	while ((got = segment_reader_next(s, r, TAP_NR(r))) > 0)
		*nr += (size_t)got;
	segment_reader_free(s);
	return (int)got;
}

static void check(const struct entry *other, size_t nr_other, int want, const char *line)
{
	static const struct buf none[NR_SEGMENT_COLUMNS];
	struct buf header = { 0 }, b = { 0 };
	struct err err;
	size_t nr;

	put_header(&header, other, nr_other, none);
	frame(&b, header.data, header.len, NULL, 0);
	ok_int(verdict(&b, &err, &nr), want);
	if (!ok(!strncmp(err.line, line, strlen(line))))
		tap_note("'%s', expected '%s'", err.line, line);
	ok_eq(nr, 0);
	buf_release(&header);
	buf_release(&b);
}

static void plain_header_is_read(void)
{
	check(NULL, 0, 0, "");
	ok(!segment_header_key(99) && !segment_column_name(99) && !loss_cause_name(99));
	ok_str(segment_header_key(0), "host");
}

#define H	"segment header: "
#define NUMBER	": expected a whole number in its range"
#define TEXT	": expected a text that is not too long"
#define WIDE	"\xcf\x00\x00\x00\x01\x00\x00\x00\x00" /* 2^32 */
#define LOSS(v) "\x91\x95" v
#define LOST	"\xa9ring_full"

static const struct {
	struct entry entry;
	int code;
	const char *line;
} wrong[] = {
	{ ENTRY("epoch", "\xa1x"), -EBADMSG, H "epoch" NUMBER },
	{ ENTRY("sequence", "\xc0"), -EBADMSG, H "sequence" NUMBER },
	{ ENTRY("captured", "\xc3"), -EBADMSG, H "captured" NUMBER },
	{ ENTRY("requests", "\xce\x00\x01\x00\x01"), -EBADMSG, H "requests" NUMBER },
	{ ENTRY("host", "\xa3"
			"a\0b"),
	  -EBADMSG, H "host" TEXT },
	{ ENTRY("host", "\xd9\x40"
			"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
	  -EBADMSG, H "host" TEXT },
	{ ENTRY("boot_id", "\x90"), -EBADMSG, H "boot_id" TEXT },
	{ ENTRY("agent_version", "\x01"), -EBADMSG, H "agent_version" TEXT },
	{ ENTRY("source", "\x01"), -EBADMSG, H "source" TEXT },
	{ ENTRY("source", "\xa3xyz"), -EPROTONOSUPPORT, H "source: 'xyz' is not known here" },
	{ ENTRY("layer", "\xa3xyz"), -EPROTONOSUPPORT, H "layer: 'xyz' is not known here" },
	{ ENTRY("begin", "\x01"), -EBADMSG, H "begin: expected an array" },
	{ ENTRY("begin", "\x92\x01\x02"), -EBADMSG, H "begin: expected 3 entries, got 2" },
	{ ENTRY("begin", "\x93\xa1x\x02\x03"), -EBADMSG, H "begin" NUMBER },
	{ ENTRY("begin", "\x93\x01\xa1x\x03"), -EBADMSG, H "begin" NUMBER },
	{ ENTRY("end", "\x93\x04\x05\xa1x"), -EBADMSG, H "end" NUMBER },
	{ ENTRY("end", "\x93\x00\x05\x06"), -EBADMSG,
	  H "end: expected a monotonic time that is not before the begin" },
	{ ENTRY("devices", "\x01"), -EBADMSG, H "devices: expected an array" },
	{ ENTRY("devices", "\x91\x07"), -EBADMSG, H "devices: expected an array" },
	{ ENTRY("devices", "\x91\x92\x01\x02"), -EBADMSG, H "devices: expected 3 entries, got 2" },
	{ ENTRY("devices", "\x91\x93" WIDE "\x02\xa1n"), -EBADMSG, H "devices" NUMBER },
	{ ENTRY("devices", "\x91\x93\x01\xa1x\xa1n"), -EBADMSG, H "devices" NUMBER },
	{ ENTRY("devices", "\x91\x93\x01\x02\x03"), -EBADMSG, H "devices" TEXT },
	{ ENTRY("processes", "\x01"), -EBADMSG, H "processes: expected an array" },
	{ ENTRY("processes", "\x91\x91\x01"), -EBADMSG, H "processes: expected 2 entries" },
	{ ENTRY("processes", "\x91\x92" WIDE "\xa1n"), -EBADMSG, H "processes" NUMBER },
	{ ENTRY("processes", "\x91\x92\x01\x02"), -EBADMSG, H "processes" TEXT },
	{ ENTRY("cgroups", "\x01"), -EBADMSG, H "cgroups: expected an array" },
	{ ENTRY("cgroups", "\x91\x91\x01"), -EBADMSG, H "cgroups: expected 2 entries, got 1" },
	{ ENTRY("cgroups", "\x91\x92\xa1x\xa1n"), -EBADMSG, H "cgroups" NUMBER },
	{ ENTRY("cgroups", "\x91\x92\x01\x02"), -EBADMSG, H "cgroups" TEXT },
	{ ENTRY("losses", "\x01"), -EBADMSG, H "losses: expected an array" },
	{ ENTRY("losses", "\x91\x91\x01"), -EBADMSG, H "losses: expected 5 entries, got 1" },
	{ ENTRY("losses", LOSS("\x01\x01\x01\x02\x08")), -EBADMSG, H "losses" TEXT },
	{ ENTRY("losses", LOSS("\xa3xyz\x01\x01\x02\x08")), -EPROTONOSUPPORT,
	  H "losses: 'xyz' is not known here" },
	{ ENTRY("losses", LOSS(LOST "\xa1x\x01\x02\x08")), -EBADMSG, H "losses" NUMBER },
	{ ENTRY("losses", LOSS(LOST "\x01\xa1x\x02\x08")), -EBADMSG, H "losses" NUMBER },
	{ ENTRY("losses", LOSS(LOST "\x01\x01\xa1x\x08")), -EBADMSG, H "losses" NUMBER },
	{ ENTRY("losses", LOSS(LOST "\x01\x01\x02" WIDE)), -EBADMSG, H "losses" NUMBER },
	{ ENTRY("losses", LOSS(LOST "\x01\x02\x01\x08")), -EBADMSG,
	  H "losses: expected an end that is not before the begin" },
	{ ENTRY("profiles", "\x01"), -EBADMSG, H "profiles: expected an array" },
	{ ENTRY("profiles", "\x91\xa1x"), -EBADMSG, H "profiles: expected compressed texts" },
	{ ENTRY("profiles", "\x91\xc4\x04"
			    "abcd"),
	  -EBADMSG, H "profiles: expected zstd frames that declare" },
	/* No content size declared: one raw, empty, last block. */
	{ ENTRY("profiles", "\x91\xc4\x09\x28\xb5\x2f\xfd\x00\x58\x01\x00\x00"), -EBADMSG,
	  H "profiles: expected zstd frames that declare" },
	/* 2^40 bytes declared, and none there. */
	{ ENTRY("profiles", "\x91\xc4\x0d\x28\xb5\x2f\xfd\xe0\x00\x00\x00\x00\x00\x01\x00\x00"),
	  -EFBIG, H "profiles: texts over the limit" },
	/* 4 bytes declared, and none there. */
	{ ENTRY("profiles", "\x91\xc4\x06\x28\xb5\x2f\xfd\x20\x04"), -EBADMSG,
	  H "profiles: expected zstd frames that can be read" },
	{ ENTRY("columns", "\x01"), -EBADMSG, H "columns: expected an array" },
	{ ENTRY("columns", "\x91\x01"), -EBADMSG, H "columns: expected 11 entries, got 1" },
	{ ENTRY("columns", "\x9b\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"), -EBADMSG,
	  H "columns: expected an array" },
	{ ENTRY("columns", "\x9b\x92\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"), -EBADMSG,
	  H "columns" TEXT },
	{ ENTRY("columns", "\x9b\x92\xa1x\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"),
	  -EPROTONOSUPPORT, H "columns: expected 'kind', got 'x'" },
	{ ENTRY("columns", "\x9b\x92\xa4kind\xc0\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"),
	  -EBADMSG, H "columns" NUMBER },
	{ ENTRY("epoch", "\xca\x00\x00\x00\x00"), -EBADMSG, H "header: expected one msgpack map" },
	{ ENTRY("epoch", "\xc1"), -EBADMSG, H "header: expected one msgpack map" },
};

static void each_wrong_value_is_named(void)
{
	for (size_t i = 0; i < TAP_NR(wrong); i++)
		check(&wrong[i].entry, 1, wrong[i].code, wrong[i].line);
}

static void sound_losses_are_read(void)
{
	/* Known, of known count 0, and a gap. */
	static const struct entry losses =
		ENTRY("losses", "\x93\x95" LOST "\x03\x01\x02\x08\x95" LOST "\x00\x01\x02\x08"
				"\x95" LOST "\xc0\x05\x06\x00");

	check(&losses, 1, 0, "");
}

static void too_many_entries_are_refused(void)
{
	static const struct {
		const char *key;
		uint32_t max;
	} arrays[] = { { "devices", SEGMENT_MAX_DEVICES },
		       { "processes", SEGMENT_MAX_PROCESSES },
		       { "cgroups", SEGMENT_MAX_CGROUPS },
		       { "losses", SEGMENT_MAX_LOSSES },
		       { "profiles", SEGMENT_MAX_PROFILES } };

	for (size_t i = 0; i < TAP_NR(arrays); i++) {
		uint32_t nr = arrays[i].max + 1;
		struct buf b = { 0 };
		struct entry e;

		buf_put_u8(&b, 0xdd);
		for (int shift = 24; shift >= 0; shift -= 8)
			buf_put_u8(&b, (uint8_t)(nr >> shift));
		for (uint32_t k = 0; k < nr; k++)
			buf_put_u8(&b, 0xc0);
		e = (struct entry){ arrays[i].key, (const char *)b.data, b.len };
		check(&e, 1, -EFBIG, "segment header: ");
		buf_release(&b);
	}
}

/* Each within its bound, but together more than a reader keeps. */
static void texts_are_bounded_together(void)
{
	size_t size = 1u << 20, bound = ZSTD_compressBound(size), len;
	char *zeros = calloc(1, size), *packed = malloc(bound);
	struct entry e = { .key = "profiles" };

	len = ZSTD_compress(packed, bound, zeros, size, 1);
	for (unsigned int nr = 16; nr <= 17; nr++) {
		struct buf b = { 0 };

		buf_put(&b, "\xdc\x00", 2);
		buf_put_u8(&b, (uint8_t)nr);
		for (unsigned int i = 0; i < nr; i++) {
			buf_put_u8(&b, 0xc5);
			buf_put_u8(&b, (uint8_t)(len >> 8));
			buf_put_u8(&b, (uint8_t)len);
			buf_put(&b, packed, len);
		}
		e.bytes = (const char *)b.data;
		e.len = b.len;
		check(&e, 1, nr == 16 ? 0 : -EFBIG,
		      nr == 16 ? "" : "segment header: profiles: texts over the limit");
		buf_release(&b);
	}
	free(zeros);
	free(packed);
}

static void check_frame(const char *header, size_t len, const void *rest, size_t rest_len,
			const char *line)
{
	struct buf b = { 0 };
	struct err err;
	size_t nr;

	frame(&b, header, len, rest, rest_len);
	ok_int(verdict(&b, &err, &nr), -EBADMSG);
	ok(!strncmp(err.line, line, strlen(line)));
	buf_release(&b);
}

static void keys_and_frames_are_checked(void)
{
	static const struct buf none[NR_SEGMENT_COLUMNS];
	struct buf header = { 0 }, b = { 0 };
	char *large = calloc(1, SEGMENT_MAX_HEADER_BYTES + 1);
	struct err err;
	size_t nr;

	check_frame("\x81\x07\x07", 3, NULL, 0, "segment header: key: expected a text");
	check_frame("\x82\xa4host\xa1"
		    "a\xa4host\xa1"
		    "b",
		    15, NULL, 0, "segment header: host: expected it once");
	put_header(&header, NULL, 0, none);
	check_frame((const char *)header.data, header.len, "x", 1,
		    "segment: 1 bytes after the last column");
	frame(&b, large, SEGMENT_MAX_HEADER_BYTES + 1, NULL, 0);
	ok_int(verdict(&b, &err, &nr), -EFBIG);
	ok(!strncmp(err.line, "segment: offset 24: header of 4194305 bytes", 42));
	/* A length in the prefix that no segment can have. */
	for (int i = 0; i < 4; i++)
		b.data[12 + i] = 0;
	ok_int(segment_length(b.data, b.len), -EBADMSG);
	b.data[15] = 0x7f;
	ok_int(segment_length(b.data, b.len), -EBADMSG);
	free(large);
	buf_release(&header);
	buf_release(&b);
}

/* The columns of one request of 4 KiB at sector 0, in the plainest form. */
static void one_request(struct buf columns[NR_SEGMENT_COLUMNS])
{
	struct segment_header h = { .host = "h" };
	struct segment_column_size sizes[NR_SEGMENT_COLUMNS];
	struct segment_writer *w = NULL;
	struct segment_reader *s = NULL;
	struct request r = { .bytes = 4096 };
	struct buf b = { 0 };
	size_t at;

	ok_int(segment_writer_new(&w), 0);
	segment_writer_add(w, &r);
	ok_int(segment_writer_finish(w, &h, &b), 0);
	segment_writer_free(w);
	ok_int(segment_reader_new(&s, b.data, b.len, NULL), 0);
	ok_eq(segment_reader_columns(s, sizes, 3), NR_SEGMENT_COLUMNS);
	ok_eq(segment_reader_columns(s, sizes, NR_SEGMENT_COLUMNS), NR_SEGMENT_COLUMNS);
	segment_reader_free(s);
	at = b.len;
	for (unsigned int i = 0; i < NR_SEGMENT_COLUMNS; i++)
		at -= sizes[i].compressed_bytes;
	for (unsigned int i = 0; i < NR_SEGMENT_COLUMNS; i++) {
		columns[i] = (struct buf){ 0 };
		if (sizes[i].compressed_bytes)
			buf_put(&columns[i], b.data + at, sizes[i].compressed_bytes);
		at += sizes[i].compressed_bytes;
	}
	buf_release(&b);
}

/* One request, with those columns that other has in place of its own. */
static int with_columns(const struct buf other[NR_SEGMENT_COLUMNS])
{
	static const struct entry one = ENTRY("requests", "\x01");
	struct buf columns[NR_SEGMENT_COLUMNS], header = { 0 }, rest = { 0 }, b = { 0 };
	struct ledger lost;
	struct err err;
	size_t nr;
	int ret, told;

	one_request(columns);
	for (unsigned int i = 0; i < NR_SEGMENT_COLUMNS; i++)
		if (other[i].data) {
			buf_clear(&columns[i]);
			buf_put(&columns[i], other[i].data, other[i].len);
		}
	put_header(&header, &one, 1, columns);
	for (unsigned int i = 0; i < NR_SEGMENT_COLUMNS; i++) {
		if (columns[i].len)
			buf_put(&rest, columns[i].data, columns[i].len);
		buf_release(&columns[i]);
	}
	frame(&b, header.data, header.len, rest.data, rest.len);
	ret = verdict(&b, &err, &nr);
	ok_eq(nr, ret ? 0 : 1);
	/* What is lost with it: its one request, or what cannot be known, not even when. */
	ledger_init(&lost);
	told = tally_segment(b.data, b.len, LOSS_QUARANTINE, &lost);
	ok(!told || (ret && told == -EBADMSG));
	ok_eq(lost.nr, told ? 0 : 1);
	ok_eq(ledger_sum(&lost), ret ? 0 : 1);
	ok(told || lost.losses[0].count_known == !ret);
	ledger_release(&lost);
	buf_release(&header);
	buf_release(&rest);
	buf_release(&b);
	return ret;
}

static int with_column(enum segment_column column, const void *bytes, size_t len)
{
	struct buf other[NR_SEGMENT_COLUMNS] = { 0 };

	other[column].data = (uint8_t *)bytes;
	other[column].len = len;
	return with_columns(other);
}

static void check_column(enum segment_column column, const char *bytes, size_t len)
{
	if (!ok_int(with_column(column, bytes, len), -EBADMSG))
		tap_note("column %s, %zu bytes", segment_column_name(column), len);
}
#define REFUSED(column, bytes) check_column(column, bytes, sizeof(bytes) - 1)

static void tables_are_checked(void)
{
	ok_int(with_column(0, NULL, 0), 0);
	ok_int(with_column(COLUMN_ISSUER, "\x01\x01\x02\x03\x00\x00", 6), 0);
	REFUSED(COLUMN_ISSUER, "");
	REFUSED(COLUMN_ISSUER, "\x00\x00\x00");
	REFUSED(COLUMN_ISSUER, "\x09\x01\x02\x03\x00\x00"); /* more than are there */
	REFUSED(COLUMN_ISSUER, "\x81\x80\x04\x01");	    /* over the bound */
	REFUSED(COLUMN_ISSUER, "\x01\xff\xff\xff\xff\x7f\x02\x03\x00\x00"); /* tid too large */
	REFUSED(COLUMN_ISSUER, "\x01\x01\xff\xff\xff\xff\x7f\x03\x00\x00"); /* pid */
	REFUSED(COLUMN_ISSUER, "\x01\x01\x02");
	REFUSED(COLUMN_ISSUER, "\x01\x01\x02\x80");
	REFUSED(COLUMN_ISSUER, "\x01\x01\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	REFUSED(COLUMN_ISSUER, "\x01\x01\x02\x03");	    /* no plane */
	REFUSED(COLUMN_ISSUER, "\x01\x01\x02\x03\x00\x01"); /* index of an entry not there */
	ok_int(with_column(COLUMN_KIND, "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00", 10), 0);
	for (unsigned int field = 0; field < 7; field++) {
		char kind[16] = { 1 };

		memset(kind + 1 + field, 0xff, 5); /* and its field is over its range */
		kind[1 + field + 5] = 1;
		check_column(COLUMN_KIND, kind, sizeof(kind));
		check_column(COLUMN_KIND, "\x01\x00\x00\x00\x00\x00\x00", 1 + field); /* cut */
	}
	REFUSED(COLUMN_KIND, "\x01\x00\x63\x00\x00\x00\x00\x00\x00\x00"); /* no such operation */
}

static void put_number(struct buf *b, ZSTD_CCtx *zstd, uint64_t number)
{
	struct column_scratch scratch = { 0 };

	buf_clear(b);
	ok_int(column_put(b, zstd, &scratch, &number, 1, 0), 0);
	column_scratch_release(&scratch);
}

/* Numbers that decode, and make no request. */
static void numbers_that_fit_no_request_are_refused(void)
{
	struct buf other[NR_SEGMENT_COLUMNS] = { 0 };
	ZSTD_CCtx *zstd = plane_compressor();

	put_number(&other[COLUMN_ARRIVAL], zstd, TRACE_TIME_MAX_NS);
	ok_int(with_columns(other), 0);
	put_number(&other[COLUMN_QUEUE], zstd, 1);
	ok_int(with_columns(other), -EBADMSG);
	put_number(&other[COLUMN_QUEUE], zstd, UINT64_MAX); /* dispatched before, modulo 2^64 */
	ok_int(with_columns(other), -EBADMSG);
	put_number(&other[COLUMN_QUEUE], zstd, 0);
	put_number(&other[COLUMN_DEVICE], zstd, 1);
	ok_int(with_columns(other), -EBADMSG);
	put_number(&other[COLUMN_DEVICE], zstd, UINT64_MAX);
	ok_int(with_columns(other), -EBADMSG);
	put_number(&other[COLUMN_ARRIVAL], zstd, UINT64_MAX);
	put_number(&other[COLUMN_DEVICE], zstd, 0);
	ok_int(with_columns(other), -EBADMSG);
	put_number(&other[COLUMN_ARRIVAL], zstd, 0);
	put_number(&other[COLUMN_BYTES], zstd, (uint64_t)UINT32_MAX + 1);
	ok_int(with_columns(other), -EBADMSG);
	put_number(&other[COLUMN_BYTES], zstd, (uint64_t)REQUEST_MAX_DATA_BYTES + 1);
	ok_int(with_columns(other), -EBADMSG);
	put_number(&other[COLUMN_BYTES], zstd, REQUEST_MAX_DATA_BYTES);
	ok_int(with_columns(other), 0);
	put_number(&other[COLUMN_DEPTH], zstd, (uint64_t)UINT32_MAX + 1);
	ok_int(with_columns(other), -EBADMSG);
	for (unsigned int i = 0; i < NR_SEGMENT_COLUMNS; i++)
		buf_release(&other[i]);
	ZSTD_freeCCtx(zstd);
}

static void numbers_have_one_form(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		int want;
	} forms[] = { { "\x7f", 1, 0 },
		      { "\x80", 1, -EBADMSG },
		      { "\x80\x00", 2, -EBADMSG }, /* a shorter one exists */
		      { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, 0 },
		      { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, -EBADMSG },
		      { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x01", 11, -EBADMSG } };

	for (size_t i = 0; i < TAP_NR(forms); i++) {
		struct cursor c = cursor_make(forms[i].bytes, forms[i].len);
		uint64_t value = 77;

		ok_int(varint_get(&c, &value), forms[i].want);
		ok_eq(c.at, forms[i].want ? 0 : forms[i].len);
		if (forms[i].want)
			ok_eq(value, 77);
	}
}

/* A place is units of eight sectors and the sectors below: seven at most. */
static void low_sectors_are_checked(void)
{
	uint8_t stream[] = { PLANE_REPEATED, 2 * NR_STREAMS }, low[] = { PLANE_REPEATED, 7 };
	struct buf other[NR_SEGMENT_COLUMNS] = { 0 };
	ZSTD_CCtx *zstd = plane_compressor();

	put_number(&other[COLUMN_PLACE], zstd, REQUEST_END_SECTOR_MAX >> 3); /* no disk has it */
	other[COLUMN_STREAM] = (struct buf){ .data = stream, .len = sizeof(stream) };
	other[COLUMN_LOW] = (struct buf){ .data = low, .len = sizeof(low) };
	ok_int(with_columns(other), -EBADMSG);
	put_number(&other[COLUMN_PLACE], zstd, 5);
	other[COLUMN_STREAM] = (struct buf){ .data = stream, .len = sizeof(stream) };
	other[COLUMN_LOW] = (struct buf){ .data = low, .len = sizeof(low) };
	ok_int(with_columns(other), 0);
	low[1] = 8;
	ok_int(with_columns(other), -EBADMSG);
	low[1] = 7;
	stream[1]++;
	ok_int(with_columns(other), -EBADMSG);
	buf_release(&other[COLUMN_PLACE]);
	ZSTD_freeCCtx(zstd);
}

/* Its size is known before it is decoded. */

static const struct tap_test tests[] = {
	{ "a header that holds nothing is read", plain_header_is_read },
	{ "each wrong value of a header is refused by its name", each_wrong_value_is_named },
	{ "losses of known and unknown count are read", sound_losses_are_read },
	{ "more entries than the format allows are refused", too_many_entries_are_refused },
	{ "texts are bounded together", texts_are_bounded_together },
	{ "keys, lengths and what follows the columns are checked", keys_and_frames_are_checked },
	{ "tables of kinds and issuers are checked", tables_are_checked },
	{ "numbers that fit no request are refused", numbers_that_fit_no_request_are_refused },
	{ "numbers have one form", numbers_have_one_form },
	{ "the sectors below a place are checked", low_sectors_are_checked },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
