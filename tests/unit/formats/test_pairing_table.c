/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/pairing_table.h"
#include "tests/support/tap.h"

#define CHOSEN	       4000
#define GOLDEN_INVERSE 0xf1de83e19937733dull /* times the constant of keyed_home() it is 1 */

static uint32_t longest_chain(const struct held_table *t, enum held_chain chain)
{
	uint32_t most = 0;

	for (size_t i = 0; i < (size_t)1 << t->bits; i++) {
		uint32_t nr = 0;

		for (uint32_t at = t->buckets[chain][i]; at != HELD_NONE;
		     at = t->held[at].next[chain])
			nr++;
		most = nr > most ? nr : most;
	}
	return most;
}

/* Sectors whose products with the golden ratio begin with the same bits. */
static void chosen_sectors_do_not_meet(void)
{
	struct held_table t;

	ok_int(held_table_init(&t, CHOSEN), 0);
	for (uint64_t i = 1; i <= CHOSEN; i++)
		held_table_add(&t, 0, i * GOLDEN_INVERSE, 0);
	ok_eq(t.nr, CHOSEN);
	tap_note("a search walks %u requests at most", longest_chain(&t, CHAIN_BEGIN));
	ok(longest_chain(&t, CHAIN_BEGIN) < CHOSEN / 20);
	held_table_release(&t);
}

static const struct tap_test tests[] = {
	{ "sectors that were chosen to meet do not meet", chosen_sectors_do_not_meet },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
