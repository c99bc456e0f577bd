// SPDX-License-Identifier: Apache-2.0
/* Which requests of a recording the throttling of write-back held back, and whether it was there */
#include <stdlib.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/replay/causal.h"
#include "analyzer/replay/wbt.h"
#include "tests/literal/slow_guest.h"
#include "tests/support/tap.h"

#define US 1000ull
#define MS 1000000ull

static const struct slow_guest guest = { .service_us = 400,
					 .think_us = 150000,
					 .nr_rounds = 30,
					 .nr_dirty = 60,
					 .cache = true,
					 .throttles = true };

static struct request *recorded(struct slow_guest *g, size_t *nr)
{
	struct request *r = calloc(g->nr_rounds * (g->nr_dirty + 2), sizeof(*r));

	*nr = slow_guest_run(g, r);
	return r;
}

/* How many requests of the kernel's lane come within 100 us after the one before in their batch. */
static size_t nr_joined(const struct causal_plan *plan)
{
	size_t nr = 0;

	for (size_t i = 1; i < plan->lanes[0].nr; i++)
		nr += plan->lanes[0].requests[i].spacing_ns <= 100 * US;
	return nr;
}

static void what_the_kernel_held_back_joins_its_batch(void)
{
	struct slow_guest g = guest;
	struct causal_plan plan;
	struct request *r;
	size_t nr;

	r = recorded(&g, &nr);
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	ok(plan.throttle.on && plan.throttle.cache && plan.throttle.writes);
	ok_eq(plan.throttle.target_ns, WBT_TARGET_NS);
	ok_int(plan.lanes[0].tid, 0);
	/* All but the first of each round would come 5 us after the one before. */
	ok_eq(nr_joined(&plan), g.nr_rounds * (g.nr_dirty - 1));
	ok_int(plan.lanes[0].depth, WBT_DEPTH_MOST);
	ok_eq(plan.throttle.nr_waits, g.waits);
	ok_eq(plan.throttle.nr_over, 0);
	causal_release(&plan);
	free(r);
}

/* The flush of each third round is held back: it comes 20 us after its write in the others. */
static void a_flush_that_was_held_back_would_have_come_as_others(void)
{
	struct slow_guest g = guest;
	struct causal_plan plan;
	struct request *r;
	size_t nr, nr_flushes = 0, nr_moved = 0;

	g.service_us = 150; /* the write ends before write-back begins, 200 us after it was sent */
	r = recorded(&g, &nr);
	for (size_t i = 0; i < nr; i++)
		if (r[i].operation == OPERATION_FLUSH && nr_flushes++ % 3 == 0) {
			uint64_t at_ns = r[i].arrival_ns;

			/* It waits for the batch that begins just after it would have come. */
			for (size_t k = i + 1; k < nr && r[k].arrival_ns < at_ns + 150 * US; k++)
				if (r[k].completion_ns > r[i].arrival_ns)
					r[i].arrival_ns = r[k].completion_ns + 10 * US;
			nr_moved += r[i].arrival_ns > at_ns + MS;
			r[i].dispatch_ns = r[i].arrival_ns;
			r[i].completion_ns = r[i].arrival_ns + US;
		}
	ok(nr_moved > g.nr_rounds / 4);
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	ok(plan.throttle.on);
	for (size_t i = 1; i < plan.lanes[1].nr; i++)
		if (plan.lanes[1].requests[i].operation == OPERATION_FLUSH)
			ok(plan.lanes[1].requests[i].gap_ns <= 25 * US);
	causal_release(&plan);
	free(r);
}

/* Without the throttle all 60 are sent at once, which its law admits to nobody. */
static void a_kernel_that_does_not_throttle_is_found(void)
{
	struct slow_guest g = guest;
	struct causal_plan plan;
	struct request *r;
	size_t nr;

	g.throttles = false;
	r = recorded(&g, &nr);
	ok(g.most_under_way > 48);
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	ok(!plan.throttle.on);
	for (size_t l = 0; l < plan.nr_lanes; l++)
		for (size_t i = 0; i < plan.lanes[l].nr; i++)
			ok(!plan.lanes[l].requests[i].throttled);
	causal_release(&plan);
	free(r);
}

