/* SPDX-License-Identifier: Apache-2.0 */
#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "analyzer/whatif/cache/cache_share.h"
#include "tests/literal/slow_lru.h"
#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/block_hash.h"
#include "workload/reuse.h"

struct references {
	uint64_t *blocks;
	size_t nr, cap;
};

static void append(struct references *t, uint64_t first, uint64_t nr)
{
	if (t->nr + nr > t->cap) {
		t->cap = 2 * (t->nr + nr);
		t->blocks = realloc(t->blocks, t->cap * sizeof(*t->blocks));
		if (!t->blocks)
			abort();
	}
	for (uint64_t i = 0; i < nr; i++)
		t->blocks[t->nr++] = first + i;
}

static void straight_curve(void)
{
	static const struct cache_point points[] = { { 100, 0.6 }, { 200, 0.2 }, { 400, 0.2 } };
	const struct cache_stream s = { points, 3, 10, 1000 };

	ok_near(cache_miss_ratio(&s, 0), 1, 0);
	ok_near(cache_miss_ratio(&s, 50), 0.8, 1e-12);
	ok_near(cache_miss_ratio(&s, 150), 0.4, 1e-12);
	ok_near(cache_miss_ratio(&s, 9999), 0.2, 0);
	ok_near(cache_size_for(&s, 0), 0, 0);
	ok_near(cache_size_for(&s, 0.2), 50, 1e-9);
	ok_near(cache_size_for(&s, 0.6), 150, 1e-9);
	ok_near(cache_size_for(&s, 0.8), 200, 1e-9);
	ok(isnan(cache_size_for(&s, 0.81)));
}

/* Alone, a load has all of a shared cache, up to its footprint. */
static void alone_has_all(void)
{
	static const struct cache_point points[] = { { 100, 0.6 }, { 200, 0.2 } };
	const struct cache_stream s = { points, 2, 10, 1000 };
	double part;

	for (double c = 1; c < 1000; c *= 1.7) {
		cache_shared(&s, 1, c, &part);
		ok_ratio(part, c, 1e-9);
	}
	cache_shared(&s, 1, 5000, &part);
	ok_near(part, 1000, 0);
}

/*
 * Uniform over F bytes: m(c) = 1 - c / F, c(T) = F (1 - exp(-rate T / F)). Two such loads of F =
 * 100, rates 1 and 3: with x = exp(-T / 100) the parts are 100 (1 - x) and 100 (1 - x^3).
 */
static void closed_form_of_two(void)
{
	static const struct cache_point points[] = { { 100, 0 } };
	const struct cache_stream s[2] = { { points, 1, 1, 100 }, { points, 1, 3, 100 } };
	double part[2];

	for (double x = 0.1; x < 0.95; x += 0.1) {
		double c = 100 * (2 - x - x * x * x);

		cache_shared(s, 2, c, part);
		ok_ratio(part[0], 100 * (1 - x), 1e-6);
		ok_ratio(part[1], 100 * (1 - x * x * x), 1e-6);
		ok_near(cache_misses(s, 2, part), (x + 3 * x * x * x) / 4, 1e-6);
	}
	cache_shared(s, 2, 1000, part);
	ok_ratio(part[0] + part[1], 200, 1e-6);
}

/* Loops hit only when all of them fit: LRU shares them to death, parts save one of them. */
static void loops_want_parts(void)
{
	static const struct cache_point points[] = { { 99, 1 }, { 100, 0 } };
	const struct cache_stream s[2] = { { points, 2, 1, 100 }, { points, 2, 2, 100 } };
	double part[2];

	cache_shared(s, 2, 120, part);
	ok_near(cache_misses(s, 2, part), 1, 1e-9);
	ok_int(cache_parted(s, 2, 120, part), 0);
	ok_near(cache_misses(s, 2, part), 1.0 / 3, 1e-9); /* the faster one fits */
	ok(part[0] + part[1] <= 120);
}

