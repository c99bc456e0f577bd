/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/varint.h"
#include "formats/segment/column.h"
#include "formats/segment/pairs.h"
#include "formats/segment/plane.h"
#include "formats/streams.h"
#include "tests/support/tap.h"
#include "tests/support/traffic.h"

#define MOST 5000

static void one_varint(uint64_t value, size_t want_bytes)
{
	struct buf out = { 0 };
	struct cursor c;
	uint64_t got = ~value;

	varint_put(&out, value);
	ok_eq(out.len, want_bytes);
	for (size_t len = 0; len < out.len; len++) {
		c = cursor_make(out.data, len);
		ok_int(varint_get(&c, &got), -EBADMSG);
		ok(got == ~value && c.at == 0);
	}
	c = cursor_make(out.data, out.len);
	ok_int(varint_get(&c, &got), 0);
	ok_eq(got, value);
	ok_eq(c.at, out.len);
	buf_release(&out);
}

static void varints(void)
{
	one_varint(0, 1);
	for (unsigned int k = 1; k <= 9; k++) {
		uint64_t border = (uint64_t)1 << 7 * k;

		one_varint(border - 1, k);
		one_varint(border, k + 1);
		one_varint(border + 1, k + 1);
	}
	one_varint(UINT64_MAX, 10);
	one_varint((uint64_t)1 << 63, 10);
}

static void bad_varints(void)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bad[] = {
		{ "\x80\x00", 2 },					/* 0 in two bytes */
		{ "\xff\x80\x00", 3 },					/* 127 in three */
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10 },	/* 65 bits */
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 11 }, /* 11 bytes */
	};

	for (size_t i = 0; i < TAP_NR(bad); i++) {
		struct cursor c = cursor_make(bad[i].bytes, bad[i].len);
		uint64_t value = 5;

		ok_int(varint_get(&c, &value), -EBADMSG);
		ok(value == 5 && c.at == 0);
	}
}

static void zigzags(void)
{
	static const int64_t signs[] = { 0, -1, 1, -2, 2, INT64_MAX, INT64_MIN };
	static const uint64_t folded[] = { 0, 1, 2, 3, 4, UINT64_MAX - 1, UINT64_MAX };

	for (size_t i = 0; i < TAP_NR(signs); i++) {
		ok_eq(zigzag(signs[i]), folded[i]);
		ok_int(unzigzag(folded[i]), signs[i]);
	}
}

static void one_plane(const uint8_t *bytes, size_t nr, size_t most)
{
	ZSTD_CCtx *pack = plane_compressor();
	ZSTD_DCtx *unpack = ZSTD_createDCtx();
	const uint8_t *got = NULL;
	uint8_t *owned = NULL;
	struct buf out = { 0 };
	struct cursor c;

	ok_int(plane_put(&out, pack, bytes, nr), 0);
	ok(out.len <= most);
	c = cursor_make(out.data, out.len);
	ok_int(plane_get(&c, unpack, nr, &got, &owned), 0);
	ok(!cursor_left(&c));
	ok(!nr || !memcmp(got, bytes, nr));
	free(owned);
	for (size_t len = 0; len < out.len; len += 1 + out.len / 50) {
		c = cursor_make(out.data, len);
		ok_int(plane_get(&c, unpack, nr, &got, &owned), -EBADMSG);
		free(owned);
	}
	if (nr) { /* another number of values than was written */
		c = cursor_make(out.data, out.len);
		if (out.data[0] >> PLANE_PACKED_SHIFT == 0 && out.data[0] != PLANE_REPEATED) {
			ok(plane_get(&c, unpack, nr + 1, &got, &owned) == -EBADMSG);
			free(owned);
		}
	}
	buf_release(&out);
	ZSTD_freeCCtx(pack);
	ZSTD_freeDCtx(unpack);
}

