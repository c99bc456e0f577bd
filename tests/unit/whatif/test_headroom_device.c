// SPDX-License-Identifier: Apache-2.0
/*
 * Headroom on a simulated device, where queueing theory knows the answer: an M/M/1 queue, clients
 * that never think, and clients that think (the machine repairman's model).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/whatif/headroom/headroom_device.h"
#include "analyzer/whatif/simulate/stored_scale.h"
#include "analyzer/whatif/simulate/stored_sim.h"
#include "tests/support/tap.h"

#define SERVICE_S 0.001

/* One load on one server of 1 ms that knows everything up to 1000 requests under way. */
struct bench {
	struct device_model model;
	struct profile_group *group;
	struct study *study;
	struct study_replay *replay;
	struct headroom_device device;
	struct headroom *found;
};

static void bench_begin(struct bench *b, enum device_law law)
{
	memset(b, 0, sizeof(*b));
	device_model_init(&b->model);
	b->model.law = law;
	b->model.base_s[0] = b->model.base_s[1] = SERVICE_S;
	b->model.domain.has[DEVICE_READ] = true;
	b->model.domain.low_bytes[0] = b->model.domain.high_bytes[0] = 4096;
	b->model.domain.concurrency = 1000;
	for (int p = 0; p < DEVICE_NR_POINTS; p++)
		b->model.errors[DEVICE_READ][p].log_half = log(1.1);
	b->group = calloc(1, sizeof(*b->group));
	b->study = calloc(1, sizeof(*b->study));
	b->replay = calloc(1, sizeof(*b->replay));
	b->found = calloc(1, sizeof(*b->found));
	b->study->nr = b->replay->nr = 1;
	b->study->loads[0].group = b->group;
	b->device = (struct headroom_device){
		.target = &b->model, .study = b->study, .replay = b->replay, .seed = 1
	};
}

static void bench_end(struct bench *b)
{
	headroom_device_release(&b->device);
	study_replay_release(b->replay);
	free(b->group);
	free(b->study);
	free(b->replay);
	free(b->found);
}

/* Adds lanes of nr reads each with gaps of that mean, which are exponential or constant. */
static void bench_lanes(struct bench *b, size_t nr_lanes, size_t nr, double gap_s, bool random,
			bool open)
{
	struct causal_plan *plan = &b->replay->plans[0];
	struct rng rng;

	rng_seed(&rng, 7);
	plan->lanes = calloc(nr_lanes, sizeof(*plan->lanes));
	plan->nr_lanes = nr_lanes;
	plan->nr = nr_lanes * nr;
	plan->window_s = (double)nr * (gap_s + (open ? 0 : SERVICE_S * (double)nr_lanes));
	for (size_t l = 0; l < nr_lanes; l++) {
		struct causal_lane *lane = &plan->lanes[l];

		*lane = (struct causal_lane){ .tid = 1 + (uint32_t)l, .nr = nr, .open = open };
		lane->requests = calloc(nr, sizeof(*lane->requests));
		for (size_t i = 0; i < nr; i++) {
			struct causal_request *q = &lane->requests[i];
			double wait_s = random ? -gap_s * log(1 - rng_uniform(&rng)) : gap_s;

			q->offset = rng_below(&rng, 1 << 16) * 65536;
			q->bytes = 4096;
			q->gap_ns = q->spacing_ns = (uint64_t)(wait_s * 1e9);
			q->done = open ? 0 : (uint32_t)i;
			q->room = !open			   ? (uint32_t)i
				  : i >= CAUSAL_OPEN_DEPTH ? (uint32_t)(i + 1 - CAUSAL_OPEN_DEPTH)
							   : 0;
			q->after_lane = q->after = UINT32_MAX;
		}
	}
	b->study->loads[0].facts.rate_per_s = (double)plan->nr / plan->window_s;
	b->study->loads[0].facts.concurrency = (double)nr_lanes;
	b->study->loads[0].facts.clients = (double)nr_lanes;
}

static int bench_find(struct bench *b, const char *slo)
{
	struct headroom_objective o;
	struct err err = { 0 };
	int ret = headroom_read_objective(slo, &o, &err);

	if (!ret)
		ret = headroom_find_device(b->found, &b->device, &o, &err);
	if (ret)
		tap_note("%s", err.line);
	return ret;
}

/*
 * The response time of M/M/1 is exponential with the rate mu - lambda, so that its p95 is
 * ln 20 / (mu - lambda): 10 ms at 700.4 requests/s.
 */
