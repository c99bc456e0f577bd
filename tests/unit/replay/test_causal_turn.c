// SPDX-License-Identifier: Apache-2.0
/*
 * Programs of a script that run in turn: a program with several requests, a pause, and small ones,
 * each of which writes one file and does not wait for it. On slower storage the small ones still
 * come after the program.
 */
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/replay/causal.h"
#include "analyzer/replay/causal_depend.h"
#include "analyzer/whatif/simulate/stored_sim.h"
#include "tests/support/tap.h"

#define US	     1000ull
#define MS	     1000000ull
#define NR_ROUNDS    30
#define NR_LARGE     20 /* requests of the program */
#define NR_SMALL     6	/* programs after it */
#define NR_ROUND     (NR_LARGE + NR_SMALL)
#define PAUSE_NS     (7 * MS)
#define STEP_NS	     (1500 * US)

#define NR_PROGRAMS  150
#define NR_WRITTEN   6 /* requests of write-back after each of them */

#define NR_PROCESSES 40
#define NR_THREADS   6
#define NR_EACH	     8 /* requests of a thread */

static struct request at(uint32_t tid, uint64_t arrival_ns, uint64_t response_ns)
{
	return (struct request){ .tid = tid,
				 .pid = tid,
				 .arrival_ns = arrival_ns,
				 .dispatch_ns = arrival_ns,
				 .completion_ns = arrival_ns + response_ns,
				 .sector = arrival_ns / US * 8,
				 .bytes = 4096,
				 .operation = OPERATION_WRITE };
}

/* Makes the rounds of the script, which are not quite equally long. Returns the number. */
static size_t script(struct request *r)
{
	uint32_t tid = 100;
	uint64_t now_ns = MS;
	struct rng rng;
	size_t nr = 0;

	rng_seed(&rng, 3);
	for (int round = 0; round < NR_ROUNDS; round++) {
		for (int i = 0; i < NR_LARGE; i++) {
			r[nr] = at(tid, now_ns, MS + rng_below(&rng, 2 * MS));
			now_ns = r[nr++].completion_ns + 100 * US;
		}
		tid++;
		now_ns += PAUSE_NS;
		for (int i = 0; i < NR_SMALL; i++, now_ns += STEP_NS)
			r[nr++] = at(tid++, now_ns, 3 * MS);
		now_ns += 20 * MS + rng_below(&rng, 10 * MS);
	}
	return nr;
}

/* What begins in a round waits for the program of the round, and that one for the round before. */
static void what_runs_in_turn_waits(void)
{
	struct request r[NR_ROUNDS * NR_ROUND];
	struct causal_plan plan;
	size_t nr = 0;

	ok_int(causal_make(&plan, r, script(r), NULL), 0);
	ok_eq(plan.nr_lanes, NR_ROUNDS * (1 + NR_SMALL));
	for (size_t l = 1; l < plan.nr_lanes; l++) {
		const struct causal_request *first = &plan.lanes[l].requests[0];
		size_t in_round = l % (1 + NR_SMALL);

		ok(first->after_lane < l);
		if (in_round != 1)
			continue;
		ok_eq(first->after_lane, l - 1);
		ok_eq(first->after, NR_LARGE - 1);
		ok_eq(first->gap_ns, PAUSE_NS + 100 * US);
		nr++;
	}
	ok_eq(nr, NR_ROUNDS);
	causal_release(&plan);
}

/* On storage that takes ten times as long, the small programs do not meet the large one. */
static void they_do_not_meet_on_slower_storage(void)
{
	const struct causal_plan *plans[1];
	struct request r[NR_ROUNDS * NR_ROUND];
	struct stored_result result;
	struct causal_plan plan;
	struct device_model m;

	device_model_init(&m);
	m.base_s[DEVICE_READ] = m.base_s[DEVICE_WRITE] = 0.02;
	m.domain.concurrency = 128;
	ok_int(causal_make(&plan, r, script(r), NULL), 0);
	plans[0] = &plan;
	ok_int(stored_sim_run(plans, 1, &m, 1, &result, NULL), 0);
	/* Of all requests 20 in 26 have the storage for themselves. */
	ok_near(device_times_at(&result.times, DEVICE_WRITE, DEVICE_P50), 0.02, 0.001);
	stored_result_release(&result);
	causal_release(&plan);
}