static void planes(void)
{
	static const unsigned int limits[] = { 1, 2, 3, 4, 5, 15, 16, 17, 256 };
	uint8_t *bytes = malloc(MOST);
	struct traffic t = { 3 };

	for (size_t l = 0; l < TAP_NR(limits); l++)
		for (size_t nr = 0; nr < MOST; nr = nr < 20 ? nr + 1 : 3 * nr + 1) {
			for (size_t i = 0; i < nr; i++)
				bytes[i] = (uint8_t)(traffic_random(&t) % limits[l]);
			one_plane(bytes, nr, nr + 16);
		}
	memset(bytes, 255, MOST);
	one_plane(bytes, MOST, 2);
	for (size_t i = 0; i < MOST; i++)
		bytes[i] = (uint8_t)(i / 100);
	one_plane(bytes, MOST, MOST / 10);
	free(bytes);
}

static void bombs(void)
{
	static uint8_t zeros[1 << 20];
	ZSTD_CCtx *pack = plane_compressor();
	ZSTD_DCtx *unpack = ZSTD_createDCtx();
	const uint8_t *got;
	uint8_t *owned;
	struct buf frame = { 0 }, out = { 0 };
	struct cursor c;

	/* A mebibyte in a few bytes where a hundred are due. */
	plane_compress(&frame, pack, zeros, sizeof(zeros));
	buf_put_u8(&out, PLANE_ZSTD);
	varint_put(&out, frame.len);
	buf_put(&out, frame.data, frame.len);
	c = cursor_make(out.data, out.len);
	ok_int(plane_get(&c, unpack, 100, &got, &owned), -EBADMSG);
	free(owned);
	/* A length beyond the end. */
	buf_clear(&out);
	buf_put_u8(&out, PLANE_ZSTD);
	varint_put(&out, UINT64_MAX);
	buf_put(&out, frame.data, frame.len);
	c = cursor_make(out.data, out.len);
	ok_int(plane_get(&c, unpack, 100, &got, &owned), -EBADMSG);
	free(owned);
	buf_release(&frame);
	buf_release(&out);
	ZSTD_freeCCtx(pack);
	ZSTD_freeDCtx(unpack);
}

/* Bytes that it took, or 0 where it did not come back. */
static size_t one_column(const uint64_t *numbers, size_t nr, unsigned int flags)
{
	uint64_t *got = calloc(nr + 1, sizeof(*got));
	ZSTD_CCtx *pack = plane_compressor();
	ZSTD_DCtx *unpack = ZSTD_createDCtx();
	struct column_scratch scratch = { 0 };
	struct column_reader r;
	struct buf out = { 0 };
	struct cursor c;
	size_t len;

	ok_int(column_put(&out, pack, &scratch, numbers, nr, flags), 0);
	c = cursor_make(out.data, out.len);
	ok_int(column_reader_init(&r, &c, unpack, nr), 0);
	ok(!cursor_left(&c));
	for (size_t at = 0; at < nr;) {
		size_t step = nr - at < 100 ? nr - at : 1 + at % 100;

		column_reader_next(&r, got + at, step);
		at += step;
	}
	len = !nr || !memcmp(got, numbers, nr * sizeof(*got)) ? out.len : 0;
	column_reader_release(&r);
	for (size_t cut = 0; cut < out.len; cut += 1 + out.len / 20) {
		c = cursor_make(out.data, cut);
		ok_int(column_reader_init(&r, &c, unpack, nr), -EBADMSG);
		column_reader_release(&r);
	}
	column_scratch_release(&scratch);
	buf_release(&out);
	ZSTD_freeCCtx(pack);
	ZSTD_freeDCtx(unpack);
	free(got);
	return len;
}

static void every_way(const uint64_t *numbers, size_t nr)
{
	static const unsigned int ways[] = { 0, COLUMN_SIGNED, COLUMN_DIFFERENCE };

	for (size_t i = 0; nr && i < TAP_NR(ways); i++)
		ok(one_column(numbers, nr, ways[i]));
}