static void open_arrivals(void)
{
	double want = (1 / SERVICE_S - log(20) / 0.010) / 300;
	struct headroom_result r;
	struct bench b;

	bench_begin(&b, DEVICE_EXPONENTIAL);
	bench_lanes(&b, 1, 30000, 1 / 300.0, true, true);
	ok_int(bench_find(&b, "read.p95=10ms"), 0);
	ok_str(b.found->load, "rate");
	ok_near(b.found->predicted_today, log(20) / 700, 0.05 * log(20) / 700);
	ok_near(b.found->at.factor, want, 0.05 * want);
	ok(!b.found->at.at_least && !b.found->broken && !b.found->why[0]);
	/* The ends of the interval are where 10 % more, and 10 % less, break the objective. */
	ok_near(b.found->low.factor, (1000 - log(20) / 0.010 * 1.1) / 300, 0.15);
	ok_near(b.found->high.factor, (1000 - log(20) / 0.010 / 1.1) / 300, 0.15);
	ok(b.device.nr_runs <= HEADROOM_DEVICE_RUNS);
	r = (struct headroom_result){ .found = b.found };
	headroom_device_rates(&r, &b.device);
	ok_near(r.today_per_s, 300, 6);
	ok_near(r.limit_per_s, 700, 40);
	for (size_t i = 1; i < b.found->nr; i++)
		ok(b.found->curve[i].predicted >= b.found->curve[i - 1].predicted);
	bench_end(&b);
}

/* n clients that never think wait n times the service time, whatever is asked. */
static void busy_clients(void)
{
	struct bench b;

	bench_begin(&b, DEVICE_LOGNORMAL);
	bench_lanes(&b, 4, 2000, 0, false, false);
	ok_int(bench_find(&b, "read.mean=10500us"), 0);
	ok_str(b.found->load, "clients");
	ok_near(b.found->today, 4, 1e-9);
	ok_near(b.found->predicted_today, 0.004, 0.0001);
	ok_near(b.found->at.factor, 2.625, 0.06);
	ok_int(bench_find(&b, "read.mean=2500us"), 0);
	ok(b.found->broken);
	ok_near(b.found->at.factor, 0.625, 0.02);
	ok_int(bench_find(&b, "read.mean=500us"), 0);
	ok(b.found->at.below);
	bench_end(&b);
}

/* A load with more stored requests than a simulation may have can still be made smaller. */
static void broken_and_large(void)
{
	struct bench b;

	bench_begin(&b, DEVICE_LOGNORMAL);
	bench_lanes(&b, 4, 2000, 0, false, false);
	b.device.most_requests = 4000;
	ok_int(bench_find(&b, "read.mean=2500us"), 0);
	ok(b.found->broken && !b.found->at.below);
	ok_near(b.found->at.factor, 0.625, 0.02);
	headroom_device_release(&b.device);
	ok_int(bench_find(&b, "read.mean=10500us"), 0);
	ok(b.found->at.at_least);
	ok_near(b.found->at.factor, 1, 1e-9);
	bench_end(&b);
}

/* All simulations that are kept are points of the curve, however many objectives there are. */
static void many_objectives(void)
{
	size_t nr_broken = 0;
	struct bench b;

	bench_begin(&b, DEVICE_LOGNORMAL);
	b.model.domain.concurrency = 1e6;
	bench_lanes(&b, 64, 5, 0, false, false);
	for (int i = 240; i-- > 0;) {
		char slo[64];

		snprintf(slo, sizeof(slo), "read.mean=%.0fus", 70000 * exp2(i / 48.0));
		ok_int(bench_find(&b, slo), 0);
		nr_broken += !b.found->at.at_least;
	}
	ok_eq(nr_broken, 240);
	ok_eq(b.device.nr_runs, HEADROOM_POINTS);
	ok_eq(b.found->nr, HEADROOM_POINTS);
	bench_end(&b);
}

/*
 * The rate at the limit is known, however the load is rounded. With 1050 requests the least factor
 * is 16 / 1050, and a fifth of the loads times this factor, divided by the load again, is less.
 */
static void rate_at_the_limit(void)
{
	struct headroom_result r;
	size_t nr_known = 0;
	struct bench b;

	bench_begin(&b, DEVICE_LOGNORMAL);
	bench_lanes(&b, 1, 1050, 1 / 300.0, true, true);
	for (int i = 0; i < 100; i++) {
		b.study->loads[0].facts.rate_per_s = 300 + 0.1 * i;
		ok_int(bench_find(&b, "read.mean=1us"), 0);
		ok(b.found->at.below);
		r = (struct headroom_result){ .found = b.found };
		headroom_device_rates(&r, &b.device);
		nr_known += isfinite(r.limit_per_s);
	}
	ok_eq(nr_known, 100);
	bench_end(&b);
}

