// SPDX-License-Identifier: Apache-2.0
/* Pools of threads, which are one lane, and programs that follow each other or a clock. */
#include <stdlib.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/replay/causal.h"
#include "tests/support/tap.h"

#define US	 1000ull
#define MS	 1000000ull
#define NR	 400
#define NR_TASKS 1000

static struct request make(uint32_t pid, uint32_t tid, uint64_t arrival_ns, uint64_t takes_ns)
{
	return (struct request){ .pid = pid,
				 .tid = tid,
				 .arrival_ns = arrival_ns,
				 .dispatch_ns = arrival_ns,
				 .completion_ns = arrival_ns + takes_ns,
				 .sector = 8 * (arrival_ns / US % 1000),
				 .bytes = 4096,
				 .operation = OPERATION_READ };
}

/*
 * Makes the requests of nr_clients clients of a process. Each sends its next request think_ns after
 * the last one has completed, by a thread of its own or, in a pool, by the one of nr_threads that
 * comes next.
 */
static void make_clients(struct request *r, uint32_t nr_clients, uint32_t nr_threads, bool pool,
			 uint64_t think_ns)
{
	uint64_t next_ns[16];
	struct rng rng;

	rng_seed(&rng, 7);
	for (uint32_t k = 0; k < nr_clients; k++)
		next_ns[k] = MS + k * 300 * US;
	for (uint32_t i = 0; i < NR; i++) {
		uint32_t k = 0;

		for (uint32_t c = 1; c < nr_clients; c++)
			k = next_ns[c] < next_ns[k] ? c : k;
		r[i] = make(100, 100 + (pool ? i % nr_threads : k), next_ns[k],
			    2 * MS + rng_below(&rng, 4000) * US);
		next_ns[k] = r[i].completion_ns + think_ns;
	}
}

static void pool_is_one_lane(void)
{
	struct request *r = calloc(NR, sizeof(*r));
	struct causal_plan plan;
	bool waits = true;

	make_clients(r, 4, 9, true, 50 * US);
	ok_int(causal_make(&plan, r, NR, NULL), 0);
	ok_eq(plan.nr_lanes, 1);
	ok(plan.lanes[0].pool && plan.lanes[0].nr == NR);
	ok_eq(plan.lanes[0].depth, 4);
	for (size_t i = 0; i < NR; i++)
		waits &= plan.lanes[0].requests[i].room == plan.lanes[0].requests[i].done;
	ok(waits);
	causal_release(&plan);
	free(r);
}

static void clients_are_lanes(void)
{
	struct request *r = calloc(NR, sizeof(*r));
	struct causal_plan plan;

	make_clients(r, 4, 4, false, 50 * US);
	ok_int(causal_make(&plan, r, NR, NULL), 0);
	ok_eq(plan.nr_lanes, 4);
	for (size_t l = 0; l < plan.nr_lanes; l++)
		ok(!plan.lanes[l].pool);
	causal_release(&plan);
	free(r);
}

/*
 * Sixteen threads that think for a millisecond send something in every 250 us, so that nearly each
 * request follows another thread's completion by chance.
 */
static void busy_threads_are_no_pool(void)
{
	struct request *r = calloc(NR, sizeof(*r));
	struct causal_plan plan;

	make_clients(r, 16, 16, false, MS);
	ok_int(causal_make(&plan, r, NR, NULL), 0);
	ok_eq(plan.nr_lanes, 16);
	causal_release(&plan);
	free(r);
}

/*
 * Four clients whose requests complete together send the next ones one right after the other. Each
 * follows its own completion, although requests of others come in between.
 */
static void clients_in_step_are_no_pool(void)
{
	struct request *r = calloc(NR, sizeof(*r));
	struct causal_plan plan;

	for (uint32_t i = 0; i < NR; i++)
		r[i] = make(100, 100 + i % 4, MS + i / 4 * 3 * MS + i % 4 * 5 * US,
			    3 * MS - 50 * US - i % 4 * 5 * US);
	ok_int(causal_make(&plan, r, NR, NULL), 0);
	ok_eq(plan.nr_lanes, 4);
	causal_release(&plan);
	free(r);
}

/*
 * Makes the requests of nr_clients clients, each of which thinks for least_ns and up to spread_ns
 * more. If by_turns is true they share nr_threads threads, of which the idle one that has waited
 * longest takes the next task; else each client is a thread. A task is two requests; if there is a
 * spread, every other one of them takes twice as long as it.
 */
static void make_tasks(struct request *r, uint32_t nr_clients, uint32_t nr_threads, bool by_turns,
		       uint64_t least_ns, uint64_t spread_ns)
{
	uint64_t next_ns[32];
	struct rng rng;

	rng_seed(&rng, 11);
	for (uint32_t k = 0; k < nr_clients; k++)
		next_ns[k] = MS + k * 1300 * US;
	for (uint32_t i = 0; i < NR_TASKS; i++, r += 2) {
		uint32_t k = 0, tid;
		bool is_long;

		for (uint32_t c = 1; c < nr_clients; c++)
			k = next_ns[c] < next_ns[k] ? c : k;
		tid = 100 + (by_turns ? i % nr_threads : k);
		is_long = spread_ns && rng_below(&rng, 2);
		r[0] = make(100, tid, next_ns[k], is_long ? 2 * spread_ns : 2 * MS);
		r[1] = make(100, tid, r[0].completion_ns + 100 * US, 2 * MS);
		next_ns[k] = r[1].completion_ns + least_ns +
			     (spread_ns ? rng_below(&rng, spread_ns / US) * US : 0);
	}
}