/* Threads that begin at random times wait for nobody, whoever else is at work. */
static void who_begins_at_any_time_waits_for_nobody(void)
{
	struct request r[NR_ROUNDS * NR_ROUND];
	struct causal_plan plan;
	size_t nr = 0, waits = 0;
	uint64_t now_ns = MS;
	struct rng rng;

	rng_seed(&rng, 4);
	for (int i = 0; i < 300; i++, now_ns += 5 * MS + rng_below(&rng, 2 * MS))
		if (i % 100 < 60) /* a program that is at work for three fifths of the time */
			r[nr++] = at((uint32_t)(100 + i / 100), now_ns, MS);
	for (uint32_t i = 0; i < 200; i++)
		r[nr++] = at(200 + i, rng_below(&rng, now_ns), 2 * MS);
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	ok_eq(plan.nr_lanes, 203);
	for (size_t l = 0; l < plan.nr_lanes; l++)
		waits += plan.lanes[l].tid >= 200 &&
			 plan.lanes[l].requests[0].gap_ns > CAUSAL_FOLLOW_NS &&
			 plan.lanes[l].requests[0].after_lane != UINT32_MAX;
	ok_eq(waits, 0);
	causal_release(&plan);
}

static struct request written_back(uint64_t arrival_ns, uint64_t takes_ns)
{
	struct request r = at(0, arrival_ns, takes_ns);

	r.flags = REQUEST_KERNEL_THREAD;
	return r;
}

/*
 * Two programs at a time, as make -j2 runs them, and then the script makes durable what they wrote:
 * 12 writes of the kernel. No program waits for another, and none begins before the last write.
 */
static size_t rounds_of_two(struct request *r)
{
	uint64_t now_ns = MS;
	struct rng rng;
	size_t nr = 0;

	rng_seed(&rng, 5);
	for (uint32_t k = 0; k < NR_ROUNDS; k++) {
		for (uint32_t i = 0; i < 6; i++)
			r[nr++] = at(100 + 2 * k + i % 2, now_ns + i * 2 * MS, 3 * MS);
		now_ns += 20 * MS + rng_below(&rng, 5 * MS);
		for (uint64_t i = 0; i < 12; i++)
			r[nr++] = written_back(now_ns, (i + 1) * MS);
		now_ns += 22 * MS + rng_below(&rng, 20 * MS);
	}
	return nr;
}

static void programs_wait_for_what_a_script_makes_durable(void)
{
	struct request r[NR_ROUNDS * 18];
	struct causal_plan plan;

	ok_int(causal_make(&plan, r, rounds_of_two(r), NULL), 0);
	ok_eq(plan.nr_lanes, 1 + 2 * NR_ROUNDS);
	for (size_t l = 3; l < plan.nr_lanes; l++) {
		const struct causal_request *first = &plan.lanes[l].requests[0];

		ok_eq(first->after_lane, 0);
		ok_eq(first->after, (l - 1) / 2 * 12 - 1);
	}
	causal_release(&plan);
}

static void who_begins_beside_write_back_does_not_wait_for_it(void)
{
	enum { NR_BURSTS = 60, NR_BESIDE = 200 };
	struct request r[NR_BURSTS * 12 + NR_BESIDE];
	struct causal_plan plan;
	size_t nr = 0, waits = 0;
	struct rng rng;

	rng_seed(&rng, 6);
	for (uint64_t k = 0; k < NR_BURSTS; k++)
		for (uint64_t i = 0; i < 12; i++)
			r[nr++] = written_back((40 * k + 1) * MS, (i + 1) * MS);
	for (uint32_t i = 0; i < NR_BESIDE; i++)
		r[nr++] = at(100 + i, rng_below(&rng, NR_BURSTS * 40 * MS), 2 * MS);
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	for (size_t l = 1; l < plan.nr_lanes; l++)
		waits += plan.lanes[l].requests[0].gap_ns > CAUSAL_FOLLOW_NS &&
			 plan.lanes[l].requests[0].after_lane != UINT32_MAX;
	ok_eq(waits, 0);
	causal_release(&plan);
}

/*
 * Many programs, one after the other, each of which the kernel writes back what it wrote, some time
 * after its end. There are more of them than the 64 lanes that a lane can depend on.
 */
