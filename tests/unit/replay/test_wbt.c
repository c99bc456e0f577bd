// SPDX-License-Identifier: Apache-2.0
/*
 * The throttling of write-back by Linux. The numbers follow by hand from block/blk-wbt.c: 16
 * requests at the middle step, 1 + 15 * 2^n at the steps above it and 1 + 15 / 2^n below it, and a
 * half or a quarter of them for write-back. (tests/unit/whatif/test_stored_throttle.c holds the law
 * against an independent one, and tests/system/throttle.sh against the running kernel.)
 */
#include "analyzer/replay/wbt.h"
#include "tests/support/tap.h"

#define MS 1000000ull

/* Sends as many as are admitted, and returns their number. */
static uint32_t fill(struct wbt *w, uint64_t now_ns, bool sync)
{
	uint32_t nr = 0;

	wbt_look(w, now_ns);
	for (; wbt_admits(w, now_ns, sync); nr++)
		wbt_sent(w, now_ns);
	return nr;
}

/* Completes all, and returns how many completions woke those who wait. */
static uint32_t drain(struct wbt *w)
{
	uint32_t nr = 0;

	while (w->nr)
		nr += wbt_done(w, true);
	return nr;
}

static void the_middle_step_admits_16_or_8_or_4(void)
{
	struct wbt w;

	wbt_init(&w, WBT_TARGET_NS, true, 0);
	ok_int(fill(&w, MS, true), 16);
	ok_int(drain(&w), 1);
	ok_int(fill(&w, 2 * MS, false), 8);
	ok_int(drain(&w), 1);
	wbt_read_sent(&w, 3 * MS, 1);
	wbt_read_done(&w, 4 * MS, 1, MS);
	ok_int(fill(&w, 99 * MS, false), 4);
	ok_int(drain(&w), 1);
	/* 100 ms after the read, and within the first window */
	wbt_init(&w, WBT_TARGET_NS, true, 0);
	wbt_read_sent(&w, 3 * MS, 1);
	wbt_read_done(&w, 4 * MS, 1, MS);
	ok_int(fill(&w, 104 * MS, false), 8);
}

static void without_a_cache_those_who_wait_are_woken_sooner(void)
{
	struct wbt w;

	wbt_init(&w, WBT_TARGET_NS, false, 0);
	ok_int(fill(&w, MS, true), 16);
	for (int left = 15; left > 6; left--)
		ok(!wbt_done(&w, true));
	/* Six are below eight by two, which is half of what is admitted beside reads. */
	ok(wbt_done(&w, true));
	ok_int(w.nr, 6);
	ok_int(drain(&w), 6);
}

static void writes_alone_raise_the_step_until_most_of_the_queue(void)
{
	static const uint32_t admitted[] = { 8, 16, 31, 48, 48, 48 };
	struct wbt w;

	wbt_init(&w, WBT_TARGET_NS, true, 0);
	for (uint64_t k = 0; k < 6; k++) {
		ok_int(fill(&w, (100 * k + 1) * MS, false), admitted[k]);
		drain(&w);
	}
	/* Five windows without a write lower it by one, and so do the next five. */
	wbt_look(&w, 1100 * MS);
	ok_int(w.step, -3);
	wbt_look(&w, 1101 * MS);
	ok_int(w.step, -2);
	wbt_look(&w, 1601 * MS);
	ok_int(w.step, -1);
	wbt_look(&w, 2101 * MS);
	ok_int(w.step, 0);
	ok_eq(w.look_ns, WBT_NEVER);
}

/* Reads of 3 ms are slow for a device that does not rotate, and fast for another one. */
static void slow_reads_lower_the_step(void)
{
	static const uint32_t admitted[] = { 4, 2, 1, 1, 1 };
	struct wbt w;
	uint64_t now_ns = MS;

	wbt_init(&w, WBT_TARGET_FLASH_NS, true, 0);
	for (int k = 0; k < 5; k++) {
		wbt_look(&w, now_ns);
		wbt_read_sent(&w, now_ns, 1);
		ok_int(fill(&w, now_ns, false), admitted[k]);
		drain(&w);
		/* Three writes are enough for a window to tell. */
		for (int i = 0; i < 3; i++)
			wbt_write_done(&w);
		wbt_read_done(&w, now_ns + 3 * MS, 1, 3 * MS);
		now_ns = w.look_ns;
	}
	wbt_init(&w, WBT_TARGET_NS, true, 0);
	wbt_read_sent(&w, MS, 1);
	ok_int(fill(&w, MS, false), 4);
	drain(&w);
	wbt_read_done(&w, 4 * MS, 1, 3 * MS);
	wbt_look(&w, w.look_ns);
	ok_int(w.step, -1);
}

/* A read that is still under way after the window is slow, whatever has completed. */
static void a_read_that_does_not_end_is_slow(void)
{
	struct wbt w;

	wbt_init(&w, WBT_TARGET_NS, true, 0);
	wbt_read_sent(&w, MS, 7);
	ok_int(fill(&w, MS + 1, false), 4);
	wbt_look(&w, 101 * MS + 1);
	ok_int(w.step, 1);
	/* The windows become shorter: 100 ms x 16 by the whole part of the root of 2 x 256. */
	ok_eq(w.look_ns - (101 * MS + 1), 1600 * MS / 22);
}

static const struct tap_test tests[] = {
	{ "16 synchronous requests are admitted, 8 of write-back, 4 beside reads",
	  the_middle_step_admits_16_or_8_or_4 },
	{ "without a cache those who wait are woken before all have completed",
	  without_a_cache_those_who_wait_are_woken_sooner },
	{ "writes alone raise the step up to three quarters of the queue, and silence lowers it",
	  writes_alone_raise_the_step_until_most_of_the_queue },
	{ "reads slower than the target lower the step", slow_reads_lower_the_step },
	{ "a read that does not end lowers the step", a_read_that_does_not_end_is_slow },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
