/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "agent/send/hindsight.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define KEEP_NS 1000
#define AT_NS	1000000000000ull

static const struct hindsight_asker nobody = { .policy = POLICY_NONE };

static enum hindsight_verdict judge(struct hindsight *h, uint64_t begin_ns, uint64_t end_ns,
				    uint64_t now_ns, bool hurry)
{
	struct segment_header segment = { .boot_id = "boot" };

	segment.begin.monotonic_ns = AT_NS + begin_ns;
	segment.end.monotonic_ns = AT_NS + end_ns;
	return hindsight_judge(h, &nobody, &segment, AT_NS + now_ns, hurry);
}

static void a_segment_waits_until_it_is_old(void)
{
	struct segment_header foreign = { .boot_id = "another" };
	struct hindsight *h;

	ok_int(hindsight_new(&h, KEEP_NS, 0, "boot"), 0);
	ok_int(judge(h, 0, 10, 10, false), HINDSIGHT_WAIT);
	ok_int(judge(h, 0, 10, 1009, false), HINDSIGHT_WAIT);
	ok_int(judge(h, 0, 10, 1010, false), HINDSIGHT_THIN);
	ok_int(judge(h, 0, 10, 10, true), HINDSIGHT_THIN);
	foreign.end.monotonic_ns = AT_NS;
	ok_int(hindsight_judge(h, &nobody, &foreign, AT_NS, false), HINDSIGHT_THIN);
	hindsight_free(h);
	hindsight_free(NULL);
}

static void what_is_around_a_question_goes_whole(void)
{
	struct hindsight *h;

	hindsight_ask(NULL, AT_NS);
	ok_int(hindsight_new(&h, KEEP_NS, 0, "boot"), 0);
	hindsight_ask(h, AT_NS + 5000);
	ok_int(judge(h, 3980, 3999, 5000, false), HINDSIGHT_THIN);
	ok_int(judge(h, 3980, 4000, 5000, false), HINDSIGHT_WHOLE);
	ok_int(judge(h, 3980, 4000, 9000, true), HINDSIGHT_WHOLE);
	ok_int(judge(h, 6000, 6010, 6010, false), HINDSIGHT_WHOLE);
	ok_int(judge(h, 6001, 6010, 6010, false), HINDSIGHT_WAIT);
	hindsight_ask(h, AT_NS + 6500); /* the time of the first question becomes longer */
	ok_int(judge(h, 3980, 4000, 6500, false), HINDSIGHT_WHOLE);
	ok_int(judge(h, 7500, 7510, 7510, false), HINDSIGHT_WHOLE);
	hindsight_ask(h, AT_NS + 20000); /* and one much later begins another time, */
	ok_int(judge(h, 7501, 7510, 20000, false), HINDSIGHT_THIN);
	ok_int(judge(h, 18990, 19000, 20000, false), HINDSIGHT_WHOLE);
	ok_int(judge(h, 7490, 7500, 20000, false), HINDSIGHT_WHOLE); /* which forgets no other */
	hindsight_free(h);
}

/* Segments that cannot be sent for hours may belong to any question of these hours. */
static void no_question_is_forgotten_while_segments_wait(void)
{
	struct hindsight *h;

	ok_int(hindsight_new(&h, KEEP_NS, 0, "boot"), 0);
	for (uint64_t i = 1; i <= 3 * HINDSIGHT_PERIODS; i++)
		hindsight_ask(h, AT_NS + i * 10000 - (i == 5) * 1000);
	for (uint64_t i = 1; i <= 3 * HINDSIGHT_PERIODS; i++)
		ok_int(judge(h, i * 10000 - 900, i * 10000 - 800, 10000000, true), HINDSIGHT_WHOLE);
	/* Of the nearest two the time between them is sent as well, and of others it is not. */
	ok_int(judge(h, 45000, 45100, 10000000, true), HINDSIGHT_WHOLE);
	ok_int(judge(h, 5000, 5100, 10000000, true), HINDSIGHT_THIN);
	ok_int(judge(h, 3 * HINDSIGHT_PERIODS * 10000 - 5000, 3 * HINDSIGHT_PERIODS * 10000 - 4900,
		     10000000, true),
	       HINDSIGHT_THIN);
	hindsight_free(h);
}

