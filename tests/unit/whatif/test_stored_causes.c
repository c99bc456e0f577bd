// SPDX-License-Identifier: Apache-2.0
/*
 * What stored requests wait for, on a slower device: write-back that waits for room, threads that
 * begin during the recording, and threads that take the place of others. The device serves one
 * request after the other, each in the same time, so that every response time follows by hand.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/replay/causal_depend.h"
#include "analyzer/whatif/simulate/stored_sim.h"
#include "tests/support/tap.h"

#define US	   1000ull
#define MS	   1000000ull
#define SLOWER	   3 /* times as long as a request took when it was recorded: 1 ms */
#define NR_AT_ONCE 20
#define NR_LET_IN  40
#define NR_THREADS 5
#define NR_EACH	   100
#define NEXT_NS	   (1050 * US) /* from a request of a thread to its next one */
#define NR_LOOP	   60	       /* programs that a loop starts */
#define NR_ALONE   400	       /* threads that begin at times of their own */
#define LONG_TID   1000	       /* threads of the second loop have this number or a higher one */

static struct request recorded(uint32_t tid, size_t nr, uint64_t arrival_ns, uint64_t end_ns)
{
	return (struct request){ .tid = tid,
				 .flags = tid ? 0 : REQUEST_KERNEL_THREAD,
				 .arrival_ns = arrival_ns,
				 .dispatch_ns = arrival_ns,
				 .completion_ns = end_ns,
				 .sector = 1024 * nr,
				 .bytes = 4096,
				 .operation = OPERATION_WRITE };
}

/* The mean response time of the recorded writes where each takes service_s. */
static double mean_s(const struct request *recorded, size_t nr, double service_s)
{
	struct request *r = malloc(nr * sizeof(*r));
	const struct causal_plan *plans[1];
	struct stored_result result;
	struct device_model m;
	struct causal_plan plan;
	double s;

	memcpy(r, recorded, nr * sizeof(*r));
	device_model_init(&m);
	m.base_s[DEVICE_WRITE] = service_s;
	m.domain.concurrency = 128;
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	plans[0] = &plan;
	ok_int(stored_sim_run(plans, 1, &m, 1, &result, NULL), 0);
	s = device_times_at(&result.times, DEVICE_WRITE, DEVICE_MEAN);
	ok_eq(result.times.nr[DEVICE_WRITE], nr);
	stored_result_release(&result);
	causal_release(&plan);
	free(r);
	return s;
}

/*
 * Write-back sends 20 requests at once. From the time when three of them are left, each completion
 * lets in the next request 50 us later. It finds three others, whatever the device. On the slower
 * one it is sent at the completion itself, since its recorded spacing has passed by then.
 */
static void write_back_waits_for_room(void)
{
	const size_t nr = NR_AT_ONCE + NR_LET_IN;
	struct request r[NR_AT_ONCE + NR_LET_IN];
	double first_s = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t at = i < NR_AT_ONCE ? MS : (i - 2) * MS + 50 * US;

		r[i] = recorded(0, i, at, (i + 2) * MS);
		first_s += i < NR_AT_ONCE ? 0.001 * (double)(i + 1) : 0;
	}
	ok_near(mean_s(r, nr, 0.001), (first_s + NR_LET_IN * 0.00395) / (double)nr, 1e-6);
	ok_near(mean_s(r, nr, SLOWER * 0.001),
		(SLOWER * first_s + NR_LET_IN * 4 * SLOWER * 0.001) / (double)nr, 1e-6);
}

/*
 * Five threads work one after the other, as programs that a script starts: each begins 100 us after
 * the last completion of the one before. None of them ever waits for another one's request.
 */
static void threads_begin_after_each_other(void)
{
	const size_t nr = NR_THREADS * NR_EACH;
	struct request *r = malloc(nr * sizeof(*r));
	uint64_t at = MS;

	for (size_t i = 0; i < nr; i++) {
		r[i] = recorded(100 + (uint32_t)(i / NR_EACH), i, at, at + MS);
		at += i % NR_EACH == NR_EACH - 1 ? NEXT_NS + 50 * US : NEXT_NS;
	}
	ok_near(mean_s(r, nr, 0.001), 0.001, 1e-9);
	ok_near(mean_s(r, nr, SLOWER * 0.001), SLOWER * 0.001, 1e-9);
	free(r);
}

/*
 * By the coarse clock of the recording, the first requests of three threads take no time, at the
 * same instant, 5 ms after the request of another thread. They come at once and are served in turn.
 */
