// SPDX-License-Identifier: Apache-2.0
/* Lanes whose requests come by themselves are told from those that answer completions. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/replay/causal.h"
#include "tests/support/causal_lane.h"
#include "tests/support/tap.h"

/* What sends whatever completes is open; what waits, thinks or keeps a depth is not. */
static void open_lanes_are_told_from_closed_ones(void)
{
	enum { EACH = 2000, DEPTH = 4 };
	struct request *r = calloc(4 * EACH, sizeof(*r));
	uint64_t at[4] = { MS, MS, MS, MS }, busy[DEPTH];
	struct causal_plan plan;
	struct rng rng;
	size_t nr = 0;

	rng_seed(&rng, 11);
	for (int i = 0; i < DEPTH; i++)
		busy[i] = MS;
	for (int i = 0; i < EACH; i++) {
		uint64_t takes_ns = (uint64_t)(rng_exponential(&rng) * 3e6) + 1;
		int first = 0;

		at[0] += (uint64_t)(rng_exponential(&rng) * 9e6);
		r[nr++] = make(1, at[0], takes_ns, 0);
		at[1] += (uint64_t)(rng_exponential(&rng) * 6e6);
		r[nr++] = make(2, at[1], takes_ns, 0);
		at[1] += takes_ns;
		at[2] += i % 8 ? 1 : 40 * MS; /* bursts of eight, after a think time */
		r[nr++] = make(3, at[2], takes_ns, 0);
		for (int k = 1; k < DEPTH; k++)
			first = busy[k] < busy[first] ? k : first;
		r[nr++] = make(4, busy[first], takes_ns, 0);
		busy[first] += takes_ns + 10 * US;
	}
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	for (uint32_t tid = 1; tid <= 4; tid++)
		ok(lane_of(&plan, tid)->open == (tid == 1));
	causal_release(&plan);
	free(r);
}

/*
 * A program writes four times, each time after the completion before, and then makes 140 pages
 * durable, of which 64 are let in at once and 76 later, on storage that serves four at a time.
 * Nearly all of its requests are two bursts: they see what two arrivals see.
 */
static size_t writes_and_bursts(struct request *r)
{
	uint64_t now_ns = MS, burst_ns;
	size_t nr = 0;

	for (uint64_t i = 0; i < 4; i++, now_ns += 10 * MS)
		r[nr++] = make(1, now_ns, 3 * MS, OPERATION_WRITE);
	burst_ns = now_ns;
	for (uint64_t i = 0; i < 140; i++) {
		uint64_t at_ns = burst_ns + i * 2 * US + (i < 64 ? 0 : 34 * MS);
		uint64_t end_ns = burst_ns + (i / 4 + 1) * 3 * MS;

		end_ns = end_ns > at_ns + 3 * MS ? end_ns : at_ns + 3 * MS;
		r[nr++] = make(1, at_ns, end_ns - at_ns, OPERATION_WRITE);
	}
	now_ns = r[nr - 1].completion_ns + MS;
	for (uint64_t i = 0; i < 3; i++, now_ns += 4 * MS)
		r[nr++] = make(1, now_ns, 3 * MS, OPERATION_WRITE);
	return nr;
}

static void a_burst_is_one_arrival(void)
{
	struct request r[200];
	struct causal_plan plan;

	ok_int(causal_make(&plan, r, writes_and_bursts(r), NULL), 0);
	ok(!plan.lanes[0].open);
	causal_release(&plan);
}

static const struct tap_test tests[] = {
	{ "lanes that send whatever completes are told from the others",
	  open_lanes_are_told_from_closed_ones },
	{ "a burst is one arrival", a_burst_is_one_arrival },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