/* Against every way to part 60 units between three curves, some of them not convex. */
static void parts_are_near_the_best(void)
{
	struct slow_rng g = { 4 };

	for (int trial = 0; trial < 200; trial++) {
		struct cache_point points[3][12];
		struct cache_stream s[3];
		double part[3], best = 1;

		for (int i = 0; i < 3; i++) {
			double m = 1;

			for (int k = 0; k < 12; k++) {
				m -= m * (double)slow_below(&g, 50) / 100;
				points[i][k] = (struct cache_point){ 5 * (uint64_t)(k + 1), m };
			}
			s[i] = (struct cache_stream){ points[i], 12, 1 + (double)slow_below(&g, 5),
						      60 };
		}
		for (int a = 0; a <= 60; a++)
			for (int b = 0; a + b <= 60; b++) {
				const double p[3] = { a, b, 60 - a - b };

				best = fmin(best, cache_misses(s, 3, p));
			}
		ok_int(cache_parted(s, 3, 60, part), 0);
		ok(part[0] + part[1] + part[2] <= 60 * (1 + 1e-12));
		ok(cache_misses(s, 3, part) <= best + 0.005);
	}
}

/* The curve of a stream by the estimator that profiles use. */
static struct cache_stream curve_of(const struct references *t, double rate)
{
	struct cache_stream s = { .bytes_per_s = rate };
	struct cache_point *points = NULL;
	uint64_t salt = block_hash_salt(1, 1);
	struct reuse r;

	reuse_init(&r, REUSE_SAMPLES);
	for (size_t i = 0; i < t->nr; i++) {
		uint64_t hash = block_hash(salt, t->blocks[i]);

		if (reuse_add_many(&r, &hash, 1))
			abort();
	}
	if (reuse_curve(&r, 1, &points, &s.nr))
		abort();
	s.points = points;
	reuse_release(&r);
	return s;
}

/* Both streams in one, each at its own pace, spread evenly over the same time. */
static void interleave(struct references *out, const struct references *a,
		       const struct references *b)
{
	size_t i = 0, k = 0;

	while (i < a->nr || k < b->nr)
		if (k == b->nr ||
		    (i < a->nr && (double)i / (double)a->nr <= (double)k / (double)b->nr))
			append(out, a->blocks[i++], 1);
		else
			append(out, b->blocks[k++] | (uint64_t)1 << 60, 1);
}

static uint64_t *exact_hits(const struct references *t)
{
	uint64_t *hits = calloc(t->nr + 1, sizeof(*hits));

	if (!hits || slow_lru_tree(t->blocks, t->nr, hits))
		abort();
	return hits;
}

/* The shared cache against exact LRU of the interleaved streams, at 50 sizes; the mean error. */
static double shared_error(const struct references *a, const struct references *b, double *worst)
{
	struct references both = { 0 };
	struct cache_stream s[2] = { curve_of(a, (double)a->nr), curve_of(b, (double)b->nr) };
	uint64_t *hits[3] = { exact_hits(a), exact_hits(b), NULL };
	double sum = 0, part[2];

	interleave(&both, a, b);
	hits[2] = exact_hits(&both);
	s[0].footprint_bytes = (double)hits[0][0];
	s[1].footprint_bytes = (double)hits[1][0];
	*worst = 0;
	for (uint64_t k = 1; k <= 50; k++) {
		uint64_t cache = hits[2][0] * k / 50;
		double e;

		cache_shared(s, 2, (double)cache, part);
		e = fabs(cache_misses(s, 2, part) - slow_lru_miss_ratio(hits[2], both.nr, cache));
		*worst = fmax(*worst, e);
		sum += e;
	}
	for (int i = 0; i < 3; i++)
		free(hits[i]);
	free((void *)s[0].points);
	free((void *)s[1].points);
	free(both.blocks);
	return sum / 50;
}

