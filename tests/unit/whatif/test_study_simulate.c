// SPDX-License-Identifier: Apache-2.0
/* Several simulations of stored requests at once, beside one after the other. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/parallel.h"
#include "analyzer/models/num/rng.h"
#include "analyzer/whatif/mix/mix_device.h"
#include "analyzer/whatif/simulate/stored_runs.h"
#include "tests/support/tap.h"

/* So much wider are intervals by device_times_chance() of the requests here (test_device_times). */
#define CHANCE	    0.002

#define BEGIN_NS    1000000000ull
#define NR_REQUESTS 1000

static struct device_model device(double factor)
{
	struct device_model m;

	device_model_init(&m);
	m.servers = 4;
	m.base_s[0] = 0.001 * factor;
	m.base_s[1] = 0.002 * factor;
	m.sigma[0] = m.sigma[1] = 0.3;
	return m;
}

/* Makes the plan of a load: four threads that send reads and writes at random times. */
static void make_plan(struct causal_plan *plan, uint64_t seed)
{
	struct request *requests = calloc(NR_REQUESTS, sizeof(*requests));
	uint64_t now_ns = BEGIN_NS;
	struct err err = { 0 };
	struct rng rng;

	rng_stream(&rng, seed, 0);
	for (size_t i = 0; i < NR_REQUESTS; i++) {
		struct request *r = &requests[i];

		now_ns += rng_below(&rng, 1000000);
		*r = (struct request){ .arrival_ns = now_ns,
				       .dispatch_ns = now_ns,
				       .completion_ns = now_ns + 100000 + rng_below(&rng, 2000000),
				       .sector = 8 * rng_below(&rng, 1 << 20),
				       .bytes = 4096,
				       .tid = 100 + (uint32_t)(i % 4),
				       .pid = 100,
				       .operation = i % 3 ? OPERATION_READ : OPERATION_WRITE };
	}
	ok_int(causal_make(plan, requests, NR_REQUESTS, &err), 0);
	free(requests);
}

/* A study of three loads on one device. */
struct rig {
	struct device_model target;
	struct study study;
	struct study_replay replay;
	struct study_simulate sim;
	struct profile_group groups[3];
};

static struct rig *rig_new(void)
{
	struct rig *r = calloc(1, sizeof(*r));

	r->target = device(1.5);
	r->study.nr = r->replay.nr = 3;
	for (size_t i = 0; i < 3; i++) {
		make_plan(&r->replay.plans[i], i + 1);
		r->study.loads[i].group = &r->groups[i];
		r->study.loads[i].facts.rate_per_s = NR_REQUESTS / r->replay.plans[i].window_s;
	}
	r->sim = (struct study_simulate){ .target = &r->target, .replay = &r->replay, .seed = 1 };
	return r;
}

static void rig_free(struct rig *r)
{
	study_replay_release(&r->replay);
	free(r);
}

static bool is_same(const struct study_answer *a, const struct study_answer *b)
{
	bool same = a->rate_per_s == b->rate_per_s && a->limited_by == b->limited_by;

	for (int side = 0; side < 2; side++)
		same &= a->s[side] == b->s[side] && a->s[side] > 0;
	for (int type = 0; type < STUDY_TYPES; type++)
		for (int point = 0; point < STUDY_POINTS; point++)
			same &= !memcmp(&a->points[type][point].s, &b->points[type][point].s,
					sizeof(double));
	return same;
}

static const struct study_case asked[] = {
	{ .loads = { 0 }, .nr = 1 },
	{ .loads = { 1 }, .nr = 1 },
	{ .loads = { 0, 1, 2 }, .nr = 3 },
	{ .loads = { 0, 2 }, .nr = 2 },
};

static void at_once(void)
{
	struct rig *one = rig_new(), *all = rig_new();
	struct study_case single[TAP_NR(asked)], cases[TAP_NR(asked)];
	struct err err = { 0 };

	memcpy(single, asked, sizeof(asked));
	memcpy(cases, asked, sizeof(asked));
	for (size_t i = 0; i < TAP_NR(asked); i++)
		ok_int(study_simulate_case(&one->sim, &one->study, &single[i], &err), 0);
	ok_int(study_simulate_cases(&all->sim, &all->study, cases, TAP_NR(asked), &err), 0);
	for (size_t i = 0; i < TAP_NR(asked); i++) {
		ok(!strcmp(cases[i].why, single[i].why));
		for (size_t k = 0; k < asked[i].nr; k++)
			ok(is_same(&cases[i].answers[k], &single[i].answers[k]));
	}
	for (size_t i = 0; i < 3; i++)
		ok(all->sim.has_alone[i] && is_same(&all->sim.alone[i], &one->sim.alone[i]));
	rig_free(one);
	rig_free(all);
}

