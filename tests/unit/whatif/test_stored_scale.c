// SPDX-License-Identifier: Apache-2.0
/*
 * More clients of an application: they share its log and the write-back of their machine. Small
 * simulations of such applications make what was recorded, and what really happens with twice the
 * clients. The storage serves one request after the other, each in the same time as recorded.
 */
#include "analyzer/whatif/simulate/stored_scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/whatif/simulate/stored_sim.h"
#include "tests/support/tap.h"

#define US	   1000ull
#define MS	   1000000ull
#define S	   (1000 * MS)
#define FIRST_TID  100
#define NR_COMMITS 2000
#define NR_THREADS 16 /* at most */
#define WRITE_NS   MS
#define FLUSH_NS   (200 * US)
#define THINK_NS   (3 * MS) /* mean */

static struct request at(uint32_t tid, uint8_t operation, uint64_t arrival_ns, uint64_t end_ns)
{
	return (struct request){ .tid = tid,
				 .arrival_ns = arrival_ns,
				 .dispatch_ns = arrival_ns,
				 .completion_ns = end_ns,
				 .sector = operation == OPERATION_FLUSH ? 0 : arrival_ns / US * 8,
				 .bytes = operation == OPERATION_FLUSH ? 0 : 4096,
				 .operation = operation };
}

static struct device_model device(double factor)
{
	struct device_model m;

	device_model_init(&m);
	m.base_s[DEVICE_READ] = m.base_s[DEVICE_WRITE] = factor * WRITE_NS / 1e9;
	m.flush_s = factor * FLUSH_NS / 1e9;
	m.domain.concurrency = 128;
	return m;
}

/*
 * Makes the sections of a log that so many threads commit to. What waits for the log when a section
 * begins is committed by it, and sends nothing. Returns the number of requests, and sets *per_s to
 * the sections per second.
 */
static size_t commit(uint32_t nr_threads, struct request *r, double *per_s)
{
	uint64_t wants_ns[NR_THREADS], free_ns = 0;
	size_t nr = 0, commits = 0;
	struct rng rng;

	rng_seed(&rng, 5);
	for (uint32_t i = 0; i < nr_threads; i++)
		wants_ns[i] = MS + (uint64_t)(rng_exponential(&rng) * THINK_NS);
	while (commits < NR_COMMITS) {
		uint64_t from_ns, end_ns;
		uint32_t first = 0;

		for (uint32_t i = 1; i < nr_threads; i++)
			first = wants_ns[i] < wants_ns[first] ? i : first;
		from_ns = wants_ns[first];
		if (from_ns < free_ns + 20 * US)
			from_ns = free_ns + 20 * US;
		end_ns = from_ns + WRITE_NS + 10 * US + FLUSH_NS;
		r[nr++] = at(FIRST_TID + first, OPERATION_WRITE, from_ns, from_ns + WRITE_NS);
		r[nr++] = at(FIRST_TID + first, OPERATION_FLUSH, end_ns - FLUSH_NS, end_ns);
		for (uint32_t i = 0; i < nr_threads; i++) {
			if (wants_ns[i] > from_ns)
				continue;
			commits++;
			wants_ns[i] = end_ns + (uint64_t)(rng_exponential(&rng) * THINK_NS);
		}
		free_ns = end_ns;
	}
	*per_s = (double)nr / 2 / ((double)free_ns / 1e9);
	return nr;
}

/* Sections per second of a multiplied plan, of those that are sent. */
static double sections_per_s(const struct causal_plan *plan, uint64_t *nr_covered)
{
	const struct device_model m = device(1);
	struct stored_result result;
	double per_s;

	ok_int(stored_sim_run(&plan, 1, &m, 1, &result, NULL), 0);
	*nr_covered = result.nr_covered;
	ok_eq(result.times.nr[DEVICE_WRITE] + result.times.nr[DEVICE_FLUSH] + result.nr_covered,
	      plan->nr);
	per_s = (double)(plan->nr - result.nr_covered) / 2 / result.times.elapsed_s;
	stored_result_release(&result);
	return per_s;
}

/*
 * Eight threads that commit to a log send hardly more sections than four. The threads of a copy
 * wait for each other as recorded, so that fewer of them share a section than really do: a tenth.
 */
static void clients_share_a_log(void)
{
	struct request *r = calloc(2 * NR_COMMITS, sizeof(*r));
	double recorded, really, predicted;
	struct causal_plan plan, more;
	uint64_t nr_covered;

	commit(8, r, &really);
	ok_int(causal_make(&plan, r, commit(4, r, &recorded), NULL), 0);
	ok_eq(plan.nr_locks, 1);
	ok_int(stored_scale(&more, &plan, 1, 2), 0);
	ok_eq(more.nr_locks, 1);
	predicted = sections_per_s(&more, &nr_covered);
	ok(nr_covered > 0);
	ok_near(predicted / really, 1, 0.1);
	causal_release(&more);

	/* Nothing is covered within a copy, or between two machines. */
	ok_int(stored_scale(&more, &plan, 1, 1), 0);
	ok_near(sections_per_s(&more, &nr_covered) / recorded, 1, 0.02);
	ok_eq(nr_covered, 0);
	causal_release(&more);
	ok_int(stored_scale(&more, &plan, 2, 1), 0);
	ok_eq(more.nr_locks, 2);
	sections_per_s(&more, &nr_covered);
	ok_eq(nr_covered, 0);
	causal_release(&more);
	causal_release(&plan);
	free(r);
}

