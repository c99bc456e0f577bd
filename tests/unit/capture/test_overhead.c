// SPDX-License-Identifier: Apache-2.0
#include "agent/capture/overhead.h"
#include "tests/support/tap.h"

/* What requests cost at each level, and an idle agent. */
static const double cost_s[NR_OVERHEAD_LEVELS] = { 500e-9, 350e-9, 20e-9 };
#define IDLE_S 0.001

static enum overhead_level window(struct overhead *o, uint64_t requests)
{
	return overhead_look(o, IDLE_S + cost_s[o->level] * (double)requests, 1, requests);
}

static void no_bound(void)
{
	struct overhead o;

	overhead_init(&o, 0, true, true);
	for (int i = 0; i < 10; i++)
		ok_eq(window(&o, 1000000), OVERHEAD_FULL);
}

static void rises(void)
{
	struct overhead o;

	overhead_init(&o, 0.05, true, true);
	ok_eq(window(&o, 90000), OVERHEAD_FULL); /* 4.6 % */
	ok_eq(window(&o, 120000), OVERHEAD_FULL);
	ok_eq(window(&o, 120000), OVERHEAD_NO_TRACE);
	/* Without the trace 4.3 %: below the bound. */
	for (int i = 0; i < 50; i++)
		ok_eq(window(&o, 120000), OVERHEAD_NO_TRACE);
	window(&o, 300000);
	ok_eq(window(&o, 300000), OVERHEAD_COUNTERS);
	for (int i = 0; i < 1000; i++)
		ok_eq(window(&o, 300000), OVERHEAD_COUNTERS);
}

static void one_peak_is_borne(void)
{
	struct overhead o;

	overhead_init(&o, 0.05, true, true);
	for (int i = 0; i < 100; i++)
		ok_eq(window(&o, i % 2 ? 1000000 : 1000), OVERHEAD_FULL);
}

static void falls(void)
{
	struct overhead o;
	int i;

	overhead_init(&o, 0.05, true, true);
	while (window(&o, 300000) != OVERHEAD_COUNTERS)
		;
	for (i = 0; i < 100 && o.level != OVERHEAD_FULL; i++)
		window(&o, 20000);
	/* A hold at each of two levels. */
	ok_int(i, 2 * OVERHEAD_HOLD);
	ok_eq(window(&o, 20000), OVERHEAD_FULL);
}

/* A cost that is not known at the lower level has to be tried; each try that fails comes later. */
static void tries_come_later(void)
{
	struct overhead o;
	unsigned int switches = 0;
	enum overhead_level before = OVERHEAD_FULL;

	overhead_init(&o, 0.05, false, true);
	for (int i = 0; i < 3000; i++) {
		/* Half a window's requests are announced late: what one costs looks cheap. */
		overhead_look(&o, o.level == OVERHEAD_FULL ? 0.1 : 0.001, 1, 900);
		switches += o.level != before;
		before = o.level;
	}
	ok(switches > 8 && switches < 30);
	ok_eq(o.hold, OVERHEAD_HOLD_MAX);
}

static void what_there_is(void)
{
	struct overhead o;

	overhead_init(&o, 0.05, false, false);
	for (int i = 0; i < 10; i++)
		ok_eq(window(&o, 1000000), OVERHEAD_FULL);
	overhead_init(&o, 0.05, false, true);
	window(&o, 1000000);
	ok_eq(window(&o, 1000000), OVERHEAD_COUNTERS);
	ok_str(overhead_level_name(OVERHEAD_COUNTERS), "counters");
}

static const struct tap_test tests[] = {
	{ "without a bound nothing is shed", no_bound },
	{ "a load that goes on raises the level, one at a time", rises },
	{ "one peak is borne", one_peak_is_borne },
	{ "a load that has gone lowers it again", falls },
	{ "tries that fail come later and later", tries_come_later },
	{ "levels that there are not are passed over", what_there_is },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