static void columns(void)
{
	uint64_t *numbers = calloc(MOST, sizeof(*numbers));
	struct traffic t = { 4 };

	for (unsigned int bits = 0; bits <= 64; bits++)
		for (size_t nr = 0; nr < MOST; nr = nr < 3 ? nr + 1 : 9 * nr) {
			for (size_t i = 0; i < nr; i++)
				numbers[i] = bits ? traffic_random(&t) >> (64 - bits) : 7;
			every_way(numbers, nr);
			for (size_t i = 0; i < nr; i++) /* every magnitude in one column */
				numbers[i] = traffic_random(&t) >> traffic_random(&t) % 64;
			every_way(numbers, nr);
		}
	ok_eq(one_column(numbers, 0, 0), 0);
	free(numbers);
}

static void column_edges(void)
{
	uint64_t edges[3 * 64 + 3], nr = 0;

	for (unsigned int i = 0; i < 64; i++) {
		edges[nr++] = ((uint64_t)1 << i) - 1;
		edges[nr++] = (uint64_t)1 << i;
		edges[nr++] = -((uint64_t)1 << i);
	}
	edges[nr++] = UINT64_MAX;
	edges[nr++] = 0;
	edges[nr++] = UINT64_MAX - 1;
	every_way(edges, nr);
}

static void units_are_found(void)
{
	uint64_t *numbers = calloc(MOST, sizeof(*numbers));
	struct traffic t = { 5 };
	size_t ns, us;

	for (size_t i = 0; i < MOST; i++)
		numbers[i] = traffic_random(&t) % 5000;
	ns = one_column(numbers, MOST, 0);
	for (size_t i = 0; i < MOST; i++)
		numbers[i] = numbers[i] * 1000 + 7000000;
	us = one_column(numbers, MOST, 0);
	ok(us <= ns + 8); /* the factor and the base cost a few bytes, the numbers none */
	free(numbers);
}

/* Within 3 % of the entropy of a uniform draw, which has no structure to find. */
static void close_to_entropy(void)
{
	uint64_t *numbers = calloc(MOST, sizeof(*numbers));
	struct traffic t = { 6 };

	for (size_t i = 0; i < MOST; i++)
		numbers[i] = traffic_random(&t) % (1 << 17);
	ok_ratio(one_column(numbers, MOST, 0), MOST * 17 / 8.0, 0.03);
	free(numbers);
}

static void difference_pays(void)
{
	uint64_t walk[2000], noise[2000];
	struct traffic t = { 7 };

	for (size_t i = 0; i < 2000; i++) {
		walk[i] = (i ? walk[i - 1] : 1000) + traffic_random(&t) % 3 - 1;
		noise[i] = 20 + traffic_random(&t) % 8;
	}
	ok(column_difference_pays(walk, 2000));
	ok(!column_difference_pays(noise, 2000));
}

static void bad_columns(void)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bad[] = {
		{ "\x08", 1 },			   /* a flag that is not known */
		{ "\x00\x00", 2 },		   /* a table of none */
		{ "\x00\x01\x05\x00\x01", 5 },	   /* an index beyond the table */
		{ "\x01\x00\x00\x00\x00\x00", 6 }, /* unit 0 */
		{ "\x01\x01\x00\x08\x00\x00", 6 }, /* m 8 */
		{ "\x03\x01\x01\x00\x00\x00", 6 }, /* a base of signed numbers */
		{ "\x01\x01\x00\x00\x00\xff", 6 }, /* a class over 64 bits */
		{ "\x01\x01\x00\x00\x00\x05", 6 }, /* bits that are not there */
	};
	ZSTD_DCtx *unpack = ZSTD_createDCtx();

	for (size_t i = 0; i < TAP_NR(bad); i++) {
		struct cursor c = cursor_make(bad[i].bytes, bad[i].len);
		struct column_reader r;

		if (!ok_int(column_reader_init(&r, &c, unpack, 3), -EBADMSG))
			tap_note("number %zu", i);
		column_reader_release(&r);
	}
	ZSTD_freeDCtx(unpack);
}

