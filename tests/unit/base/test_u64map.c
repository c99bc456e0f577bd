/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/u64map.h"
#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"

#define KEYS 500

/* Puts, look-ups and erasures at random against an array, with keys that share their homes. */
static void against_an_array(void)
{
	static const uint64_t strides[] = { 1, 64, 1ull << 32, 1ull << 60, 0xd1342543de82ef95ull };

	for (size_t s = 0; s < TAP_NR(strides); s++) {
		static uint32_t want[KEYS];
		struct slow_rng g = { s };
		struct u64map m;
		size_t nr = 0;

		u64map_init(&m);
		memset(want, 0xff, sizeof(want));
		for (size_t i = 0; i < 200000; i++) {
			size_t k = slow_below(&g, strides[s] == 1ull << 60 ? 16 : KEYS);
			uint64_t key = k * strides[s];

			if (u64map_find(&m, key) != want[k])
				ok_eq(u64map_find(&m, key), want[k]);
			if (slow_below(&g, 2)) {
				nr += want[k] == U64MAP_NONE;
				want[k] = (uint32_t)slow_below(&g, UINT32_MAX);
				if (u64map_put(&m, key, want[k]))
					abort();
			} else {
				nr -= want[k] != U64MAP_NONE;
				want[k] = U64MAP_NONE;
				u64map_erase(&m, key);
			}
		}
		ok_eq(m.nr, nr);
		u64map_clear(&m);
		ok_eq(m.nr, 0);
		for (size_t k = 0; k < KEYS; k++)
			if (u64map_find(&m, k * strides[s]) != U64MAP_NONE)
				ok(!"cleared");
		u64map_release(&m);
	}
}

static void empty_map(void)
{
	struct u64map m = { 0 };

	ok_eq(u64map_find(&m, 0), U64MAP_NONE);
	u64map_erase(&m, 5);
	u64map_clear(&m);
	ok_eq(u64map_memory(&m), 0);
	u64map_release(&m);
	u64map_release(&m);
}

#define CHOSEN	       20000
#define GOLDEN_INVERSE 0xf1de83e19937733dull /* times 0x9e3779b97f4a7c15 is 1 */

/*
 * Keys of which a guest knows that their products with the golden ratio begin with the same bits:
 * as hashes of blocks, which take 64 bits, and as numbers of threads, which take 32.
 */
static size_t chosen_keys(bool is_short, uint64_t *keys)
{
	size_t nr = 0;

	for (uint64_t i = 1; nr < CHOSEN; i++) {
		if (!is_short)
			keys[nr++] = i * GOLDEN_INVERSE;
		else if ((uint32_t)i * 0x9e3779b97f4a7c15ull >> 48 < 8)
			keys[nr++] = (uint32_t)i;
	}
	return nr;
}

/* A home has one key in the mean of those that have any, and no home has many. */
static void chosen_keys_do_not_meet(void)
{
	static uint64_t keys[CHOSEN];
	static uint32_t at_home[1 << 20];

	for (int is_short = 0; is_short < 2; is_short++) {
		size_t nr = chosen_keys(is_short, keys);
		struct u64map m = { 0 };
		uint32_t most = 0;

		memset(at_home, 0, sizeof(at_home));
		for (size_t i = 0; i < nr; i++)
			ok_int(u64map_put(&m, keys[i], (uint32_t)i), 0);
		for (size_t i = 0; i < nr; i++) {
			uint32_t there = ++at_home[u64map_home(&m, keys[i])];

			most = there > most ? there : most;
		}
		tap_note("%u keys of %zu at one home", most, nr);
		ok(most < 100);
		u64map_release(&m);
	}
}

static const struct tap_test tests[] = {
	{ "the map does what an array does, erasures included", against_an_array },
	{ "an empty map takes no memory and bears everything", empty_map },
	{ "keys that were chosen to meet do not meet", chosen_keys_do_not_meet },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
