/* SPDX-License-Identifier: Apache-2.0 */
/* Requests whose end was not seen, or not yet. */
#include "formats/pairing.h"
#include "tests/support/pairing_out.h"
#include "tests/support/tap.h"

static void gaps(void)
{
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 1, BLOCK_GETRQ, "R", 64, 8);
	event(&out, 2, BLOCK_ISSUE, "R", 64, 8);
	event(&out, 3, BLOCK_ISSUE, "R", 0, 8);
	pairing_gap(out.p, DISK, 10); /* the end of the first was lost */
	event(&out, 20, BLOCK_GETRQ, "R", 64, 8);
	event(&out, 21, BLOCK_ISSUE, "R", 64, 8);
	event(&out, 22, BLOCK_COMPLETE, "R", 64, 8);
	event(&out, 23, BLOCK_COMPLETE, "R", 0, 8); /* alone at its sector, it is still found */
	ok_eq(out.nr, 2);
	ok_eq(out.r[0].arrival_ns, 20);
	ok_eq(out.r[1].dispatch_ns, 3);
	pairing_settle(out.p, OTHER, 1000);
	ok_eq(out.nr, 2);
	pairing_settle(out.p, DISK, 1);
	ok_eq(out.nr, 2);
	pairing_settle(out.p, DISK, 1000);
	ok_eq(out.nr, 3);
	ok_eq(out.r[2].arrival_ns, 1);
	ok(out.r[2].flags & REQUEST_NO_COMPLETION);
	stop(&out);
}

/* The completion of the first write was lost; the second, 30 s later, takes 1 ms. */
static void dispatched_again(void)
{
	struct pairing_counts counts;
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 1000, BLOCK_GETRQ, "W", 64, 8);
	event(&out, 2000, BLOCK_ISSUE, "W", 64, 8);
	event(&out, 30000000000, BLOCK_GETRQ, "W", 64, 8);
	event(&out, 30000001000, BLOCK_ISSUE, "W", 64, 8);
	event(&out, 30001001000, BLOCK_COMPLETE, "W", 64, 8);
	ok_eq(out.nr, 1);
	ok_eq(out.r[0].dispatch_ns, 30000001000);
	ok_eq(out.r[0].completion_ns, 30001001000);
	pairing_settle(out.p, 0, UINT64_MAX);
	ok_eq(out.nr, 2);
	ok(out.r[1].flags & REQUEST_NO_COMPLETION);
	ok_eq(out.r[1].arrival_ns, 1000);
	pairing_counts(out.p, &counts);
	ok_eq(counts.no_end, 1);
	stop(&out);
}

/* Dispatches alone, as tracefs has them: each begins a request, and the last one ends. */
static void dispatches_alone(void)
{
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 1, BLOCK_ISSUE, "W", 64, 8);
	event(&out, 30000, BLOCK_ISSUE, "W", 64, 8);
	event(&out, 30010, BLOCK_COMPLETE, "W", 64, 8);
	ok_eq(out.nr, 1);
	ok_eq(out.r[0].dispatch_ns, 30000);
	stop(&out);
}

/* The driver handed it back and no event told so: a request that was made once is one request. */
static void requeued_in_silence(void)
{
	struct pairing_counts counts;
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 1, BLOCK_GETRQ, "W", 64, 8);
	event(&out, 2, BLOCK_ISSUE, "W", 64, 8);
	event(&out, 50, BLOCK_ISSUE, "W", 64, 8);
	event(&out, 60, BLOCK_COMPLETE, "W", 64, 8);
	pairing_settle(out.p, 0, UINT64_MAX);
	ok_eq(out.nr, 1);
	ok_eq(out.r[0].dispatch_ns, 2);
	ok_eq(out.r[0].completion_ns, 60);
	pairing_counts(out.p, &counts);
	ok_eq(counts.reissues, 1);
	stop(&out);
}

/* Time in the queue after a requeue is life: the disk has it under way no more, but will again. */
static void requeued_is_alive(void)
{
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 10, BLOCK_GETRQ, "R", 0, 8);
	event(&out, 11, BLOCK_ISSUE, "R", 0, 8);
	event(&out, 100, BLOCK_REQUEUE, "R", 0, 8);
	pairing_settle(out.p, DISK, 100);
	ok_eq(out.nr, 0);
	pairing_settle(out.p, DISK, 101);
	ok_eq(out.nr, 1);
	ok(out.r[0].flags & REQUEST_NO_COMPLETION);
	stop(&out);
}

