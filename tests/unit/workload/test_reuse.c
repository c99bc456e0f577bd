/* SPDX-License-Identifier: Apache-2.0 */
#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "tests/literal/slow_lru.h"
#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/block_hash.h"
#include "workload/reuse.h"
#include "workload/reuse_stack.h"

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

static void feed(struct reuse *r, const struct references *t, uint64_t seed)
{
	uint64_t salt = block_hash_salt(seed, 1);

	for (size_t i = 0; i < t->nr; i++) {
		uint64_t hash = block_hash(salt, t->blocks[i]);

		if (reuse_add_many(r, &hash, 1))
			abort();
	}
}

static uint64_t *exact_hits(const struct references *t, bool walk)
{
	uint64_t *hits = calloc(t->nr + 1, sizeof(*hits));

	if (!hits)
		abort();
	ok_int((walk ? slow_lru_walk : slow_lru_tree)(t->blocks, t->nr, hits), 0);
	return hits;
}

/* The curve at a cache size: straight lines between its points, flat outside. */
static double curve_at(const struct cache_point *p, size_t nr, double bytes)
{
	size_t i = 0;

	while (i < nr && (double)p[i].cache_bytes < bytes)
		i++;
	if (i == nr)
		return p[nr - 1].miss_ratio;
	if (!i || (double)p[i].cache_bytes == bytes)
		return p[i].miss_ratio;
	return p[i - 1].miss_ratio + (p[i].miss_ratio - p[i - 1].miss_ratio) *
					     (bytes - (double)p[i - 1].cache_bytes) /
					     (double)(p[i].cache_bytes - p[i - 1].cache_bytes);
}

/* Mean absolute error at 200 cache sizes evenly over the footprint. */
static double mean_error(const struct reuse *r, const struct references *t, const uint64_t *hits)
{
	uint64_t distinct = hits[0], at = 0, hit = 0;
	struct cache_point *curve;
	double sum = 0;
	size_t nr;

	if (!ok_int(reuse_curve(r, 1, &curve, &nr), 0) || !ok(nr > 0))
		return NAN;
	for (uint64_t k = 1; k <= 200; k++) {
		uint64_t cache = distinct * k / 200;

		while (at < cache)
			hit += hits[++at];
		sum += fabs(curve_at(curve, nr, (double)cache) - (1 - (double)hit / (double)t->nr));
	}
	free(curve);
	return sum / 200;
}

static void make_mixed(struct references *t, uint64_t nr_blocks, size_t nr, uint64_t seed)
{
	struct slow_rng g = { seed };
	struct slow_zipf z;

	if (slow_zipf_init(&z, nr_blocks, 0.9))
		abort();
	while (t->nr < nr) {
		if (slow_below(&g, 20))
			append(t, slow_zipf(&z, &g) * 7919 % nr_blocks, 1);
		else
			append(t, slow_below(&g, nr_blocks), 1 + slow_below(&g, 64));
	}
	slow_zipf_release(&z);
}

static void slow_versions_agree(void)
{
	struct references t = { 0 };
	uint64_t *walk, *tree;

	make_mixed(&t, 300, 5000, 1);
	walk = exact_hits(&t, true);
	tree = exact_hits(&t, false);
	ok(!memcmp(walk, tree, (t.nr + 1) * sizeof(*walk)));
	free(walk);
	free(tree);
	free(t.blocks);
}

static void exact_within_the_bound(void)
{
	static const uint32_t bounds[] = { 65, 1000, 1024, 8192 };

	for (size_t i = 0; i < TAP_NR(bounds); i++) {
		struct references t = { 0 };
		struct reuse r;
		uint64_t *hits, hit = 0, at = 0;

		make_mixed(&t, bounds[i] - 63, bounds[i] * 20, i + 1);
		hits = exact_hits(&t, false);
		reuse_init(&r, bounds[i]);
		feed(&r, &t, 1);
		ok(!r.is_sampled);
		ok_near(r.cold, (double)hits[0], 0);
		for (unsigned int e = 0; e < 100; e++) {
			double edge_hits = 0;

			for (; at < reuse_edge_blocks(e) && at < t.nr; hit += hits[++at])
				;
			for (unsigned int k = 0; k <= e; k++)
				edge_hits += r.hits[k];
			ok_near(edge_hits, (double)hit, 0);
		}
		reuse_release(&r);
		free(hits);
		free(t.blocks);
	}
}