static void pairs_count(void)
{
	struct pairs p = { 0 };
	struct traffic t = { 8 };

	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 20000; i++)
			if (pairs_index(&p, (struct pair){ i * 3, i % 7 }) != (int64_t)i)
				ok_int((int64_t)i, -1);
		for (int i = 0; i < 20000; i++) {
			uint64_t k = traffic_random(&t) % 20000;

			if (pairs_index(&p, (struct pair){ k * 3, k % 7 }) != (int64_t)k)
				ok_int((int64_t)k, -1);
		}
		ok_eq(p.nr, 20000);
		pairs_clear(&p);
		ok_eq(p.nr, 0);
	}
	pairs_release(&p);
}

/* Against a list that is shifted whole. */
static void streams_are_a_list(void)
{
	struct streams s = { { 0 }, { 0 }, 0 };
	uint64_t end[NR_STREAMS] = { 0 };
	struct traffic t = { 9 };

	for (int i = 0; i < 5000; i++) {
		unsigned int rank = (unsigned int)(traffic_random(&t) % (NR_STREAMS + 1));
		uint64_t at = traffic_random(&t);

		streams_advance(&s, rank, at, (uint32_t)at);
		memmove(end + 1, end, (rank < NR_STREAMS ? rank : NR_STREAMS - 1) * sizeof(*end));
		end[0] = at;
		for (unsigned int r = 0; r < NR_STREAMS; r++)
			if (streams_end(&s, r) != end[r])
				ok_int(i, -1);
		ok_eq(streams_swap_issuer(&s, 0, (uint32_t)at), 0);
		ok_eq(streams_swap_issuer(&s, 0, 0), (uint32_t)at);
		ok_eq(streams_swap_issuer(&s, STREAM_NONE, 5), 5);
	}
}

#define CHOSEN	       8000
#define GOLDEN_INVERSE 0xf1de83e19937733dull /* times the constant of keyed_home() it is 1 */

static uint32_t longest_run(const struct pairs *p)
{
	uint32_t nr = 2 * p->cap, run = 0, most = 0;

	for (uint32_t i = 0; i < 2 * nr; i++) {
		run = p->slot[i & (nr - 1)] ? run + 1 : 0;
		most = run > most ? run : most;
	}
	return most;
}

/* Pairs whose product with the golden ratio has equal halves, and pairs that begin alike. */
static void chosen_pairs_do_not_meet(void)
{
	for (int kind = 0; kind < 3; kind++) {
		struct pairs p = { 0 };

		for (uint64_t i = 1; i <= CHOSEN; i++) {
			uint64_t word = (kind ? i : i << 32 | i) * GOLDEN_INVERSE;
			struct pair pair = { kind == 2 ? 7 : word, kind == 2 ? word : 7 };

			if (kind == 0)
				pair.second = 0;
			ok_eq(pairs_index(&p, pair), i - 1);
		}
		tap_note("a search walks %u slots at most", longest_run(&p));
		ok(longest_run(&p) < CHOSEN / 20);
		pairs_release(&p);
	}
}

static const struct tap_test tests[] = {
	{ "pairs that were chosen to meet do not meet", chosen_pairs_do_not_meet },
	{ "varints take a byte more at every border and are read whole or not at all", varints },
	{ "a varint that is too long or too large is refused", bad_varints },
	{ "zig-zag folds signs and back", zigzags },
	{ "planes of any width and length come back", planes },
	{ "a plane that would decompress to more than is due is refused", bombs },
	{ "columns of every magnitude and length come back", columns },
	{ "a column of all powers of two and their neighbours comes back", column_edges },
	{ "a common factor and a common base cost nothing", units_are_found },
	{ "random bits take their entropy", close_to_entropy },
	{ "differences are chosen for a walk and not for noise", difference_pays },
	{ "a column that contradicts itself is refused", bad_columns },
	{ "pairs are numbered in the order of their appearance", pairs_count },
	{ "the streams are a list with the most recent first", streams_are_a_list },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
