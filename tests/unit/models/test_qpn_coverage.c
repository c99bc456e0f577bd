// SPDX-License-Identifier: Apache-2.0
/*
 * How often intervals hold the exact answer, in short: 20 seeds of each closed form at a precision
 * of 5 %. At 95 % each, fewer than 11 of 20 come about once in 5 million; seeds are fixed, so luck
 * is not asked twice. tests/bench/bench_qpn.c has 200 seeds at 1 %.
 */
#include "tests/literal/qpn_forms.h"
#include "tests/support/tap.h"

#define SEEDS	  20
#define PRECISION 0.05
#define LEAST	  11
/* Of all answers together, what the goal of 90 % asks. */
#define LEAST_SHARE 0.9

static void every_form(void)
{
	struct form_coverage c[FORM_MAX_ANSWERS];
	struct err err = { 0 };
	unsigned inside = 0, runs = 0;
	size_t nr;

	for (size_t i = 0; i < nr_qpn_forms; i += nr) {
		nr = qpn_form_group(&qpn_forms[i], nr_qpn_forms - i);
		if (!ok(!qpn_form_cover(c, &qpn_forms[i], nr, NULL, SEEDS, PRECISION, &err))) {
			tap_note("%s", err.line);
			return;
		}
		for (size_t k = 0; k < nr; k++) {
			ok_eq(c[k].runs, SEEDS);
			if (!ok(c[k].inside >= LEAST))
				tap_note("%s: %u of %u", qpn_forms[i + k].name, c[k].inside, SEEDS);
			ok_near(c[k].widest, 0, PRECISION);
			inside += c[k].inside;
			runs += c[k].runs;
		}
	}
	ok_eq(runs, SEEDS * nr_qpn_forms);
	ok(inside >= LEAST_SHARE * runs);
	tap_note("%u of %u intervals hold the exact answer", inside, runs);
}

static const struct tap_test tests[] = {
	{ "intervals hold the closed forms", every_form },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
