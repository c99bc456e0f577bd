/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/literal/slow_lru.h"
#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/reuse.h"
#include "workload/window.h"

#define SECOND 1000000000ull

/* Requests as a segment of an attacker has them: devices and places at random, gigabytes each. */
static size_t memory_of_many(size_t nr_windows, uint32_t bytes, uint64_t sectors, bool *all_known)
{
	struct slow_rng rng = { 1 };
	struct window *windows[512];
	struct window_config config = { 0 };
	struct window_room room;
	size_t nr = 65536, memory = 0;

	window_room_init(&room, nr);
	config.room = &room;
	for (size_t i = 0; i < nr_windows; i++)
		ok_int(window_new(&windows[i], &config, 0), 0);
	for (size_t i = 0; i < nr; i++) {
		uint64_t number = slow_random(&rng);
		struct request r = { .device = (uint32_t)(number % nr_windows) << 20,
				     .bytes = bytes,
				     .sector = slow_random(&rng) % sectors / 8 * 8,
				     .tid = (uint32_t)(number % 7),
				     .operation = (uint8_t)(number >> 32) & 1 };

		r.arrival_ns = r.dispatch_ns = i * 1000;
		r.completion_ns = r.arrival_ns + (number & 0xffffff);
		if (window_add(windows[number % nr_windows], &r))
			abort();
	}
	*all_known = true;
	for (size_t i = 0; i < nr_windows; i++) {
		struct profile p;

		profile_init(&p);
		ok_int(window_profile(windows[i], SECOND, &p), 0);
		memory += window_memory(windows[i]);
		*all_known &= isfinite(p.locality.footprint_bytes) && p.locality.nr_miss_ratio > 0;
		profile_release(&p);
		window_free(windows[i]);
	}
	ok_eq(room.bytes.left,
	      WINDOW_ROOM_FIRST_BYTES + (uint64_t)nr * WINDOW_ROOM_BYTES_PER_REQUEST);
	ok_eq(room.sample_bytes.left,
	      WINDOW_ROOM_FIRST_SAMPLE_BYTES + (uint64_t)nr * WINDOW_ROOM_SAMPLE_BYTES_PER_REQUEST);
	return memory;
}

static void many_windows_share_a_room(void)
{
	bool known;
	size_t memory = memory_of_many(512, 1u << 30, 1ull << 50, &known);

	tap_note("512 devices, 1 GiB a request: %zu bytes", memory);
	ok(memory < 48u << 20);
	ok(!known);
	memory = memory_of_many(512, 4096, 1ull << 50, &known);
	tap_note("512 devices, 4 KiB a request: %zu bytes", memory);
	ok(memory < 48u << 20);
	ok(known);
	memory = memory_of_many(8, 65536, 1ull << 24, &known);
	tap_note("8 devices, 64 KiB a request: %zu bytes", memory);
	ok(memory < 24u << 20);
	ok(known);
}

static void text_of(const struct window *w, struct buf *out)
{
	struct profile p;

	profile_init(&p);
	ok_int(window_profile(w, 600 * SECOND, &p), 0);
	ok_int(profile_to_json(&p, PROFILE_JSON_LINE, out), 0);
	profile_release(&p);
}