static void shared_made_streams(void)
{
	struct references t[2] = { 0 };
	double worst, error;

	for (size_t i = 0; i < 2; i++) {
		struct slow_rng g = { i + 1 };
		struct slow_zipf z;
		uint64_t blocks = i ? 40000 : 10000;

		if (slow_zipf_init(&z, blocks, i ? 0.6 : 0.9))
			abort();
		while (t[i].nr < (i ? 300000 : 500000))
			append(&t[i], slow_zipf(&z, &g) * 7919 % blocks, 1);
		slow_zipf_release(&z);
	}
	error = shared_error(&t[0], &t[1], &worst);
	tap_note("mean absolute error %.4f, worst %.4f", error, worst);
	ok(error <= 0.01);
	ok(worst <= 0.03);
	free(t[0].blocks);
	free(t[1].blocks);
}

static char *read_whole(const char *name, size_t *len)
{
	const char *dir = tap_data_dir();
	char path[512], *text = NULL;
	FILE *f = NULL;
	long size;

	if (dir) {
		snprintf(path, sizeof(path), "%s/%s", dir, name);
		f = fopen(path, "rb");
	}
	if (!f)
		tap_skip("data", "the real traces are not here");
	if (!fseek(f, 0, SEEK_END) && (size = ftell(f)) > 0 && !fseek(f, 0, SEEK_SET)) {
		text = malloc((size_t)size + 1);
		*len = text ? fread(text, 1, (size_t)size, f) : 0;
		if (text)
			text[*len] = '\0';
	}
	fclose(f);
	if (!text)
		abort();
	return text;
}

/* vscsi version 1: 32-byte records; length in bytes at 4, first sector at 16. */
static void read_cloudphysics(struct references *t)
{
	size_t len;
	char *data = read_whole("cloudphysics.vscsi", &len);

	for (size_t at = 0; at + 32 <= len; at += 32) {
		struct request r = { 0 };
		uint64_t first, last;

		memcpy(&r.bytes, data + at + 4, sizeof(r.bytes));
		memcpy(&r.sector, data + at + 16, sizeof(r.sector));
		r.bytes = le32toh(r.bytes);
		r.sector = le64toh(r.sector);
		if (block_range(&r, &first, &last))
			append(t, first, last - first + 1);
	}
	free(data);
}

static void read_arc(struct references *t)
{
	size_t len, size = 64u << 20;
	char *packed = read_whole("arc-P3.lis.zst", &len), *text = malloc(size), *line;

	if (!text)
		abort();
	size = ZSTD_decompress(text, size - 1, packed, len);
	if (!ok(!ZSTD_isError(size)))
		return;
	text[size] = '\0';
	for (line = text; *line; line += strspn(line, "\n")) {
		uint64_t first = strtoull(line, &line, 10), nr = strtoull(line, &line, 10);

		append(t, first, nr);
		line += strcspn(line, "\n");
	}
	free(packed);
	free(text);
}

static void shared_real_traces(void)
{
	struct references t[2] = { 0 };
	double worst, error;

	read_cloudphysics(&t[0]);
	read_arc(&t[1]);
	error = shared_error(&t[0], &t[1], &worst);
	tap_note("mean absolute error %.4f, worst %.4f", error, worst);
	ok(error <= 0.03);
	ok(worst <= 0.15); /* neither is steady */
	free(t[0].blocks);
	free(t[1].blocks);
}

static const struct tap_test tests[] = {
	{ "a curve is straight between its points and inverts", straight_curve },
	{ "a load alone has all of a shared cache", alone_has_all },
	{ "two uniform loads share as the closed form says", closed_form_of_two },
	{ "loops that do not fit together are parted", loops_want_parts },
	{ "parts leave about as few misses as the best of all", parts_are_near_the_best },
	{ "a shared cache of made streams is that of exact lru", shared_made_streams },
	{ "a shared cache of two real traces is near exact lru", shared_real_traces },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
