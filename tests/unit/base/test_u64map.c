/* SPDX-License-Identifier: Apache-2.0 */
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

static const struct tap_test tests[] = {
	{ "the map does what an array does, erasures included", against_an_array },
	{ "an empty map takes no memory and bears everything", empty_map },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