/* What an honest trace needs is granted: the room changes only the default number of samples. */
static void a_room_changes_no_profile(void)
{
	const size_t parts[] = { 50, 5000, 60000 };

	for (size_t i = 0; i < TAP_NR(parts); i++) {
		struct window_room room;
		struct window_config config = { .room = &room, .mrc_samples = REUSE_SAMPLES };
		struct request *r = malloc(parts[i] * sizeof(*r));
		struct window *with = NULL, *without = NULL;
		struct buf a, b;

		if (!r)
			abort();
		slow_mixed(r, parts[i], 7 + i, 5 * SECOND, 20000);
		window_room_init(&room, parts[i]);
		ok_int(window_new(&with, &config, 5 * SECOND), 0);
		config.room = NULL;
		ok_int(window_new(&without, &config, 5 * SECOND), 0);
		ok_int(window_add_many(with, r, parts[i]), 0);
		ok_int(window_add_many(without, r, parts[i]), 0);
		buf_init(&a);
		buf_init(&b);
		text_of(with, &a);
		text_of(without, &b);
		ok(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
		ok(window_memory(with) <= window_memory(without));
		buf_release(&a);
		buf_release(&b);
		window_free(with);
		window_free(without);
		free(r);
	}
}

/* Blocks that could change no profile take nothing from other windows and from later periods. */
static void nothing_is_examined_after_a_cut(void)
{
	struct request r = { .device = 8u << 20, .bytes = 1u << 30, .completion_ns = 500 };
	struct window_room room;
	struct window_config config = { .room = &room };
	struct window *w = NULL;
	struct profile p;
	uint64_t left;

	window_room_init(&room, 100);
	ok_int(window_new(&w, &config, 0), 0);
	ok_int(window_add(w, &r), 0);
	left = room.blocks.left;
	for (int i = 0; i < 10; i++)
		ok_int(window_add(w, &r), 0);
	ok_eq(room.blocks.left, left);
	r.bytes = 4096;
	ok_int(window_add(w, &r), 0);
	ok_eq(room.blocks.left, left + WINDOW_BLOCKS_PER_REQUEST - 1);
	profile_init(&p);
	ok_int(window_profile(w, SECOND, &p), 0);
	ok(isnan(p.locality.footprint_bytes) && !p.locality.nr_miss_ratio);
	ok_eq(p.requests[OPERATION_READ], 12);
	profile_release(&p);
	/* The next period has a footprint again, but no miss ratios. */
	window_clear(w, SECOND);
	ok_int(window_add(w, &r), 0);
	ok_int(window_profile(w, 2 * SECOND, &p), 0);
	ok_near(p.locality.footprint_bytes, 4096, 0);
	ok_eq(p.locality.nr_miss_ratio, 0);
	profile_release(&p);
	window_free(w);
}

/*
 * The literal account of one stream: every request adds to the blocks that may be examined, and
 * takes what it touches, also after blocks were left out. All blocks of a period are marked.
 */
#define LITERAL_BLOCKS (1u << 19)
struct literal {
	uint64_t left, nr_marked;
	bool is_cut;
	bool marked[LITERAL_BLOCKS];
};

static void literal_add(struct literal *l, uint64_t first, uint64_t nr)
{
	l->left += WINDOW_BLOCKS_PER_REQUEST;
	l->is_cut |= nr > l->left;
	l->left -= nr > l->left ? l->left : nr;
	for (uint64_t i = first; i < first + nr; i++) {
		l->nr_marked += !l->marked[i];
		l->marked[i] = true;
	}
}

static double footprint_blocks_of(const struct window *w, uint64_t end_ns)
{
	struct profile p;
	double blocks;

	profile_init(&p);
	ok_int(window_profile(w, end_ns, &p), 0);
	blocks = p.locality.footprint_bytes / 4096;
	profile_release(&p);
	return blocks;
}

/*
 * Whenever the literal account knows a footprint the window knows it too, it is that of all blocks,
 * and it does not depend on how the requests are cut into batches.
 */
static void budget_is_that_of_the_literal_account(void)
{
	struct slow_rng rng = { 11 };
	struct literal *l = calloc(1, sizeof(*l));
	struct window_config config = { 0 };
	struct window *batches = NULL, *single = NULL;
	size_t nr_known = 0, nr_unknown = 0, nr_wrong = 0;
	struct request r[200];

	if (!ok(l) || !ok_int(window_new(&batches, &config, 0), 0) ||
	    !ok_int(window_new(&single, &config, 0), 0))
		abort();
	l->left = WINDOW_FIRST_BLOCKS;
	for (uint64_t period = 0; period < 60; period++) {
		double of_batches, of_single;

		for (size_t i = 0; i < TAP_NR(r); i++) {
			bool large = slow_below(&rng, 100) == 0;
			uint64_t nr = 1 + slow_below(&rng, large ? LITERAL_BLOCKS / 2 : 16);
			uint64_t first = slow_below(&rng, LITERAL_BLOCKS - nr);

			r[i] = slow_request(period * SECOND + i * 1000000, first * 8);
			r[i].bytes = (uint32_t)(nr * 4096);
			literal_add(l, first, nr);
			if (window_add(single, &r[i]))
				abort();
		}
		for (size_t at = 0, nr; at < TAP_NR(r); at += nr) {
			nr = 1 + slow_below(&rng, TAP_NR(r) - at);
			if (window_add_many(batches, r + at, nr))
				abort();
		}
		of_batches = footprint_blocks_of(batches, (period + 1) * SECOND);
		of_single = footprint_blocks_of(single, (period + 1) * SECOND);
		nr_known += !l->is_cut;
		nr_unknown += isnan(of_single);
		nr_wrong += isnan(of_single) ? !l->is_cut || !isnan(of_batches)
					     : of_single != of_batches ||
						       fabs(of_single / (double)l->nr_marked - 1) >
							       (l->nr_marked > 16384 ? 0.05 : 0);
		window_clear(batches, (period + 1) * SECOND);
		window_clear(single, (period + 1) * SECOND);
		memset(l->marked, 0, sizeof(l->marked));
		l->nr_marked = l->is_cut = 0;
	}
	tap_note("%zu periods known, %zu unknown", nr_known, nr_unknown);
	ok(nr_known > 10 && nr_unknown > 10);
	ok_eq(nr_wrong, 0);
	window_free(batches);
	window_free(single);
	free(l);
}

#define TRACE_BLOCKS   200000
#define TRACE_REQUESTS 400000

/* Makes reads of one block each by a Zipf law, and the exact hits of each cache size. */
static void trace_make(struct request *r, uint64_t *hits)
{
	uint64_t *blocks = calloc(TRACE_REQUESTS, sizeof(*blocks));
	struct slow_rng g = { 3 };
	struct slow_zipf z;

	if (!blocks || slow_zipf_init(&z, TRACE_BLOCKS, 0.8))
		abort();
	for (size_t i = 0; i < TRACE_REQUESTS; i++) {
		blocks[i] = slow_zipf(&z, &g);
		r[i] = (struct request){ .device = 8u << 20,
					 .bytes = 4096,
					 .sector = blocks[i] * 8,
					 .tid = 1,
					 .arrival_ns = i * 1000,
					 .dispatch_ns = i * 1000,
					 .completion_ns = i * 1000 + 500 };
	}
	ok_int(slow_lru_tree(blocks, TRACE_REQUESTS, hits), 0);
	slow_zipf_release(&z);
	free(blocks);
}

/* Returns the mean absolute error at the points of the curve of a window with that room or none. */
static double curve_error(const struct request *r, const uint64_t *hits, uint64_t seed,
			  struct window_room *room, struct profile *p)
{
	const struct window_config config = { .room = room, .seed = seed };
	struct window *w = NULL;
	double sum = 0;
	size_t nr = 0;

	ok_int(window_new(&w, &config, 0), 0);
	ok_int(window_add_many(w, r, TRACE_REQUESTS), 0);
	ok_int(window_profile(w, SECOND, p), 0);
	window_free(w);
	for (size_t i = 0; i < p->locality.nr_miss_ratio; i++) {
		const struct cache_point *point = &p->locality.miss_ratio[i];
		uint64_t cache = point->cache_bytes / 4096;

		if (cache < TRACE_BLOCKS / 100 || cache > TRACE_REQUESTS)
			continue;
		sum += fabs(point->miss_ratio - slow_lru_miss_ratio(hits, TRACE_REQUESTS, cache));
		nr++;
	}
	ok(nr > 20);
	return sum / (double)nr;
}

static void stored_traces_have_half_the_error(void)
{
	struct request *r = calloc(TRACE_REQUESTS, sizeof(*r));
	uint64_t *hits = calloc(TRACE_REQUESTS + 1, sizeof(*hits));
	double live = 0, stored = 0;

	if (!r || !hits)
		abort();
	trace_make(r, hits);
	ok(hits[0] > 1.2 * REUSE_MAX_SAMPLES); /* neither curve is exact */
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct window_room room;
		struct profile p;

		profile_init(&p);
		live += curve_error(r, hits, seed, NULL, &p);
		ok_eq(p.locality.nr_miss_ratio_samples, REUSE_SAMPLES);
		window_room_init(&room, TRACE_REQUESTS);
		stored += curve_error(r, hits, seed, &room, &p);
		ok_eq(p.locality.nr_miss_ratio_samples, REUSE_MAX_SAMPLES);
		ok_near(p.locality.miss_ratio_sampled_ratio,
			(double)REUSE_MAX_SAMPLES / (double)hits[0], 0.02);
		profile_release(&p);
	}
	tap_note("mean absolute error %.5f live, %.5f stored", live / 4, stored / 4);
	ok(stored <= live / 2);
	free(hits);
	free(r);
}