/* A trace of another system, whose requests have no flags, has no such throttle. */
static void other_systems_do_not_throttle(void)
{
	struct slow_guest g = guest;
	struct causal_plan plan;
	struct request *r;
	size_t nr;

	r = recorded(&g, &nr);
	for (size_t i = 0; i < nr; i++)
		r[i].flags = 0;
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	ok(!plan.throttle.on);
	causal_release(&plan);
	free(r);
}

/* Writes past the page cache are not throttled: a thread has 64 of them under way all the time. */
static void direct_writes_pass_the_throttle(void)
{
	enum { DEEP = 64, NR = 6000 };
	struct slow_guest g = guest;
	struct causal_plan plan;
	struct request *r;
	size_t nr;

	r = recorded(&g, &nr);
	r = realloc(r, (nr + NR) * sizeof(*r));
	for (size_t i = 0; i < NR; i++) {
		uint64_t begin_ns = i < DEEP ? MS : (i - DEEP + 1) * 500 * US + MS;

		r[nr + i] = (struct request){ .arrival_ns = begin_ns,
					      .dispatch_ns = begin_ns,
					      .completion_ns = (i + 1) * 500 * US + MS,
					      .operation = OPERATION_WRITE,
					      .bytes = 4096,
					      .sector = 8 * i,
					      .tid = 9,
					      .flags = REQUEST_SYNC };
	}
	ok_int(causal_make(&plan, r, nr + NR, NULL), 0);
	ok(plan.throttle.on && !plan.throttle.writes);
	for (size_t l = 0; l < plan.nr_lanes; l++)
		ok(plan.lanes[l].requests[0].throttled == !plan.lanes[l].tid);
	causal_release(&plan);
	free(r);
}

/*
 * Two threads write and flush under a lock, so that one request of them is under way at a time, and
 * reads of a third thread take 3 ms. By the law for flash, which such reads make admit one request,
 * hundreds of these requests would seem to have waited for the other thread.
 */
static void threads_that_take_turns_do_not_look_throttled(void)
{
	enum { NR_SENT = 4000, NR = NR_SENT * 11 / 10 };
	struct request *r = calloc(NR, sizeof(*r));
	struct causal_plan plan;
	uint64_t now_ns = MS;
	struct rng rng;

	rng_seed(&rng, 8);
	for (size_t i = 0; i < NR; i++) {
		bool reads = i % 11 == 10;

		r[i] = (struct request){ .arrival_ns = now_ns,
					 .dispatch_ns = now_ns,
					 .completion_ns = now_ns + (reads ? 3 * MS : 200 * US),
					 .operation = reads   ? OPERATION_READ
						      : i % 2 ? OPERATION_FLUSH
							      : OPERATION_WRITE,
					 .bytes = i % 2 && !reads ? 0 : 4096,
					 .sector = 8 * i,
					 .tid = reads ? 9 : 100 + (uint32_t)rng_below(&rng, 2),
					 .flags = reads ? 0 : REQUEST_SYNC };
		now_ns = r[i].completion_ns + (50 + rng_below(&rng, 2000)) * US;
	}
	ok_int(causal_make(&plan, r, NR, NULL), 0);
	ok(plan.throttle.on);
	ok_eq(plan.throttle.target_ns, WBT_TARGET_NS);
	ok_eq(plan.throttle.nr_waits, 0);
	causal_release(&plan);
	free(r);
}

static const struct tap_test tests[] = {
	{ "what the kernel held back of its write-back joins its batch",
	  what_the_kernel_held_back_joins_its_batch },
	{ "a flush that was held back would have come as soon as others",
	  a_flush_that_was_held_back_would_have_come_as_others },
	{ "a kernel that does not throttle is found", a_kernel_that_does_not_throttle_is_found },
	{ "a trace of another system is not throttled", other_systems_do_not_throttle },
	{ "writes past the page cache are not throttled", direct_writes_pass_the_throttle },
	{ "threads that take turns do not look throttled",
	  threads_that_take_turns_do_not_look_throttled },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
