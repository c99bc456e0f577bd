// SPDX-License-Identifier: Apache-2.0
/* Conclusions of a study: what is said of a target that gives fewer requests than a load offers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/whatif/study/study_answer.h"
#include "tests/support/tap.h"

#define OFF 1.2 /* how far the throughput of a replay may be off */

struct fixture {
	struct profile_group group;
	struct study study;
	struct study_case cases[1];
	size_t baseline[1];
	double measured[1][2];
	struct study_result r;
};

/* One load that offers 1000 requests/s and takes 1 ms everywhere; the target gives per_s. */
static struct fixture *ask(const char *verb, const char *how, double per_s)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->study.nr = f->cases[0].nr = 1;
	f->study.loads[0].group = &f->group;
	f->study.loads[0].facts.rate_per_s = 1000;
	f->measured[0][0] = f->measured[0][1] = NAN;
	f->cases[0].answers[0].rate_per_s = per_s;
	f->cases[0].answers[0].rate_low_per_s = per_s / OFF;
	f->cases[0].answers[0].rate_high_per_s = per_s * OFF;
	for (int side = 0; side < 2; side++)
		f->study.loads[0].base_s[side] = f->cases[0].answers[0].s[side] =
			f->cases[0].answers[0].low[side] = f->cases[0].answers[0].high[side] =
				0.001;
	f->r = (struct study_result){ .verb = verb,
				      .how = how,
				      .study = &f->study,
				      .cases = f->cases,
				      .nr_cases = 1,
				      .baseline = f->baseline,
				      .measured = (const double(*)[2])f->measured };
	ok_int(study_conclude(&f->r), 0);
	return f;
}

static void release(struct fixture *f)
{
	study_result_release(&f->r);
	free(f);
}

static void a_replay_that_gets_less_is_named(void)
{
	struct fixture *f = ask("migrate", "replay", 200);

	ok(f->r.overloaded && !f->r.cannot_tell);
	ok(strstr(f->r.conclusion, " The target cannot carry this load: ") != NULL);
	ok(strstr(f->r.conclusion, "offered 1 k requests/s, it gives 200/s.") != NULL);
	release(f);
}

static void a_replay_that_is_a_little_late_is_no_failure(void)
{
	struct fixture *f = ask("migrate", "replay", 900);

	ok(!f->r.overloaded && !f->r.cannot_tell);
	ok(strstr(f->r.conclusion, " The target may not carry this load: ") != NULL);
	release(f);
	f = ask("migrate", "replay", 960);
	ok(!f->r.overloaded && !f->r.cannot_tell);
	ok(strstr(f->r.conclusion, "carry") == NULL);
	release(f);
}

static void mimics_of_a_few_seconds_are_not_compared(void)
{
	struct fixture *f = ask("migrate", "run", 200);

	ok(!f->r.overloaded && !f->r.cannot_tell);
	ok(strstr(f->r.conclusion, "carry") == NULL);
	release(f);
}

static const struct tap_test tests[] = {
	{ "a replay that gets fewer requests than were recorded is named",
	  a_replay_that_gets_less_is_named },
	{ "a replay that is a little late is no failure",
	  a_replay_that_is_a_little_late_is_no_failure },
	{ "mimics of a few seconds are not compared", mimics_of_a_few_seconds_are_not_compared },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