/*
 * Returns the fewest samples of any device where requests of 64 KiB go to nr_devices in turn, and
 * checks that each profile says how many there were.
 */
static uint32_t fewest_samples(size_t nr_devices, size_t nr_requests)
{
	struct slow_rng rng = { 5 };
	struct window *windows[64];
	struct window_room room;
	struct window_config config = { .room = &room };
	uint32_t fewest = UINT32_MAX;
	uint64_t sum = 0;

	window_room_init(&room, nr_requests);
	for (size_t i = 0; i < nr_devices; i++)
		ok_int(window_new(&windows[i], &config, 0), 0);
	for (size_t i = 0; i < nr_requests; i++) {
		struct request r = { .device = (uint32_t)(i % nr_devices) << 20,
				     .bytes = 65536,
				     .sector = slow_below(&rng, 1u << 30) * 8,
				     .arrival_ns = i,
				     .dispatch_ns = i,
				     .completion_ns = i + 5 };

		if (window_add(windows[i % nr_devices], &r))
			abort();
	}
	for (size_t i = 0; i < nr_devices; i++) {
		struct profile p;

		profile_init(&p);
		ok_int(window_profile(windows[i], SECOND, &p), 0);
		sum += p.locality.nr_miss_ratio_samples;
		if (p.locality.nr_miss_ratio_samples < fewest)
			fewest = p.locality.nr_miss_ratio_samples;
		ok(p.locality.miss_ratio_sampled_ratio < 1);
		profile_release(&p);
		window_free(windows[i]);
	}
	tap_note("%zu devices: %u samples or more, %llu in all", nr_devices, fewest,
		 (unsigned long long)sum);
	ok(sum * 96 <= WINDOW_ROOM_FIRST_BYTES + WINDOW_ROOM_FIRST_SAMPLE_BYTES +
			       nr_requests * (WINDOW_ROOM_BYTES_PER_REQUEST +
					      WINDOW_ROOM_SAMPLE_BYTES_PER_REQUEST));
	return fewest;
}

static void many_devices_get_fewer_samples(void)
{
	uint32_t fewest;

	ok_eq(fewest_samples(1, 20000), REUSE_MAX_SAMPLES);
	fewest = fewest_samples(4, 64000);
	ok(fewest > REUSE_SAMPLES && fewest < REUSE_MAX_SAMPLES);
	fewest = fewest_samples(64, 64000);
	ok(fewest >= REUSE_MIN_SAMPLES && fewest < REUSE_SAMPLES);
}

static const struct tap_test tests[] = {
	{ "windows of many devices share a room, whatever they are fed",
	  many_windows_share_a_room },
	{ "a room changes no profile of an honest trace", a_room_changes_no_profile },
	{ "the curve of a stored trace has half the error of a live one",
	  stored_traces_have_half_the_error },
	{ "many devices get fewer samples each, and the profile says how many",
	  many_devices_get_fewer_samples },
	{ "after blocks were left out no more are examined in that period",
	  nothing_is_examined_after_a_cut },
	{ "which footprints are known follows the literal account of blocks, in any batches",
	  budget_is_that_of_the_literal_account },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