/* A breach is known when its window is over, and what was before the window is part of it. */
static void segments_wait_until_a_breach_is_known(void)
{
	const uint64_t second = 1000000000, window = 60 * second;
	const struct policy above = { .window_s = 60, .around_s = 10, .p99_us = 20000 };
	struct segment_header segment = { .boot_id = "boot", .host = "h" };
	struct hindsight_usual usual = { .nr = 0 };
	struct hindsight_asker a;
	struct hindsight *h;

	ok_int(hindsight_new(&h, 0, 0, "boot"), 0);
	hindsight_set_window(h, window);
	hindsight_join(h, &a);
	hindsight_tell(h, &a, &above);
	segment.begin.monotonic_ns = 1000 * second - 10 * second;
	segment.end.monotonic_ns = 1000 * second - 9 * second;
	ok_int(hindsight_judge(h, &a, &segment, 1061 * second, false), HINDSIGHT_WAIT);
	ok_int(hindsight_judge(h, &a, &segment, 1062 * second, false), HINDSIGHT_THIN);
	hindsight_window(h, &usual, 0.021,
			 &(struct hindsight_period){ 1000 * second, 1060 * second });
	ok_int(hindsight_judge(h, &a, &segment, 1061 * second, false), HINDSIGHT_WHOLE);
	segment.end.monotonic_ns = 990 * second - 1;
	segment.begin.monotonic_ns = 989 * second;
	ok_int(hindsight_judge(h, &a, &segment, 1061 * second, false), HINDSIGHT_THIN);
	segment.begin.monotonic_ns = segment.end.monotonic_ns = 1070 * second;
	ok_int(hindsight_judge(h, &a, &segment, 1071 * second, false), HINDSIGHT_WHOLE);
	hindsight_leave(h, &a);
	hindsight_free(h);
}

static void an_analyzer_asks_for_a_period(void)
{
	const uint64_t second = 1000000000, now = 1000 * second;
	struct segment_header segment = { .boot_id = "boot" };
	struct hindsight_asker a, other;
	struct hindsight *h;

	ok_int(hindsight_new(&h, 60 * second, 0, "boot"), 0);
	hindsight_join(h, &a);
	hindsight_join(h, &other);
	ok(hindsight_asked(h, &a, -600, 30, now));
	ok_eq(a.asked.from_ns, 400 * second);
	ok_eq(a.asked.until_ns, 1030 * second);
	ok(!hindsight_asked(h, &a, -5000, 600, now)); /* no longer ahead than is kept */
	ok_eq(a.asked.from_ns, 0);
	ok_eq(a.asked.until_ns, 1060 * second);
	hindsight_asked(h, &a, INT64_MIN, INT64_MAX, now);
	ok_eq(a.asked.from_ns, 0);
	ok_eq(a.asked.until_ns, 1060 * second);
	hindsight_asked(h, &a, 5, -5, now);
	ok_eq(a.asked.until_ns, 0);
	hindsight_asked(h, &a, INT64_MIN, INT64_MIN, now);
	ok_eq(a.asked.until_ns, 0);

	hindsight_asked(h, &a, -100, -50, now);
	segment.begin.monotonic_ns = 890 * second;
	segment.end.monotonic_ns = 899 * second;
	ok_int(hindsight_judge(h, &a, &segment, now, false), HINDSIGHT_THIN);
	segment.end.monotonic_ns = 900 * second;
	ok_int(hindsight_judge(h, &a, &segment, now, false), HINDSIGHT_WHOLE);
	ok_int(hindsight_judge(h, &other, &segment, now, false), HINDSIGHT_THIN);
	segment.boot_id[0] = 'c';
	ok_int(hindsight_judge(h, &a, &segment, now, false), HINDSIGHT_THIN);
	hindsight_leave(h, &a);
	hindsight_leave(h, &other);
	hindsight_free(h);
}

/* A breach counts for the analyzer whose policy calls it one, and for no other. */
static void a_breach_is_that_of_one_policy(void)
{
	const uint64_t second = 1000000000, now = 1000 * second;
	const struct hindsight_period window = { now, now };
	const struct policy above = { .window_s = 60, .around_s = 10, .p99_us = 20000 },
			    rise = { .window_s = 60, .around_s = 10, .rise_percent = 300 };
	struct segment_header segment = { .boot_id = "boot", .host = "h" };
	struct hindsight_usual usual = { .nr = 0 };
	struct hindsight_asker a, b;
	struct hindsight *h;

	ok_int(hindsight_new(&h, 0, 0, "boot"), 0);
	hindsight_join(h, &a);
	hindsight_join(h, &b);
	ok(!hindsight_watches(h) && !hindsight_limits(h, &a));
	ok(hindsight_tell(h, &a, &above) && hindsight_tell(h, &b, &rise));
	ok(!hindsight_tell(h, &a, &above));
	ok(hindsight_watches(h) && hindsight_limits(h, &a));
	segment.begin.monotonic_ns = 989 * second;
	segment.end.monotonic_ns = 995 * second;
	ok_int(hindsight_judge(h, &a, &segment, now, false), HINDSIGHT_WAIT);
	ok_int(hindsight_judge(h, &a, &segment, now, true), HINDSIGHT_THIN);
	hindsight_window(h, &usual, 0.019, &window);
	hindsight_window(h, &usual, NAN, &window);
	ok_int(hindsight_judge(h, &a, &segment, now, true), HINDSIGHT_THIN);
	hindsight_window(h, &usual, 0.021, &window);
	ok_int(hindsight_judge(h, &a, &segment, now, false), HINDSIGHT_WHOLE);
	ok_int(hindsight_judge(h, &b, &segment, now, true), HINDSIGHT_THIN);
	ok_eq(usual.nr, 2);

	for (int i = 2; i < HINDSIGHT_USUAL; i++) /* 20 ms become usual */
		hindsight_window(h, &usual, i == 2 ? 0.9 : 0.02, &window);
	usual.p99_s = 0.02;
	hindsight_window(h, &usual, 0.059, &window);
	usual.p99_s = 0.02;
	ok_int(hindsight_judge(h, &b, &segment, now, true), HINDSIGHT_THIN);
	hindsight_window(h, &usual, 0.061, &window);
	ok_int(hindsight_judge(h, &b, &segment, now, true), HINDSIGHT_WHOLE);
	hindsight_leave(h, &a);
	hindsight_leave(h, &b);
	ok(!hindsight_watches(h));
	hindsight_free(h);
}

