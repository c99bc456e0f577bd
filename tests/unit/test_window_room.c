/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
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
	ok_eq(room.bytes_left,
	      WINDOW_ROOM_FIRST_BYTES + (uint64_t)nr * WINDOW_ROOM_BYTES_PER_REQUEST);
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

/* What an honest trace needs is granted: the room changes nothing of its profiles. */
static void a_room_changes_no_profile(void)
{
	const size_t parts[] = { 50, 5000, 60000 };

	for (size_t i = 0; i < TAP_NR(parts); i++) {
		struct window_room room;
		struct window_config config = { .room = &room };
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

/* Blocks that could change no profile cost nothing, and take nothing from other windows. */
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
	left = room.blocks_left;
	for (int i = 0; i < 10; i++)
		ok_int(window_add(w, &r), 0);
	r.bytes = 4096;
	ok_int(window_add(w, &r), 0);
	ok_eq(room.blocks_left, left);
	profile_init(&p);
	ok_int(window_profile(w, SECOND, &p), 0);
	ok(isnan(p.locality.footprint_bytes) && !p.locality.nr_miss_ratio);
	ok_eq(p.requests[OPERATION_READ], 12);
	profile_release(&p);
	/* The next period has a footprint again, and no miss ratios until the window is reset. */
	window_clear(w, SECOND);
	ok_int(window_add(w, &r), 0);
	ok_int(window_profile(w, 2 * SECOND, &p), 0);
	ok_near(p.locality.footprint_bytes, 4096, 0);
	ok_eq(p.locality.nr_miss_ratio, 0);
	profile_release(&p);
	window_reset(w, 2 * SECOND);
	ok_int(window_add(w, &r), 0);
	ok_int(window_profile(w, 3 * SECOND, &p), 0);
	ok(p.locality.nr_miss_ratio > 0);
	profile_release(&p);
	window_free(w);
}

static const struct tap_test tests[] = {
	{ "windows of many devices share a room, whatever they are fed",
	  many_windows_share_a_room },
	{ "a room changes no profile of an honest trace", a_room_changes_no_profile },
	{ "after blocks were left out no more are examined in that period",
	  nothing_is_examined_after_a_cut },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
