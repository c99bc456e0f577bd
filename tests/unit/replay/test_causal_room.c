// SPDX-License-Identifier: Apache-2.0
/* Write-back that is throttled: which of its requests wait for a completion that lets them in. */
#include "analyzer/models/num/rng.h"
#include "analyzer/replay/causal.h"
#include "tests/support/tap.h"

#define US 1000ull
#define MS 1000000ull

static struct request make(uint64_t arrival_ns, uint64_t response_ns)
{
	return (struct request){ .flags = REQUEST_KERNEL_THREAD,
				 .arrival_ns = arrival_ns,
				 .dispatch_ns = arrival_ns,
				 .completion_ns = arrival_ns + response_ns,
				 .sector = arrival_ns / US * 8,
				 .bytes = 4096,
				 .operation = OPERATION_WRITE };
}

/*
 * Twenty at once, one a millisecond. When three are left, each completion lets in another one 50 us
 * later, and once two completions at once let in two: the lane waits for room for four, although
 * twenty were under way in this burst.
 */
static void who_waits_for_room_waits_for_completions(void)
{
	struct request r[60];
	struct causal_plan plan;
	const struct causal_lane *lane;

	for (size_t i = 0; i < 60; i++) {
		uint64_t at = i < 20 ? MS : (i - 2) * MS + 50 * US;

		r[i] = make(at, (i + 2) * MS - at);
	}
	r[36].completion_ns += MS - 100 * US; /* 100 us before that of the next one */
	r[40].arrival_ns = r[41].arrival_ns - 20 * US;
	ok_int(causal_make(&plan, r, 60, NULL), 0);
	lane = plan.lanes;
	ok(lane->refills);
	ok_eq(lane->requests[19].room, 0);
	for (size_t i = 20; i < 60; i++)
		if (i != 40 && i != 41)
			ok_eq(lane->requests[i].room, i - 3);
	/* The first of the two waits for the first of the two completions. */
	ok_eq(lane->requests[40].done, 38);
	ok_eq(lane->requests[40].room, 37);
	causal_release(&plan);
}

/* The same number of requests at times that have nothing to do with completions. */
static void who_is_let_in_by_chance_waits_for_no_room(void)
{
	struct request r[400];
	struct causal_plan plan;
	struct rng rng;

	rng_seed(&rng, 3);
	for (size_t i = 0; i < 400; i++)
		r[i] = make(MS + i * MS + rng_below(&rng, 900) * US,
			    3 * MS + rng_below(&rng, 1000) * US);
	ok_int(causal_make(&plan, r, 400, NULL), 0);
	ok(!plan.lanes->refills);
	causal_release(&plan);
}

/*
 * Write-back goes as fast as the processor makes it, one request each 300 us, until 24 are under
 * way, and then as fast as the storage completes them, one each 500 us. Before that, a request may
 * come just after a completion, which did not let it in.
 */
static void who_is_not_throttled_waits_for_no_room(void)
{
	enum { NR = 200, DEEP = 24 };
	uint64_t end_ns[NR], at_ns = MS;
	struct request r[NR];
	struct causal_plan plan;
	size_t chance = 0, let_in = 0, waits = 0;

	for (size_t i = 0; i < NR; i++) {
		if (i >= DEEP && at_ns < end_ns[i - DEEP] + 30 * US)
			at_ns = end_ns[i - DEEP] + 30 * US;
		end_ns[i] = (i && end_ns[i - 1] > at_ns ? end_ns[i - 1] : at_ns) + 500 * US;
		r[i] = make(at_ns, end_ns[i] - at_ns);
		at_ns += 300 * US;
	}
	ok_int(causal_make(&plan, r, NR, NULL), 0);
	ok(plan.lanes[0].refills);
	ok_eq(plan.lanes[0].depth, DEEP);
	for (size_t i = 1; i < NR; i++) {
		const struct causal_request *q = &plan.lanes[0].requests[i];

		if (q->done == i)
			continue; /* it begins a burst */
		if (i - q->done < DEEP / 2)
			chance += q->room && q->room + DEEP > i + 1; /* the depth holds anyway */
		else if (i - q->done < DEEP - 1)
			waits += q->room && q->room + DEEP > i + 1;
		else
			let_in += q->room == i - DEEP + 1;
	}
	ok_eq(chance, 0);
	ok(waits > 0); /* some of them by chance, which nobody can tell */
	ok(let_in > NR / 2);
	causal_release(&plan);
}

static const struct tap_test tests[] = {
	{ "who waits for room waits for the completions that let it in",
	  who_waits_for_room_waits_for_completions },
	{ "who sends at times of its own waits for no room",
	  who_is_let_in_by_chance_waits_for_no_room },
	{ "who is not throttled waits for no room", who_is_not_throttled_waits_for_no_room },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
