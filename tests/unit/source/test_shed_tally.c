/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/source/shed_tally.h"
#include "tests/support/tap.h"

#define S 1000000000u

static void what_nobody_saw_is_told_once(void)
{
	struct shed_tally t = { .has_base = false };
	uint64_t now = 100ull * S;

	shed_tally_begin(&t, 5000, 0);
	ok_eq(shed_tally_look(&t, now, 5100, 100, 3, false), 0);
	t.has_shed = true;
	ok_eq(shed_tally_look(&t, now += S, 6000, 980, 2, false), 0);
	ok_eq(shed_tally_look(&t, now += S, 6002, 986, 0, false), 0); /* just came to rest */
	ok_eq(shed_tally_look(&t, now += S, 6002, 986, 0, false), 0);
	ok_eq(shed_tally_look(&t, now += 4ull * S, 6002, 986, 0, false), 0);
	ok_eq(shed_tally_look(&t, now += S, 6002, 986, 0, false), 16);
	ok(!t.has_shed);
	ok_eq(shed_tally_look(&t, now += 10ull * S, 6002, 1002, 0, false), 0);
	t.has_shed = true;
	ok_eq(shed_tally_look(&t, now += 10ull * S, 6010, 1010, 0, true), 0);
}

static void only_at_rest(void)
{
	struct shed_tally t = { .has_base = false };

	shed_tally_begin(&t, 0, 0);
	t.has_shed = true;
	ok_eq(shed_tally_look(&t, S, 40, 20, 1, true), 0);   /* something is under way */
	ok_eq(shed_tally_look(&t, S, 40, 20, -95, true), 0); /* unknown */
	ok_eq(shed_tally_look(&t, S, 40, 20, 0, true), 20);
}

static void without_shedding_lines_tell(void)
{
	struct shed_tally t = { .has_base = false };

	shed_tally_begin(&t, 0, 0);
	ok_eq(shed_tally_look(&t, S, 40, 20, 0, true), 0);
}

static void what_cannot_be_is_left_alone(void)
{
	struct shed_tally t = { .has_base = false };

	t.has_shed = true; /* no base: met while it was shed */
	ok_eq(shed_tally_look(&t, S, 1 << 20, 20, 0, true), 0);
	t.has_shed = true;
	ok_eq(shed_tally_look(&t, S, 100, 20, 0, true), 0); /* went back: another disk */
	t.has_shed = true;
	ok_eq(shed_tally_look(&t, S, 110, 50, 0, true), 0); /* more seen than counted */
	t.has_shed = true;
	ok_eq(shed_tally_look(&t, S, 120, 55, 0, true), 5);
}

/* Whatever moves begins the rest anew: a count of the kernel, one of ours, a request under way. */
static void rest_begins_anew(void)
{
	static const struct {
		uint64_t completed, seen;
		int64_t in_flight;
	} moves[] = { { 101, 50, 0 }, { 101, 51, 0 }, { 101, 51, 1 } };
	struct shed_tally t = { .has_base = false };
	uint64_t completed = 100, seen = 50, now = S;

	shed_tally_begin(&t, 10, 0);
	t.has_shed = true;
	ok_eq(shed_tally_look(&t, now, completed, seen, 0, false), 0);
	for (size_t i = 0; i < TAP_NR(moves); i++) {
		ok_eq(shed_tally_look(&t, now += S, completed, seen, 0, false), 0);
		ok_eq(shed_tally_look(&t, now += 4ull * S, completed, seen, 0, false), 0);
		completed = moves[i].completed;
		seen = moves[i].seen;
		ok_eq(shed_tally_look(&t, now += S, completed, seen, moves[i].in_flight, false), 0);
	}
	ok_eq(shed_tally_look(&t, now += S, completed, seen, 0, false), 0);
	ok_eq(shed_tally_look(&t, now += 5ull * S, completed, seen, 0, false), 91 - 51);
	seen += 40;
	t.has_shed = true;
	ok_eq(shed_tally_look(&t, now += S, completed + 3, seen + 1, 0, true), 2);
}

static const struct tap_test tests[] = {
	{ "what ended unseen is told once, when the disk has come to rest",
	  what_nobody_saw_is_told_once },
	{ "with requests under way nothing is told", only_at_rest },
	{ "what moves begins the rest anew", rest_begins_anew },
	{ "where nothing was shed, lines tell", without_shedding_lines_tell },
	{ "without a base, and where counts contradict, it begins anew",
	  what_cannot_be_is_left_alone },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
