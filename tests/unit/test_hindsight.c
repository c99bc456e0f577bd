/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "agent/send/hindsight.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define KEEP_NS 1000
#define AT_NS	1000000000000ull

static const struct hindsight_period nobody;

static enum hindsight_verdict judge(struct hindsight *h, uint64_t begin_ns, uint64_t end_ns,
				    uint64_t now_ns, bool hurry)
{
	struct segment_header segment = { .boot_id = "boot" };

	segment.begin.monotonic_ns = AT_NS + begin_ns;
	segment.end.monotonic_ns = AT_NS + end_ns;
	return hindsight_judge(h, &segment, &nobody, AT_NS + now_ns, hurry);
}

static void a_segment_waits_until_it_is_old(void)
{
	struct segment_header foreign = { .boot_id = "another" };
	struct hindsight *h;

	ok_int(hindsight_new(&h, KEEP_NS, "boot"), 0);
	ok_int(judge(h, 0, 10, 10, false), HINDSIGHT_WAIT);
	ok_int(judge(h, 0, 10, 1009, false), HINDSIGHT_WAIT);
	ok_int(judge(h, 0, 10, 1010, false), HINDSIGHT_THIN);
	ok_int(judge(h, 0, 10, 10, true), HINDSIGHT_THIN);
	foreign.end.monotonic_ns = AT_NS;
	ok_int(hindsight_judge(h, &foreign, &nobody, AT_NS, false), HINDSIGHT_THIN);
	hindsight_free(h);
	hindsight_free(NULL);
}

static void what_is_around_a_question_goes_whole(void)
{
	struct hindsight *h;

	hindsight_ask(NULL, AT_NS);
	ok_int(hindsight_new(&h, KEEP_NS, "boot"), 0);
	hindsight_ask(h, AT_NS + 5000);
	ok_int(judge(h, 3980, 3999, 5000, false), HINDSIGHT_THIN);
	ok_int(judge(h, 3980, 4000, 5000, false), HINDSIGHT_WHOLE);
	ok_int(judge(h, 3980, 4000, 9000, true), HINDSIGHT_WHOLE);
	ok_int(judge(h, 6000, 6010, 6010, false), HINDSIGHT_WHOLE);
	ok_int(judge(h, 6001, 6010, 6010, false), HINDSIGHT_WAIT);
	hindsight_ask(h, AT_NS + 6500); /* the time of the first question becomes longer */
	ok_int(judge(h, 3980, 4000, 6500, false), HINDSIGHT_WHOLE);
	ok_int(judge(h, 7500, 7510, 7510, false), HINDSIGHT_WHOLE);
	hindsight_ask(h, AT_NS + 20000); /* and one much later begins another time */
	ok_int(judge(h, 7490, 7510, 20000, false), HINDSIGHT_THIN);
	hindsight_free(h);
}

static void an_analyzer_asks_for_a_period(void)
{
	const uint64_t second = 1000000000, now = 1000 * second;
	struct segment_header segment = { .boot_id = "boot" };
	struct hindsight_period p;
	struct hindsight *h;

	ok_int(hindsight_new(&h, 60 * second, "boot"), 0);
	p = hindsight_period_of(h, -600, 30, now);
	ok_eq(p.from_ns, 400 * second);
	ok_eq(p.until_ns, 1030 * second);
	p = hindsight_period_of(h, -5000, 600, now); /* no longer ahead than is kept */
	ok_eq(p.from_ns, 0);
	ok_eq(p.until_ns, 1060 * second);
	p = hindsight_period_of(h, INT64_MIN, INT64_MAX, now);
	ok_eq(p.from_ns, 0);
	ok_eq(p.until_ns, 1060 * second);
	ok_eq(hindsight_period_of(h, 5, -5, now).until_ns, 0);
	ok_eq(hindsight_period_of(h, INT64_MIN, INT64_MIN, now).until_ns, 0);

	p = hindsight_period_of(h, -100, -50, now);
	segment.begin.monotonic_ns = 890 * second;
	segment.end.monotonic_ns = 899 * second;
	ok_int(hindsight_judge(h, &segment, &p, now, false), HINDSIGHT_THIN);
	segment.end.monotonic_ns = 900 * second;
	ok_int(hindsight_judge(h, &segment, &p, now, false), HINDSIGHT_WHOLE);
	ok_int(hindsight_judge(h, &segment, &nobody, now, false), HINDSIGHT_THIN);
	segment.boot_id[0] = 'c';
	ok_int(hindsight_judge(h, &segment, &p, now, false), HINDSIGHT_THIN);
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
	{ "an analyzer asks for a period, which ends no later than is kept",
	  an_analyzer_asks_for_a_period },
	{ "a thin segment keeps all but the requests", a_thin_segment_keeps_all_but_the_requests },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