static void who_took_no_time_waits_for_nobody(void)
{
	struct request r[4] = { recorded(100, 0, 0, MS) };

	for (uint32_t i = 1; i < 4; i++)
		r[i] = recorded(100 + i, i, 5 * MS, 5 * MS);
	ok_near(mean_s(r, 4, 0.001), (0.001 + 0.001 + 0.002 + 0.003) / 4, 1e-9);
}

/*
 * A loop starts one program after the other. Each sends one write, and the next one begins 1 to
 * 2 ms after its end. Sent at their recorded times, they would pile up on the slower device.
 * Programs that begin every 2 ms go by a clock, and do pile up: the n-th one waits for n ms.
 */
static void programs_of_a_loop_wait_for_each_other(void)
{
	struct request r[NR_LOOP];
	uint64_t at = MS;

	for (uint32_t i = 0; i < NR_LOOP; i++) {
		r[i] = recorded(100 + i, i, at, at + MS);
		at += 2 * MS + i * 617 % 1000 * US;
	}
	ok_near(mean_s(r, NR_LOOP, 0.001), 0.001, 1e-9);
	ok_near(mean_s(r, NR_LOOP, SLOWER * 0.001), SLOWER * 0.001, 1e-9);
	for (uint32_t i = 0; i < NR_LOOP; i++)
		r[i] = recorded(100 + i, i, (2 * i + 1) * MS, (2 * i + 2) * MS);
	ok_near(mean_s(r, NR_LOOP, SLOWER * 0.001), SLOWER * 0.001 + 0.0005 * (NR_LOOP - 1), 1e-9);
}

/*
 * Threads that begin at random times, every 5 ms in the mean, do not wait for each other: on the
 * slower device they queue, for 3 ms x 0.6 / (2 (1 - 0.6)) = 2.25 ms in the mean (M/D/1).
 */
static void threads_that_begin_by_themselves_wait_for_nobody(void)
{
	struct request *r = malloc(NR_ALONE * sizeof(*r));
	uint64_t at = MS;
	struct rng rng;

	rng_seed(&rng, 3);
	for (uint32_t i = 0; i < NR_ALONE; i++) {
		at += (uint64_t)(rng_exponential(&rng) * 5 * MS);
		r[i] = recorded(100 + i, i, at, at + MS);
	}
	ok_ratio(mean_s(r, NR_ALONE, SLOWER * 0.001), SLOWER * 0.001 + 0.00225, 0.25);
	free(r);
}

/*
 * Of two loops, one starts programs of one write, and the other one programs of ten. A program
 * takes the place of its like, whichever ended last.
 */
static void a_program_takes_the_place_of_its_like(void)
{
	struct request *r = malloc(600 * sizeof(*r));
	struct causal_plan plan;
	size_t nr = 0, nr_first = 0, nr_other = 0;

	for (uint32_t i = 0; i < 200; i++)
		r[i] = recorded(100 + i, i, (5 * i + 1) * MS, (5 * i + 5) * MS);
	nr = 200;
	for (uint32_t i = 0; i < 25; i++)
		for (uint32_t k = 0; k < 10; k++, nr++) {
			uint64_t at = 1500 * US + 39 * i * MS + k * NEXT_NS;

			r[nr] = recorded(LONG_TID + i, nr, at, at + MS);
		}
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	for (size_t l = 0; l < plan.nr_lanes; l++) {
		const struct causal_request *q = &plan.lanes[l].requests[0];

		if (q->after_lane == UINT32_MAX) {
			nr_first++;
			continue;
		}
		nr_other += q->gap_ns > CAUSAL_FOLLOW_NS &&
			    (plan.lanes[l].tid < LONG_TID) !=
				    (plan.lanes[q->after_lane].tid < LONG_TID);
	}
	ok_eq(nr_first, 2);
	ok_eq(nr_other, 0);
	causal_release(&plan);
	free(r);
}

static const struct tap_test tests[] = {
	{ "write-back that waits for room does so on a slower device", write_back_waits_for_room },
	{ "a thread begins after the completion that it followed", threads_begin_after_each_other },
	{ "requests that took no time wait for nobody", who_took_no_time_waits_for_nobody },
	{ "programs of a loop wait for each other", programs_of_a_loop_wait_for_each_other },
	{ "threads that begin by themselves wait for nobody",
	  threads_that_begin_by_themselves_wait_for_nobody },
	{ "a program takes the place of its like", a_program_takes_the_place_of_its_like },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
