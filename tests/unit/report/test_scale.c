/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/draw/scale.h"
#include "tests/support/tap.h"

static void values_lie_where_they_should(void)
{
	struct scale linear = { SCALE_LINEAR, UNIT_COUNT, 0, 100, 200, 0, .utc = false };
	struct scale log = { SCALE_LOG, UNIT_SECONDS, 1e-5, 10, 0, 600, .utc = false };
	struct scale tail = { SCALE_TAIL, UNIT_COUNT, 0, 0.9999, 0, 400, .utc = false };

	ok_near(scale_px(&linear, 25), 150, 1e-9);
	ok_near(scale_px(&linear, 1e9), 0, 1e-9);
	ok_near(scale_px(&log, 1e-3), 200, 1e-9);
	ok_near(scale_px(&tail, 0.9), 100, 1e-9);
	ok_near(scale_px(&tail, 0.999), 300, 1e-6);
	ok(isnan(scale_px(&linear, NAN)));
}

/* Every scale, whatever its ends: ticks rise, lie inside, and are not too many. */
static void ticks_are_within_and_few(void)
{
	uint64_t state = 9;

	for (int i = 0; i < 20000; i++) {
		struct tick ticks[SCALE_TICKS_MAX];
		struct scale s = { .px_to = 700, .utc = true };
		size_t nr, labelled = 0;
		double low, ratio;

		state = state * 6364136223846793005ull + 1442695040888963407ull;
		low = exp2((double)(state >> 58) - 30);
		ratio = exp2((double)(state >> 40 & 1023) / 32);
		s.kind = state >> 33 & 1 ? SCALE_LOG : SCALE_LINEAR;
		s.unit = (enum unit)(state >> 34 & 3);
		s.from = s.kind == SCALE_LOG ? low : 0;
		s.to = low * (1 + ratio);
		nr = scale_ticks(&s, 7, ticks);
		for (size_t k = 0; k < nr; k++) {
			labelled += !ticks[k].minor;
			if (ticks[k].value < s.from * 0.999 || ticks[k].value > s.to * 1.001 ||
			    (k && ticks[k].value <= ticks[k - 1].value)) {
				ok(!"a tick outside or out of order");
				return;
			}
		}
		if (labelled > 24 || nr == SCALE_TICKS_MAX) {
			ok(!"too many ticks");
			return;
		}
	}
	ok(true);
}

static void time_ticks(double span_s, const char *first, const char *second)
{
	struct tick ticks[SCALE_TICKS_MAX];
	/* 2024-05-06T07:08:09Z */
	double begin = 1714979289e9;
	struct scale s = {
		SCALE_TIME, UNIT_COUNT, begin, begin + span_s * 1e9, 0, 700, .utc = true
	};
	size_t nr = scale_ticks(&s, 7, ticks);

	if (!ok(nr >= 2 && nr <= 8))
		return;
	ok_str(ticks[0].label.text, first);
	ok_str(ticks[1].label.text, second);
}

static void time_has_round_ticks_of_the_clock(void)
{
	time_ticks(0.4, "0\u202fs", "100\u202fms");
	time_ticks(10, "07:08:10", "07:08:12");
	time_ticks(600, "07:10", "07:12");
	time_ticks(86400, "12:00", "18:00");
	time_ticks(30 * 86400, "05-09", "05-16");
}

static void rounding_up_reaches_the_next_tick(void)
{
	struct scale s = { SCALE_LINEAR, UNIT_COUNT, 0, 1234, 200, 0, .utc = false };

	scale_round_up(&s);
	ok_near(s.to, 1500, 1e-9);
	s.to = 1500;
	scale_round_up(&s);
	ok_near(s.to, 1500, 1e-9);
}

static void check_label(enum unit unit, double v, const char *want)
{
	struct label l;

	ok_str(label_quantity(&l, unit, v), want);
}

static void labels_are_humane(void)
{
	check_label(UNIT_SECONDS, 0, "0\u202fs");
	check_label(UNIT_SECONDS, 8.5e-7, "850\u202fns");
	check_label(UNIT_SECONDS, 9.9999e-4, "1\u202fms");
	check_label(UNIT_SECONDS, 0.0123, "12.3\u202fms");
	check_label(UNIT_SECONDS, 90, "90\u202fs");
	check_label(UNIT_SECONDS, 600, "10\u202fmin");
	check_label(UNIT_BYTES, 4096, "4\u202fKiB");
	check_label(UNIT_BYTES, 1610612736, "1.5\u202fGiB");
	check_label(UNIT_COUNT, 0.25, "0.25");
	check_label(UNIT_COUNT, 1234567, "1\u202f234\u202f567");
	check_label(UNIT_COUNT, 999.9, "1\u202f000");
	check_label(UNIT_RATIO, 0.125, "12.5\u202f%");
	check_label(UNIT_RATIO, NAN, "–");
}

/* Responses in seconds, of microseconds: the unit of a model's response is not known. */
static void small_counts_are_not_zero(void)
{
	struct scale s = { SCALE_LINEAR, UNIT_COUNT, 0, 9e-5, 200, 0, .utc = false };
	struct tick ticks[SCALE_TICKS_MAX];
	size_t nr = scale_ticks(&s, 5, ticks);
	struct label l;

	ok(nr >= 4);
	for (size_t i = 1; i < nr; i++)
		ok(strcmp(ticks[i].label.text, "0") != 0);
	ok_str(ticks[1].label.text, "2e-05");
	ok_str(label_count(&l, 0.004), "0.004");
	ok_str(label_count(&l, 0), "0");
}

static const struct tap_test tests[] = {
	{ "ticks of microseconds in seconds are not all zero", small_counts_are_not_zero },
	{ "values lie where they should, and never outside", values_lie_where_they_should },
	{ "ticks rise, lie within the scale, and are few", ticks_are_within_and_few },
	{ "time has round ticks of the clock", time_has_round_ticks_of_the_clock },
	{ "rounding up reaches the next tick and stays", rounding_up_reaches_the_next_tick },
	{ "labels have three digits and a humane unit", labels_are_humane },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