/*
 * Taken for ended while its queue was held back: whatever comes after, it is not handed over again.
 */
static void ended_after_all(void)
{
	struct pairing_counts counts;
	struct out out;

	start(&out, LAYER_DEVICE, 0);
	event(&out, 10, BLOCK_GETRQ, "R", 0, 8);
	event(&out, 11, BLOCK_INSERT, "R", 0, 8);
	event(&out, 12, BLOCK_GETRQ, "WFS", 64, 8);
	pairing_settle(out.p, DISK, 100);
	ok_eq(out.nr, 2);
	ok_eq(pairing_held(out.p, DISK), 0);
	pairing_settle(out.p, DISK, 200);
	ok_eq(out.nr, 2);
	balanced(&out);
	event(&out, 300, BLOCK_ISSUE, "R", 0, 8);
	event(&out, 301, BLOCK_COMPLETE, "R", 0, 4);
	event(&out, 302, BLOCK_COMPLETE, "R", 4, 4);
	event(&out, 303, BLOCK_ISSUE, "WS", 64, 8);
	event(&out, 304, BLOCK_COMPLETE, "WS", 64, 8);
	event(&out, 305, BLOCK_COMPLETE, "WS", 72, 0);
	ok_eq(out.nr, 2);
	balanced(&out);
	pairing_counts(out.p, &counts);
	ok_eq(counts.no_end, 2);
	ok_eq(counts.late_ends, 2);
	ok_eq(counts.no_start, 0);

	/* The next of that place are others. */
	event(&out, 400, BLOCK_GETRQ, "R", 0, 8);
	pairing_settle(out.p, DISK, 500);
	ok_eq(out.nr, 3);
	event(&out, 600, BLOCK_GETRQ, "R", 0, 8);
	event(&out, 601, BLOCK_ISSUE, "R", 0, 8);
	event(&out, 602, BLOCK_COMPLETE, "R", 0, 8);
	ok_eq(out.nr, 4);
	ok_eq(out.r[3].arrival_ns, 600);
	/* Ten minutes later it cannot be it any more. */
	pairing_settle(out.p, DISK, 600000000402ull);
	event(&out, 600000000403ull, BLOCK_COMPLETE, "R", 0, 8);
	ok_eq(out.nr, 5);
	stop(&out);
}

/* Of a table that is full, one whose data has ended is no loss when it goes. */
static void closing_is_not_evicted(void)
{
	struct pairing_counts counts;
	struct out out;

	start(&out, LAYER_DEVICE, 2);
	event(&out, 10, BLOCK_GETRQ, "WFS", 0, 8);
	event(&out, 11, BLOCK_ISSUE, "WS", 0, 8);
	event(&out, 20, BLOCK_COMPLETE, "WS", 0, 8);
	ok_eq(out.nr, 0);
	event(&out, 30, BLOCK_GETRQ, "R", 8, 8);
	event(&out, 31, BLOCK_GETRQ, "R", 16, 8);
	ok_eq(out.nr, 1);
	ok_eq(out.r[0].completion_ns, 20);
	event(&out, 32, BLOCK_GETRQ, "R", 24, 8);
	pairing_counts(out.p, &counts);
	ok_eq(counts.unclosed, 1);
	ok_eq(counts.evicted, 1);
	ok_eq(counts.no_end, 1);
	stop(&out);
}

static const struct tap_test tests[] = {
	{ "what ends after it was taken for ended is not told twice", ended_after_all },
	{ "after a gap the old ones are not taken for the new", gaps },
	{ "a second dispatch of a range is not ended as the first", dispatched_again },
	{ "of dispatches alone the last one ends", dispatches_alone },
	{ "a dispatch of what was made once is the same request", requeued_in_silence },
	{ "a request that was requeued is alive since then", requeued_is_alive },
	{ "one whose data has ended is not lost with a full table", closing_is_not_evicted },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