#define NR_BURSTS  40
#define BURST	   12
#define BURST_DEEP 6

/*
 * Makes bursts of write-back, one each 100 ms, with six requests under way, and a thread that
 * reads before each burst. Returns the number of requests.
 */
static size_t write_back(struct request *r)
{
	size_t nr = 0;

	for (uint64_t k = 0; k < NR_BURSTS; k++) {
		uint64_t from_ns = (k + 1) * 100 * MS;

		r[nr++] = at(FIRST_TID, OPERATION_READ, from_ns - 20 * MS,
			     from_ns - 20 * MS + WRITE_NS);
		for (uint64_t i = 0; i < BURST; i++) {
			uint64_t end_ns = from_ns + (i + 1) * WRITE_NS;
			uint64_t arrival_ns = from_ns;

			if (i >= BURST_DEEP)
				arrival_ns = end_ns - BURST_DEEP * WRITE_NS + 5 * US;
			r[nr] = at(0, OPERATION_WRITE, arrival_ns, end_ns);
			r[nr++].flags = REQUEST_KERNEL_THREAD;
		}
	}
	return nr;
}

/* Mean response time of writes in the time of one. */
static double writes_each(const struct causal_plan *plan)
{
	const struct device_model m = device(1);
	struct stored_result result;
	double mean_s;

	ok_int(stored_sim_run(&plan, 1, &m, 1, &result, NULL), 0);
	ok_eq(result.times.nr[DEVICE_READ] + result.times.nr[DEVICE_WRITE], plan->nr);
	mean_s = device_times_at(&result.times, DEVICE_WRITE, DEVICE_MEAN);
	stored_result_release(&result);
	return mean_s / (WRITE_NS / 1e9);
}

static const struct causal_lane *kernel_lane(const struct causal_plan *plan)
{
	return plan->lanes; /* it is the first one */
}

/*
 * Twice the clients make twice the write-back, at the depth of the queue that was recorded: no
 * write waits for more than five others. Half the clients make half of it.
 */
static void clients_share_write_back(void)
{
	struct request *r = calloc(NR_BURSTS * (BURST + 1), sizeof(*r));
	struct causal_plan plan, more;
	double once;

	ok_int(causal_make(&plan, r, write_back(r), NULL), 0);
	ok_eq(kernel_lane(&plan)->tid, 0);
	ok_eq(kernel_lane(&plan)->depth, BURST_DEEP);
	once = writes_each(&plan);
	ok(once > 3 && once <= BURST_DEEP);
	ok_int(stored_scale(&more, &plan, 1, 2), 0);
	ok_eq(more.nr_lanes, 3);
	ok_eq(kernel_lane(&more)->nr, 2 * NR_BURSTS * BURST);
	ok(writes_each(&more) > once && writes_each(&more) <= BURST_DEEP);
	causal_release(&more);

	ok_int(stored_scale(&more, &plan, 2, 1), 0);
	ok_eq(more.nr_lanes, 4); /* which write one after the other */
	ok_near(writes_each(&more), once, 0.01);
	causal_release(&more);

	ok_int(stored_scale(&more, &plan, 2, 1.5), 0);
	ok_eq(more.nr_lanes, 5);
	ok_eq(more.nr, 3 * NR_BURSTS * (BURST + 1));
	ok(writes_each(&more) > once);
	causal_release(&more);

	/* Four machines with half the clients have as much as two with all. */
	ok_int(stored_scale(&more, &plan, 4, 0.5), 0);
	ok_eq(more.nr_lanes, 4);
	ok_eq(more.nr, 2 * NR_BURSTS * (BURST + 1));
	causal_release(&more);

	ok_int(stored_scale(&more, &plan, 1, 0.5), 0);
	ok_eq(kernel_lane(&more)->nr, NR_BURSTS * BURST / 2);
	ok(writes_each(&more) > 1 && writes_each(&more) < once);
	causal_release(&more);
	causal_release(&plan);
	free(r);
}

/*
 * A recording begins three seconds before an application that reads for two, and ends with one
 * request long after. On storage that takes twice as long the two seconds are four, and the others
 * are as long as before.
 */
static void idle_ends_stay(void)
{
	const struct causal_plan *plans[1];
	struct request r[2002];
	struct causal_plan plan;

	r[0] = at(FIRST_TID, OPERATION_READ, S, S + WRITE_NS);
	for (uint64_t i = 0; i < 2000; i++)
		r[i + 1] = at(FIRST_TID, OPERATION_READ, 4 * S + i * WRITE_NS,
			      4 * S + (i + 1) * WRITE_NS);
	r[2001] = at(FIRST_TID, OPERATION_READ, 9 * S, 9 * S + WRITE_NS);
	ok_int(causal_make(&plan, r, 2002, NULL), 0);
	plans[0] = &plan;
	for (int factor = 1; factor <= 2; factor++) {
		const struct device_model m = device(factor);
		struct stored_result result;

		ok_int(stored_sim_run(plans, 1, &m, 1, &result, NULL), 0);
		ok_near(stored_rate_ratio(&plan, &result, 2002 / plan.window_s),
			plan.window_s / (plan.window_s + 2 * (factor - 1)), 0.001);
		stored_result_release(&result);
	}
	causal_release(&plan);
}

static const struct tap_test tests[] = {
	{ "more clients of an application share its log, more machines do not",
	  clients_share_a_log },
	{ "more clients have the write-back of one machine", clients_share_write_back },
	{ "time in which an application does not work does not become longer", idle_ends_stay },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
