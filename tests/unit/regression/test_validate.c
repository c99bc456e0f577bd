// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/regression/use/validate.h"

#include <math.h>

#include "tests/support/tap.h"

/* Three configurations of two variables, repetitions apart from each other. */
static const double rows[] = { 1, 8, 2, 8, 1, 8, 1, 4, 2, 8, 1, 8 };
static const double measured[] = { 90, 200, 100, 50, 220, 110 };
static const double predicted[] = { 105, 189, 105, 60, 189, 105 };

#define NEAR 1e-12

static void errors_are_those_of_means(void)
{
	struct validation v;

	ok_int(validate(rows, 2, measured, predicted, 6, &v), 0);
	ok_eq(v.nr_rows, 6);
	ok_eq(v.nr_configurations, 3);
	ok_eq(v.nr_zero, 0);
	/* Means 100, 210, 50 against 105, 189, 60, in order of their first rows. */
	ok_near(v.errors[0], 0.05, NEAR);
	ok_near(v.errors[1], 0.1, NEAR);
	ok_near(v.errors[2], 0.2, NEAR);
	ok_near(v.mean_error, 0.35 / 3, NEAR);
	ok_near(v.p95_error, 0.1 + 0.9 * 0.1, NEAR);
	ok_near(v.bias, (0.05 - 0.1 + 0.2) / 3, NEAR);
	validation_release(&v);
}

static void repetitions_tell_their_own_spread(void)
{
	struct validation v;

	ok_int(validate(rows, 2, measured, predicted, 6, &v), 0);
	ok_eq(v.nr_repeated, 2);
	ok_near(v.deviation, (0.1 + sqrt(200) / 210) / 2, NEAR);
	ok_near(v.standard_error, (0.1 / sqrt(3) + 10.0 / 210) / 2, NEAR);
	validation_release(&v);
}

static void zero_has_no_relative_error(void)
{
	const double zero[] = { 0, 0 }, x[] = { 1, 2 };
	struct validation v;

	ok_int(validate(x, 1, zero, x, 2, &v), 0);
	ok_eq(v.nr_zero, 2);
	ok(isnan(v.mean_error));
	ok(isnan(v.deviation));
	validation_release(&v);
}

static void nothing_gives_nothing(void)
{
	const double x[] = { 1, 2 };
	struct validation v;

	ok_int(validate(x, 1, x, x, 0, &v), 0);
	ok_eq(v.nr_configurations, 0);
	ok(isnan(v.mean_error));
	ok(isnan(v.bias));
	validation_release(&v);
	ok_int(validate(x, 0, x, x, 2, &v), 0);
	ok_eq(v.nr_configurations, 1);
	ok_near(v.mean_error, 0, NEAR);
	validation_release(&v);
}

static const struct tap_test tests[] = {
	{ "errors are those of means over repetitions", errors_are_those_of_means },
	{ "repetitions tell their own spread", repetitions_tell_their_own_spread },
	{ "a response of zero has no relative error", zero_has_no_relative_error },
	{ "no rows give no answer, no variables one configuration", nothing_gives_nothing },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
