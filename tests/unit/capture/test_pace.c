/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/capture/pace.h"
#include "tests/support/tap.h"

#define MS 1000000ull
#define S  1000000000ull

/* As many looks as fill the time, requests coming at per_s, none held up by anything else. */
static unsigned int looks_in(struct pace *p, uint64_t time_ns, uint64_t per_s)
{
	uint64_t now_ns = 0, seen = 0;
	unsigned int nr = 0;

	for (; now_ns < time_ns; nr++) {
		uint64_t wait_ns = p->wait_ns, all;

		now_ns += wait_ns;
		all = now_ns * per_s / S;
		pace_note(p, wait_ns, all - seen);
		seen = all;
	}
	return nr;
}

static void the_pace_is_the_load_s(void)
{
	struct pace p;

	pace_init(&p, true);
	ok_eq(p.wait_ns, PACE_MIN_NS);
	ok_eq(looks_in(&p, 10 * S, 100000), 1000);
	ok_eq(p.wait_ns, PACE_MIN_NS);
	ok(!pace_heeds_source(&p));

	looks_in(&p, S, 40);
	ok_eq(looks_in(&p, 10 * S, 40), 40);
	ok_eq(p.wait_ns, PACE_MAX_NS);
	ok(pace_heeds_source(&p));

	looks_in(&p, 2 * S, 640); /* 64 in a tenth of a second */
	ok_near(looks_in(&p, 10 * S, 640), 100, 10);
}

static void it_slows_down_by_steps_and_is_prompt_at_once(void)
{
	struct pace p;
	unsigned int nr = 0;

	pace_init(&p, true);
	while (p.wait_ns < PACE_MAX_NS) {
		uint64_t before = p.wait_ns;

		pace_note(&p, before, 0);
		ok(p.wait_ns <= 2 * before && p.wait_ns <= PACE_MAX_NS);
		nr++;
	}
	ok_eq(nr, 5);
	pace_note(&p, 20 * MS, 3000); /* the source called */
	ok_eq(p.wait_ns, PACE_MIN_NS);
	pace_note(&p, UINT64_MAX / 2, 1); /* the machine slept */
	ok_eq(p.wait_ns, 2 * PACE_MIN_NS);
}

/* Where the source is ready whenever one request is there, it cannot keep the thread busy. */
static void a_source_that_is_always_ready_is_not_heeded_twice(void)
{
	struct pace p;
	uint64_t now_ns = 0;
	unsigned int nr = 0;

	pace_init(&p, true);
	for (; now_ns < S; nr++) {
		uint64_t wait_ns = pace_heeds_source(&p) ? 20000 : p.wait_ns;

		now_ns += wait_ns;
		pace_note(&p, wait_ns, 1);
	}
	ok(nr <= 200);
}

static void another_source_waits_when_nothing_came_for_long(void)
{
	struct pace p;

	pace_init(&p, false);
	ok_eq(looks_in(&p, 10 * S, 100), 1000);
	ok(!pace_heeds_source(&p));
	for (unsigned int i = 1; i < PACE_EMPTY_LOOKS; i++)
		pace_note(&p, PACE_MIN_NS, 0);
	ok_eq(p.wait_ns, PACE_MIN_NS);
	ok(pace_heeds_source(&p));
	pace_note(&p, PACE_MIN_NS, 0);
	ok_eq(p.wait_ns, PACE_MAX_NS);
	pace_note(&p, PACE_MAX_NS, 1);
	ok_eq(p.wait_ns, PACE_MIN_NS);
}

static const struct tap_test tests[] = {
	{ "the pace of looks is that of the load", the_pace_is_the_load_s },
	{ "it slows down by steps and is prompt at once",
	  it_slows_down_by_steps_and_is_prompt_at_once },
	{ "a source that is always ready cannot keep the thread busy",
	  a_source_that_is_always_ready_is_not_heeded_twice },
	{ "a source that is not patient is waited for when nothing came for long",
	  another_source_waits_when_nothing_came_for_long },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