static size_t programs_and_write_back(struct request *r)
{
	uint64_t now_ns = MS;
	struct rng rng;
	size_t nr = 0;

	rng_seed(&rng, 7);
	for (uint32_t k = 0; k < NR_PROGRAMS; k++) {
		for (int i = 0; i < 4; i++) {
			r[nr] = at(100 + k, now_ns, MS + rng_below(&rng, MS));
			now_ns = r[nr++].completion_ns + 100 * US;
		}
		now_ns += 4 * MS;
		for (uint64_t i = 0; i < NR_WRITTEN; i++)
			r[nr++] = written_back(now_ns, (i + 1) * MS);
		now_ns += 10 * MS + rng_below(&rng, 5 * MS);
	}
	return nr;
}

static void write_back_follows_each_of_many_programs(void)
{
	struct request r[NR_PROGRAMS * (4 + NR_WRITTEN)];
	struct causal_plan plan;

	ok_int(causal_make(&plan, r, programs_and_write_back(r), NULL), 0);
	ok_eq(plan.nr_lanes, 1 + NR_PROGRAMS);
	for (uint32_t k = 1; k < NR_PROGRAMS; k++) {
		const struct causal_request *first = &plan.lanes[0].requests[k * NR_WRITTEN];

		ok_eq(first->after_lane, 1 + k);
		ok_eq(first->after, 3);
		ok_eq(first->gap_ns, 4 * MS + 100 * US);
	}
	causal_release(&plan);
}

/*
 * Programs of six threads and programs of one, in turn. The threads of one program do not take the
 * places of those of the program before the last, although these are as many.
 */
static size_t programs_of_threads(struct request *r)
{
	uint64_t now_ns = MS, end_ns = 0;
	struct rng rng;
	size_t nr = 0;

	rng_seed(&rng, 8);
	for (uint32_t k = 0; k < NR_PROCESSES; k++) {
		for (uint32_t i = 0; i < (k % 2 ? 1 : NR_THREADS); i++) {
			uint64_t at_ns = now_ns + i * 20 * US;

			for (uint32_t n = 0; n < NR_EACH; n++) {
				r[nr] = at(k * NR_THREADS + i + 1, at_ns, MS + rng_below(&rng, MS));
				r[nr].pid = k * NR_THREADS + 1;
				at_ns = r[nr++].completion_ns + 50 * US;
			}
			end_ns = at_ns > end_ns ? at_ns : end_ns;
		}
		now_ns = end_ns + 20 * MS + rng_below(&rng, 5 * MS);
	}
	return nr;
}

static uint32_t program_of(const struct causal_plan *plan, uint32_t lane)
{
	return lane < plan->nr_lanes ? (plan->lanes[lane].tid - 1) / NR_THREADS : UINT32_MAX;
}

static void processes_wait_for_the_one_before(void)
{
	struct request r[NR_PROCESSES * NR_THREADS * NR_EACH];
	struct causal_plan plan;
	size_t wrong = 0;

	ok_int(causal_make(&plan, r, programs_of_threads(r), NULL), 0);
	ok_eq(plan.nr_lanes, NR_PROCESSES / 2 * (NR_THREADS + 1));
	for (uint32_t l = 0; l < plan.nr_lanes; l++)
		wrong += program_of(&plan, l) &&
			 program_of(&plan, plan.lanes[l].requests[0].after_lane) + 1 !=
				 program_of(&plan, l);
	ok_eq(wrong, 0);
	causal_release(&plan);
}

static const struct tap_test tests[] = {
	{ "write-back follows each of many programs", write_back_follows_each_of_many_programs },
	{ "what runs in turn waits for what ran before", what_runs_in_turn_waits },
	{ "a program of several threads waits for the program before it",
	  processes_wait_for_the_one_before },
	{ "programs in turn do not meet on slower storage", they_do_not_meet_on_slower_storage },
	{ "who begins at any time waits for nobody", who_begins_at_any_time_waits_for_nobody },
	{ "programs wait for what their script makes durable",
	  programs_wait_for_what_a_script_makes_durable },
	{ "who begins beside write-back does not wait for it",
	  who_begins_beside_write_back_does_not_wait_for_it },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