static void fails(void)
{
	struct rig *r = rig_new();
	const struct causal_plan *plans[] = { &r->replay.plans[0] };
	struct stored_result results[3];
	struct stored_run runs[3];
	struct err err = { 0 };

	for (size_t i = 0; i < 3; i++)
		runs[i] = (struct stored_run){ plans, 1, &r->target, &results[i], 0 };
	ok_int(stored_sim_run_all(runs, 3, 3, &err), 0);
	for (size_t i = 0; i < 3; i++) {
		ok_eq(results[i].times.nr[DEVICE_READ] + results[i].times.nr[DEVICE_WRITE],
		      NR_REQUESTS);
		stored_result_release(&results[i]);
	}
	/* A request that waits for more completions of other threads than there are. */
	r->replay.plans[0].lanes[0].requests[50].others = 2 * NR_REQUESTS;
	ok_int(stored_sim_run_all(runs, 3, 3, &err), -EINVAL);
	ok(strstr(err.line, "is never sent") != NULL);
	for (size_t i = 0; i < 3; i++)
		stored_result_release(&results[i]);
	rig_free(r);
}

/* Half the width of the interval around a mean read time, as a difference of logarithms. */
static double half_of(const struct study_answer *a)
{
	return log(a->high[STUDY_READ] / a->s[STUDY_READ]);
}

/* Copies of a load are beside each other, as other loads are. */
static void copies(void)
{
	const double shared = device_model_shared(0.3, DEVICE_MEAN);
	struct rig *r = rig_new();
	struct mix_device mix = {
		.target = &r->target, .study = &r->study, .replay = &r->replay, .seed = 1
	};
	struct study_case c = { .loads = { 0 }, .nr = 1 };
	const struct study_case *out;
	struct err err = { 0 };

	for (int t = 0; t < DEVICE_NR_TYPES; t++)
		for (int p = 0; p < DEVICE_NR_POINTS; p++)
			r->target.errors[t][p].log_half = 0.3;
	ok_int(study_simulate_case(&r->sim, &r->study, &c, &err), 0);
	ok_near(half_of(&c.answers[0]), 0.3, CHANCE);
	r->sim.copies = (size_t[]){ 3, 1, 1 };
	ok_int(study_simulate_case(&r->sim, &r->study, &c, &err), 0);
	ok_near(half_of(&c.answers[0]), shared, CHANCE);

	ok_int(mix_device_solve(&mix, (size_t[]){ 1, 0, 0 }, &out, &err), 0);
	ok_near(half_of(&out->answers[0]), 0.3, CHANCE);
	ok_int(mix_device_solve(&mix, (size_t[]){ 3, 0, 0 }, &out, &err), 0);
	ok_near(half_of(&out->answers[0]), shared, CHANCE);
	ok(mix.most_change <= 1);
	mix_device_release(&mix);
	rig_free(r);
}

/* A time that is replaced by that of the load alone keeps the wider interval that it had. */
static void keeps_width(void)
{
	const struct study_answer less = { .s = { 0.010, 0.020 },
					   .low = { 0.009, 0.019 },
					   .high = { 0.011, 0.021 },
					   .rate_per_s = 100 };
	struct study_answer a = { .s = { 0.008, 0.030 },
				  .low = { 0.004, 0.015 },
				  .high = { 0.016, 0.060 },
				  .rate_per_s = 50 };

	ok_near(study_simulate_at_least(&less, 1, &a), 1.25, 1e-9);
	ok_near(a.s[0], 0.010, 1e-12);
	ok_near(a.low[0], 0.005, 1e-12);
	ok_near(a.high[0], 0.020, 1e-12);
	ok(a.s[1] == 0.030 && a.high[1] == 0.060 && a.rate_per_s == 50);
	ok_near(study_simulate_at_most(&less, 1, &a), 1.5, 1e-9);
	ok_near(a.s[1], 0.020, 1e-12);
	ok_near(a.high[1], 0.040, 1e-12);
}

/* What large simulations take together is bounded, and one alone is never refused. */
static void bounded_memory(void)
{
	struct causal_lane few = { .nr = 1000 }, many = { .nr = 1ul << 27 };
	const struct causal_plan plans[] = { { .lanes = &few, .nr_lanes = 1 },
					     { .lanes = &many, .nr_lanes = 1 } };
	const struct causal_plan *small = &plans[0], *large = &plans[1];
	const struct stored_run runs[] = { { &small, 1, NULL, NULL, 0 },
					   { &large, 1, NULL, NULL, 0 } };

	ok_eq(stored_sim_at_once(runs, 1), parallel_cpus());
	ok_eq(stored_sim_at_once(runs, 2), 1);
	many.nr = 1ul << 20;
	ok(stored_sim_at_once(runs, 2) <= 64);
}

static const struct tap_test tests[] = {
	{ "all cases at once have the answers of one after the other", at_once },
	{ "a simulation that fails gives the error of all", fails },
	{ "copies of a load have the intervals of loads beside others", copies },
	{ "a time that is replaced keeps the width of its interval", keeps_width },
	{ "simulations at the same time have bounded memory", bounded_memory },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
