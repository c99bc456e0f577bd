/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analyzer/report/draw/gaps.h"
#include "tests/support/tap.h"

static struct gaps gaps_of_three(void)
{
	struct gaps g = { calloc(3, sizeof(*g.items)), 3 };

	g.items[0] = (struct time_gap){ 10, 20 };
	g.items[1] = (struct time_gap){ 30, 40 };
	g.items[2] = (struct time_gap){ 50, 60 };
	return g;
}

static void gaps_are_cut_where_the_interval_lies(void)
{
	struct gaps g = gaps_of_three();

	ok_int(gaps_cut(&g, 15, 33), 0);
	ok_eq(g.nr, 3);
	ok_eq(g.items[0].end_ns, 15);
	ok_eq(g.items[1].begin_ns, 33);
	ok_int(gaps_cut(&g, 52, 54), 0);
	ok_eq(g.nr, 4);
	ok_eq(g.items[2].end_ns, 52);
	ok_eq(g.items[3].begin_ns, 54);
	ok_int(gaps_cut(&g, 0, 100), 0);
	ok_eq(g.nr, 0);
	gaps_release(&g);
}

/* Such an interval would otherwise leave each gap behind twice, beyond the end of the array. */
static void an_empty_interval_cuts_nothing(void)
{
	struct gaps g = gaps_of_three();

	ok_int(gaps_cut(&g, UINT64_MAX - 9, 25), 0);
	ok_int(gaps_cut(&g, 35, 35), 0);
	ok_int(gaps_cut(&g, 20, 30), 0);
	ok_eq(g.nr, 3);
	ok_eq(gaps_within(g.items, g.nr, 0, 100), 30);
	gaps_release(&g);
}

static const struct tap_test tests[] = {
	{ "a watched interval is taken out of the gaps, which may cut one in two",
	  gaps_are_cut_where_the_interval_lies },
	{ "an interval that is empty, reversed or outside of the gaps changes nothing",
	  an_empty_interval_cuts_nothing },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