static void sampled_is_near(void)
{
	struct references t = { 0 };
	uint64_t *hits;

	make_mixed(&t, 60000, 1000000, 5);
	hits = exact_hits(&t, false);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct reuse r;
		double error;

		reuse_init(&r, REUSE_SAMPLES);
		feed(&r, &t, seed);
		ok(r.is_sampled);
		error = mean_error(&r, &t, hits);
		tap_note("seed %d: mean absolute error %.4f, R %.3f", (int)seed, error,
			 1 / r.weight);
		ok(error <= 0.02);
		ok(reuse_memory(&r) <= 1 << 20);
		reuse_release(&r);
	}
	free(hits);
	free(t.blocks);
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

static void real_trace(const struct references *t, const uint64_t cache[], const double hit_ratio[],
		       size_t nr, uint64_t distinct)
{
	uint64_t *hits = exact_hits(t, false);

	ok_eq(hits[0], distinct);
	/* The exact version against what another program computed; printed with 4 digits. */
	for (size_t i = 0; i < nr; i++)
		ok_near(1 - slow_lru_miss_ratio(hits, t->nr, cache[i]), hit_ratio[i], 6e-5);
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct reuse r;
		double error;

		reuse_init(&r, REUSE_SAMPLES);
		feed(&r, t, seed);
		error = mean_error(&r, t, hits);
		tap_note("seed %d: mean absolute error %.4f, R %.4f", (int)seed, error,
			 1 / r.weight);
		ok(error <= 0.02);
		reuse_release(&r);
	}
	free(hits);
}

static void arc_p3(void)
{
	static const uint64_t cache[] = { 1 << 15, 1 << 16, 1 << 17, 1 << 18, 1 << 19 };
	static const double hit_ratio[] = { 0.0357, 0.1272, 0.4479, 0.6512, 0.7962 };
	struct references t = { 0 };
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

		append(&t, first, nr);
		line += strcspn(line, "\n");
	}
	ok_eq(t.nr, 3912296);
	real_trace(&t, cache, hit_ratio, 5, 762543);
	free(t.blocks);
	free(packed);
	free(text);
}

/* vscsi version 1: 32-byte records; length in bytes at 4, first sector at 16. */
static void cloudphysics(void)
{
	static const uint64_t cache[] = { 4096, 16384, 65536, 262144 };
	static const double hit_ratio[] = { 0.1045, 0.1157, 0.2492, 0.7642 };
	struct references t = { 0 };
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
			append(&t, first, last - first + 1);
	}
	ok_eq(t.nr, 1141869);
	real_trace(&t, cache, hit_ratio, 4, 269210);
	free(t.blocks);
	free(data);
}

static void clear_keeps_history(void)
{
	struct references t = { 0 };
	struct cache_point *curve;
	struct reuse r;
	size_t nr;

	append(&t, 0, 500);
	reuse_init(&r, 1024);
	ok_int(reuse_curve(&r, 4096, &curve, &nr), 0);
	ok_eq(nr, 0);
	feed(&r, &t, 1);
	reuse_clear(&r);
	feed(&r, &t, 1);
	ok_near(r.cold, 0, 0); /* all were seen before */
	if (ok_int(reuse_curve(&r, 4096, &curve, &nr), 0) && ok(nr > 0)) {
		ok_near(curve_at(curve, nr, 400 * 4096.0), 1, 0);
		ok_near(curve[nr - 1].miss_ratio, 0, 0);
		ok(curve[nr - 1].cache_bytes >= 500 * 4096);
	}
	free(curve);
	reuse_release(&r);
	free(t.blocks);
}