/* The user of the machine may say that requests are sent whatever an analyzer's policy says. */
static void the_machine_bounds_a_policy(void)
{
	const struct policy none = { .window_s = 1 };
	struct hindsight_asker a;
	struct hindsight *h;

	ok_int(hindsight_new(&h, 0, 250000, "boot"), 0);
	hindsight_join(h, &a);
	hindsight_tell(h, &a, &none);
	ok_eq(a.policy.sample_ppm, 250000);
	hindsight_leave(h, &a);
	hindsight_free(h);
	ok_int(hindsight_new(&h, 0, POLICY_ALL_PPM, "boot"), 0);
	hindsight_join(h, &a);
	hindsight_tell(h, &a, &none);
	ok(!hindsight_limits(h, &a));
	hindsight_leave(h, &a);
	hindsight_free(h);
}

static void a_thin_segment_keeps_all_but_the_requests(void)
{
	struct ledger ledger;
	struct sample sample = { .host = "h",
				 .boot_id = "b",
				 .epoch = 7,
				 .sequence = 3,
				 .real_offset_ns = SAMPLE_REAL_NS,
				 .end_ns = 1000000000,
				 .ledger = &ledger,
				 .nr_captured = 105,
				 .profile = "{}" };
	struct request r[100];
	struct segment_reader *s;
	struct buf whole, thin, again;

	ledger_init(&ledger);
	ledger_add(&ledger, &(struct loss){ LOSS_RING_FULL, true, 5, 1, 2, 0 });
	buf_init(&whole);
	buf_init(&thin);
	buf_init(&again);
	sample_requests(1, 0, sample.end_ns, r, 100);
	sample_segment(&sample, r, 100, &whole);
	ok_int(hindsight_thin(whole.data, whole.len, &thin), 0);
	ok_int(hindsight_thin(whole.data, whole.len, &again), 0);
	ok(thin.len == again.len && memcmp(thin.data, again.data, thin.len) == 0);
	ok_int(segment_reader_new(&s, thin.data, thin.len, NULL), 0);
	ok_eq(segment_reader_count(s), 0);
	ok_eq(segment_reader_header(s)->epoch, 7);
	ok_eq(segment_reader_header(s)->sequence, 3);
	ok_eq(segment_reader_header(s)->nr_captured, 5);
	ok_eq(segment_reader_header(s)->nr_profiles, 1);
	ok_eq(segment_reader_header(s)->ledger->total[LOSS_KEPT_BACK], 100);
	ok_eq(segment_reader_header(s)->ledger->total[LOSS_RING_FULL], 5);
	segment_reader_free(s);
	ok(hindsight_thin("no segment", 10, &thin) < 0);
	buf_release(&whole);
	buf_release(&thin);
	buf_release(&again);
	ledger_release(&ledger);
}

static const struct tap_test tests[] = {
	{ "a segment waits until it is old", a_segment_waits_until_it_is_old },
	{ "what is around a question goes whole", what_is_around_a_question_goes_whole },
	{ "no question is forgotten while segments wait",
	  no_question_is_forgotten_while_segments_wait },
	{ "segments wait until a breach is known", segments_wait_until_a_breach_is_known },
	{ "an analyzer asks for a period, which ends no later than is kept",
	  an_analyzer_asks_for_a_period },
	{ "a breach is that of one policy", a_breach_is_that_of_one_policy },
	{ "the user of the machine bounds what a policy may keep back",
	  the_machine_bounds_a_policy },
	{ "a thin segment keeps all but the requests", a_thin_segment_keeps_all_but_the_requests },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