static int by_arrival(const void *a, const void *b)
{
	const struct request *x = a, *y = b;

	return (x->arrival_ns > y->arrival_ns) - (x->arrival_ns < y->arrival_ns);
}

static size_t nr_task_lanes(uint32_t nr_clients, uint32_t nr_threads, bool by_turns,
			    uint64_t least_ns, uint64_t spread_ns)
{
	struct request *r = calloc(2 * NR_TASKS, sizeof(*r));
	struct causal_plan plan;
	size_t nr;

	make_tasks(r, nr_clients, nr_threads, by_turns, least_ns, spread_ns);
	for (size_t i = 1; i < 2 * NR_TASKS;
	     i += 10) /* A coarse clock shows some without a length. */
		r[i].completion_ns = r[i].dispatch_ns = r[i].arrival_ns;
	qsort(r, 2 * NR_TASKS, sizeof(*r), by_arrival);
	ok_int(causal_make(&plan, r, 2 * NR_TASKS, NULL), 0);
	nr = plan.nr_lanes;
	ok(!plan.lanes[0].pool); /* The clients think. */
	causal_release(&plan);
	free(r);
	return nr;
}

/*
 * Three clients of a server with 32 threads think for up to 16 ms, long after a completion. Clients
 * with a thread each are busy as rarely if they think for 10 to 90 ms; and in step if all think for
 * 60 ms.
 */
static void few_clients_share_threads(void)
{
	ok_eq(nr_task_lanes(3, 32, true, MS / 2, 16 * MS), 1);
	ok_eq(nr_task_lanes(32, 32, false, 10 * MS, 80 * MS), 32);
	ok_eq(nr_task_lanes(32, 32, false, 60 * MS, 0), 32);
	ok_eq(nr_task_lanes(3, 3, false, MS, 2 * MS), 3);
}

#define NR_PROGRAMS 40
#define NR_EACH	    10

/*
 * Makes programs, each of which sends its requests one after the other. They begin pause_ns after
 * the end of the one before or, if that is 0, every 100 ms; both a little irregularly.
 */
static void make_programs(struct request *r, uint64_t pause_ns, uint64_t most_ns)
{
	uint64_t at = MS, end;
	struct rng rng;

	rng_seed(&rng, 9);
	for (uint32_t p = 0; p < NR_PROGRAMS; p++) {
		uint64_t begin = at;

		for (uint32_t i = 0; i < NR_EACH; i++) {
			*r = make(200 + p, 200 + p, at, MS + rng_below(&rng, most_ns));
			at = r->completion_ns + 100 * US;
			r++;
		}
		end = r[-1].completion_ns;
		at = (pause_ns ? end + pause_ns : begin + 100 * MS) + rng_below(&rng, 200 * US);
	}
}

/* Returns how many programs wait for the end of another one. */
static unsigned int nr_waiting(uint64_t pause_ns, uint64_t most_ns)
{
	struct request *r = calloc(NR_PROGRAMS * NR_EACH, sizeof(*r));
	struct causal_plan plan;
	unsigned int nr = 0;

	make_programs(r, pause_ns, most_ns);
	ok_int(causal_make(&plan, r, NR_PROGRAMS * NR_EACH, NULL), 0);
	ok_eq(plan.nr_lanes, NR_PROGRAMS);
	for (size_t l = 0; l < plan.nr_lanes; l++)
		nr += plan.lanes[l].requests[0].after_lane != UINT32_MAX;
	causal_release(&plan);
	free(r);
	return nr;
}

/*
 * Programs of a loop that take 15 ms within a few percent begin as regularly as a clock, but after
 * the end of the one before. Those of a clock begin at its times, however long they take.
 */
static void loop_is_no_clock(void)
{
	ok_eq(nr_waiting(3 * MS, 1000 * US), NR_PROGRAMS - 1);
	ok_eq(nr_waiting(3 * MS, 100 * US), NR_PROGRAMS - 1);
	ok_eq(nr_waiting(0, 8 * MS), 0);
}

static const struct tap_test tests[] = {
	{ "a pool of threads is one lane of the depth of its process", pool_is_one_lane },
	{ "threads that wait for their own requests are lanes", clients_are_lanes },
	{ "threads that follow each other by chance are no pool", busy_threads_are_no_pool },
	{ "clients that send in step are no pool", clients_in_step_are_no_pool },
	{ "a server's threads that few clients share are one lane", few_clients_share_threads },
	{ "a loop of regular programs waits for the one before, a clock does not",
	  loop_is_no_clock },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