static void edges_ascend(void)
{
	for (unsigned int e = 0; e + 1 < REUSE_NR_EDGES; e++)
		ok(reuse_edge_blocks(e) < reuse_edge_blocks(e + 1));
	ok_eq(reuse_edge_blocks(0), 1);
	ok_eq(reuse_edge_blocks(REUSE_NR_EDGES - 1), 1ull << 51);
}

/* Distances of the bounded stack against the walked list, through evictions. */
static void stack_with_evictions(void)
{
	struct reuse_stack *s = reuse_stack_new(100);
	uint64_t list[100];
	uint32_t nr = 0;
	struct slow_rng g = { 8 };

	if (!ok(s))
		return;
	for (size_t i = 0; i < 200000; i++) {
		uint64_t hash = slow_below(&g, 400) * 1000003;
		uint32_t at = 0, got = reuse_stack_touch(s, hash);

		while (at < nr && list[at] != hash)
			at++;
		if (got != (at < nr ? at : UINT32_MAX))
			ok_eq(got, at);
		if (at == nr && nr == 100) {
			uint32_t worst = 0;

			for (uint32_t k = 0; k < nr; k++)
				worst = list[k] > list[worst] ? k : worst;
			if (reuse_stack_largest(s) != list[worst])
				ok_eq(reuse_stack_largest(s), list[worst]);
			reuse_stack_drop_largest(s);
			memmove(list + worst, list + worst + 1, (nr - worst - 1) * sizeof(*list));
			at = --nr;
		}
		if (at == nr) {
			nr++;
			if (reuse_stack_push(s, hash))
				abort();
		}
		memmove(list + 1, list, at * sizeof(*list));
		list[0] = hash;
	}
	ok_eq(reuse_stack_nr(s), nr);
	reuse_stack_free(s);
}

/* More references were sampled than there were: the surplus is that of the hottest blocks. */
static void surplus_is_taken_from_the_smallest(void)
{
	struct cache_point *p;
	struct reuse r;
	size_t nr;

	reuse_init(&r, REUSE_SAMPLES);
	r.nr_references = 100;
	r.nr_sampled = 100;
	r.cold = 10;
	r.hits[0] = 15;
	r.hits[1] = 45;
	r.hits[3] = 50;
	ok_int(reuse_curve(&r, BLOCK_BYTES, &p, &nr), 0);
	/* 120 for 100: 20 go, all of the first and 5 of the second. */
	ok_near(p[0].miss_ratio, 1, 1e-12);
	ok_near(p[1].miss_ratio, 0.6, 1e-12);
	ok_near(p[nr - 1].miss_ratio, 0.1, 1e-12);
	ok_eq(p[nr - 1].cache_bytes, reuse_edge_blocks(3) * BLOCK_BYTES);
	free(p);
	r.hits[1] = 0;
	r.hits[0] = 5; /* 65 for 100: 35 are missing */
	ok_int(reuse_curve(&r, BLOCK_BYTES, &p, &nr), 0);
	ok_near(p[0].miss_ratio, 0.6, 1e-12);
	ok_near(p[nr - 1].miss_ratio, 0.1, 1e-12);
	free(p);
	reuse_release(&r);
}

static const struct tap_test tests[] = {
	{ "both slow versions of LRU distances agree", slow_versions_agree },
	{ "cache sizes of the curve ascend", edges_ascend },
	{ "distances of the bounded stack are those of a walked list", stack_with_evictions },
	{ "the curve is exact while the blocks fit the bound", exact_within_the_bound },
	{ "a sampled curve is within 0.02 of the exact one", sampled_is_near },
	{ "arc P3: the curve is within 0.02 of exact LRU", arc_p3 },
	{ "cloudphysics: the curve is within 0.02 of exact LRU", cloudphysics },
	{ "clearing keeps the history, resetting forgets it", clear_keeps_history },
	{ "what the sample has too much or too little is the smallest distances'",
	  surplus_is_taken_from_the_smallest },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
