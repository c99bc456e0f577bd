// SPDX-License-Identifier: Apache-2.0
/*
 * Percentiles of a study by the ratio of the means: the two ways in which times change, and what is
 * unknown.
 */
#include <math.h>

#include "analyzer/whatif/study/study_points.h"
#include "tests/support/tap.h"

static struct study_time mean_of(double s, double low, double high)
{
	return (struct study_time){ s, low, high, STUDY_BY_MODEL };
}

static void both_ways_lie_in_the_interval(void)
{
	const struct study_time mean = mean_of(0.002, 0.0015, 0.003);
	/* 1 ms and a p95 of 4 ms where it was measured: in proportion 8 ms, shifted 5 ms. */
	struct study_time t = study_points_by_ratio(0.004, 0.001, &mean);

	ok_ratio(t.s, 0.008, 1e-12);
	ok_ratio(t.low, 0.0045, 1e-12); /* shifted, at the lower end */
	ok_ratio(t.high, 0.012, 1e-12); /* in proportion, at the upper end */
	ok_int(t.way, STUDY_BY_RATIO);
}

static void what_stays_is_exact(void)
{
	const struct study_time same = mean_of(0.001, 0.001, 0.001),
				none = mean_of(0.001, NAN, NAN);
	struct study_time t = study_points_by_ratio(0.004, 0.001, &same);

	ok(t.s == 0.004 && t.low == 0.004 && t.high == 0.004);
	t = study_points_by_ratio(0.004, 0.001, &none);
	ok(t.s == 0.004 && t.low == 0.004 && t.high == 0.004);
}

static void no_time_is_below_nothing(void)
{
	const struct study_time mean = mean_of(0.001, 0.0005, 0.002);
	/* Ten times faster on average: a median of 2 ms cannot be shifted by 9 ms. */
	struct study_time t = study_points_by_ratio(0.002, 0.010, &mean);

	ok_ratio(t.s, 0.0002, 1e-12);
	ok(t.low >= 0 && t.low <= t.s && t.s <= t.high);
}

static void unknown_stays_unknown(void)
{
	const struct study_time mean = mean_of(0.001, NAN, NAN), unknown = mean_of(NAN, NAN, NAN);

	ok_int(study_points_by_ratio(NAN, 0.001, &mean).way, STUDY_UNKNOWN);
	ok_int(study_points_by_ratio(0.004, 0, &mean).way, STUDY_UNKNOWN);
	ok_int(study_points_by_ratio(0.004, NAN, &mean).way, STUDY_UNKNOWN);
	ok_int(study_points_by_ratio(0.004, 0.001, &unknown).way, STUDY_UNKNOWN);
}

static void responses_are_known_by_name(void)
{
	ok(study_points_asks("read_s") && study_points_asks("write_p95_s"));
	ok(study_points_asks("flush_s") && study_points_asks("flush_p99_s"));
	ok(!study_points_asks("read_p90_s") && !study_points_asks("read_per_s"));
}

static const struct tap_test tests[] = {
	{ "both ways in which times change lie in the interval", both_ways_lie_in_the_interval },
	{ "what stays as it is stays exact", what_stays_is_exact },
	{ "no time is below nothing", no_time_is_below_nothing },
	{ "what is unknown stays unknown", unknown_stays_unknown },
	{ "responses are known by name", responses_are_known_by_name },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
