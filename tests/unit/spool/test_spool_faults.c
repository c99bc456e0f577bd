/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spool and account under death at every call, every error at every call, and no memory at every
 * allocation. BLKCAST_ENDURANCE=1 visits every point; else one in STRIDE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/every_point.h"
#include "tests/support/sample.h"
#include "tests/support/spool_life.h"
#include "tests/support/tap.h"

#define MAX_START_S 5.0
#define CHILD_S	    20u

struct totals {
	uint64_t nr_runs, nr_killed, nr_lost, nr_twice, nr_missing, nr_altered, nr_stuck;
	uint64_t nr_crashed; /* died of something else than our SIGKILL */
	double slowest_s;
};

/* What a death leaves must add up exactly, or, where a gap is declared, to no more. */
static void judge(struct life *l, bool may_have_gap, struct totals *t)
{
	struct life_end end;

	life_check(l, l->dir, "b1", SIZE_MAX, &end);
	t->nr_runs++;
	t->nr_stuck += !end.started || end.start_s > MAX_START_S;
	t->nr_missing += end.nr_missing;
	t->nr_altered += end.nr_altered;
	t->nr_twice += end.known > life_seen_most(l, SIZE_MAX);
	t->nr_lost += end.known < life_seen_least(l, SIZE_MAX) && !(may_have_gap && end.has_gap);
	if (end.start_s > t->slowest_s)
		t->slowest_s = end.start_s;
}

static uint64_t run_one(void *ctx, const struct calls_plan *plan, uint64_t *nr_wrong)
{
	(void)nr_wrong;
	calls_begin(plan);
	life_run(ctx);
	return calls_end();
}

static uint64_t unsound(const struct totals *t)
{
	return t->nr_lost + t->nr_twice + t->nr_missing + t->nr_stuck + t->nr_altered +
	       t->nr_crashed;
}

/* A life in a child, under the plan; true while the plan's point is reached. */
static bool one_life(const struct calls_plan *plan, bool may_have_gap, struct totals *t)
{
	struct life *l = life_new(sample_folder());
	struct point_end end = point_in_child(plan, CHILD_S, run_one, l);
	uint64_t before = unsound(t);

	t->nr_killed += end.is_killed;
	t->nr_crashed += end.is_crashed;
	judge(l, may_have_gap, t);
	if (unsound(t) != before)
		tap_note("mode %d, point %llu, error %d", plan->mode, (unsigned long long)plan->at,
			 plan->error);
	sample_remove(l->dir);
	life_free(l);
	return end.is_reached;
}

static bool try_killed(void *ctx, const struct calls_plan *plan)
{
	return one_life(plan, false, ctx);
}

static bool try_faulty(void *ctx, const struct calls_plan *plan)
{
	return one_life(plan, true, ctx);
}

static void all_sound(const struct totals *t)
{
	ok_eq(t->nr_crashed, 0);
	ok_eq(t->nr_stuck, 0);
	ok_eq(t->nr_missing, 0);
	ok_eq(t->nr_altered, 0);
	ok_eq(t->nr_lost, 0);
	ok_eq(t->nr_twice, 0);
	tap_note("%llu lives, %llu killed, slowest start %.4f s", (unsigned long long)t->nr_runs,
		 (unsigned long long)t->nr_killed, t->slowest_s);
}

static void untouched_life_adds_up(void)
{
	struct calls_plan plan = { 0 };
	struct totals t = { 0 };

	one_life(&plan, false, &t);
	all_sound(&t);
}

static void killed_at_every_point(void)
{
	struct totals t = { 0 };

	points_of_death(9, try_killed, &t);
	all_sound(&t);
	ok(t.nr_killed * point_stride(9) >= 500);
}

/* The recovery of a life that was killed is killed at each of its own points. */
static void killed_while_recovering(void)
{
	struct totals t = { 0 };

	for (uint64_t death = 11; death < 400; death += point_stride(97) == 1 ? 37 : 97) {
		for (uint64_t at = 1;; at += point_stride(5)) {
			struct calls_plan plan = { CALLS_KILL_BEFORE, death, 0 };
			struct life *l = life_new(sample_folder());
			int status;
			pid_t pid = fork();

			if (!pid) {
				calls_begin(&plan);
				life_run(l);
				calls_flush_coverage();
				_exit(0);
			}
			waitpid(pid, &status, 0);
			pid = fork();
			if (!pid) {
				struct life_end end;

				plan = (struct calls_plan){ CALLS_KILL_AFTER, at, 0 };
				calls_begin(&plan);
				life_check(l, l->dir, "b1", SIZE_MAX, &end);
				calls_flush_coverage();
				_exit(0);
			}
			waitpid(pid, &status, 0);
			t.nr_killed += WIFSIGNALED(status);
			/* What the recovery took out went to the same receiver. */
			if (WIFSIGNALED(status))
				judge(l, false, &t);
			sample_remove(l->dir);
			life_free(l);
			if (!WIFSIGNALED(status))
				break;
		}
	}
	all_sound(&t);
}

static void every_error_at_every_call(void)
{
	struct totals t = { 0 };

	points_of_error(61, try_faulty, &t);
	all_sound(&t);
}

static void no_memory_at_every_allocation(void)
{
	struct totals t = { 0 };

	points_without_memory(7, try_faulty, &t);
	all_sound(&t);
}

static const struct tap_test tests[] = {
	{ "an untouched life adds up", untouched_life_adds_up },
	{ "a life killed before and after each change adds up", killed_at_every_point },
	{ "a recovery killed after each change adds up", killed_while_recovering },
	{ "a life with any error at any call, once or from then on, adds up",
	  every_error_at_every_call },
	{ "a life without memory at any allocation, once or from then on, adds up",
	  no_memory_at_every_allocation },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}