/* Mean value analysis of n clients that think 20 ms on a server of 1 ms. */
static double repairman_s(int n)
{
	double queue = 0, s = 0;

	for (int i = 1; i <= n; i++) {
		s = SERVICE_S * (1 + queue);
		queue = i * s / (s + 0.020);
	}
	return s;
}

static void thinking_clients(void)
{
	struct bench b;
	int n = 1;

	while (repairman_s(n + 1) < 0.005)
		n++;
	bench_begin(&b, DEVICE_EXPONENTIAL);
	bench_lanes(&b, 10, 2000, 0.020, true, false);
	ok_int(bench_find(&b, "read.mean=5ms"), 0);
	ok_near(b.found->predicted_today, repairman_s(10), 0.05 * repairman_s(10));
	ok_near(b.found->at.factor, (n + 0.5) / 10, 0.06 * n / 10);
	bench_end(&b);
}

static void campaign_ends(void)
{
	struct bench b;

	bench_begin(&b, DEVICE_LOGNORMAL);
	bench_lanes(&b, 4, 2000, 0, false, false);
	b.model.domain.concurrency = 8; /* which covers ten requests under way */
	ok_int(bench_find(&b, "read.mean=1s"), 0);
	ok(b.found->at.at_least && !b.found->why[0]);
	ok_near(b.found->at.factor, 2.5, 0.01);
	headroom_device_release(&b.device);
	b.model.domain.concurrency = 2; /* which does not cover today's load */
	ok_int(bench_find(&b, "read.mean=10500us"), 0);
	ok(strstr(b.found->why, "more requests are under way than 2") != NULL);
	ok_near(b.found->at.factor, 2.625, 0.06);
	bench_end(&b);
}

/* Checks that a scaled plan is sent to its end, whatever its lanes wait for. */
static void lanes_that_wait(void)
{
	static const double factors[] = { 0.3, 0.5, 1, 1.25, 2, 2.5, 7.9 };
	struct stored_result result;
	struct causal_plan *plan, out;
	struct err err = { 0 };
	struct bench b;

	bench_begin(&b, DEVICE_EXPONENTIAL);
	bench_lanes(&b, 4, 300, 0.002, true, false);
	plan = &b.replay->plans[0];
	for (size_t i = 50; i < 300; i++) {
		/* Lane 2 follows lane 0; lane 3 waits for what all others have completed. */
		plan->lanes[2].requests[i].after_lane = 0;
		plan->lanes[2].requests[i].after = (uint32_t)i - 50;
		plan->lanes[3].requests[i].others = 3 * (i - 50);
	}
	for (size_t k = 0; k < sizeof(factors) / sizeof(*factors); k++) {
		const struct causal_plan *plans[] = { &out };

		ok_int(stored_scale(&out, plan, 1, factors[k]), 0);
		ok_near((double)out.nr / (double)plan->nr, factors[k], 0.13);
		if (factors[k] == 1)
			for (size_t l = 0; l < 4; l++)
				ok(!memcmp(out.lanes[l].requests, plan->lanes[l].requests,
					   300 * sizeof(struct causal_request)));
		ok_int(stored_sim_run(plans, 1, &b.model, 1, &result, &err), 0);
		ok_eq(result.times.nr[DEVICE_READ], out.nr);
		stored_result_release(&result);
		causal_release(&out);
	}
	bench_end(&b);
}

/* A gap of 12 years, which becomes longer than 64 bits hold, stays the longest that is kept. */
static void long_gaps(void)
{
	struct causal_plan out;
	struct bench b;

	bench_begin(&b, DEVICE_EXPONENTIAL);
	bench_lanes(&b, 1, 640, 0.002, false, true);
	b.replay->plans[0].lanes[0].requests[1].gap_ns = 400000000000000000;
	ok_int(stored_scale(&out, &b.replay->plans[0], 1, 1.0 / 64), 0);
	ok_eq(out.lanes[0].requests[1].gap_ns, 9000000000000000000);
	ok_eq(out.lanes[0].requests[2].gap_ns, 128000000);
	causal_release(&out);
	bench_end(&b);
}

static const struct tap_test tests[] = {
	{ "open arrivals grow to the rate that M/M/1 has at the objective", open_arrivals },
	{ "clients that never think grow in number, or shrink", busy_clients },
	{ "a broken objective with many stored requests is searched below today",
	  broken_and_large },
	{ "the simulations of many objectives fit into the curve", many_objectives },
	{ "the rate at the limit is known at any load", rate_at_the_limit },
	{ "clients that think grow as mean value analysis says", thinking_clients },
	{ "the search ends where the campaign does", campaign_ends },
	{ "scaled lanes wait for each other and come to their end", lanes_that_wait },
	{ "a gap that becomes too long is cut", long_gaps },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
