// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/num/rng.h"
#include "analyzer/models/sim/eventq.h"
#include "tests/support/tap.h"

#define CLOCKS 5
#define STEPS  20000
#define ROOM   4096

/* The literal queue: a list, searched. order: when it was set. */
struct slow {
	double time[ROOM];
	uint32_t id[ROOM], order[ROOM], nr, next;
};

static void slow_drop(struct slow *s, uint32_t i)
{
	s->nr--;
	s->time[i] = s->time[s->nr];
	s->id[i] = s->id[s->nr];
	s->order[i] = s->order[s->nr];
}

static void slow_cancel(struct slow *s, uint32_t id)
{
	for (uint32_t i = 0; i < s->nr; i++)
		if (s->id[i] == id)
			slow_drop(s, i);
}

static void slow_add(struct slow *s, double time, uint32_t id)
{
	s->time[s->nr] = time;
	s->id[s->nr] = id;
	s->order[s->nr++] = s->next++;
}

static uint32_t slow_first(const struct slow *s)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < s->nr; i++)
		if (s->time[i] < s->time[best] ||
		    (s->time[i] == s->time[best] && s->order[i] < s->order[best]))
			best = i;
	return best;
}

/* Pushes, pops, moves and cancels at random, on a coarse grid of times so that many coincide. */
static void like_the_literal_queue(void)
{
	static struct slow s;
	struct eventq q;
	struct rng r;
	double now = 0;
	bool same = true, was_heap = false;
	size_t nr_heaps = 0;

	rng_seed(&r, 9);
	ok_int(eventq_init(&q, CLOCKS), 0);
	for (uint32_t i = 0; i < STEPS && same; i++) {
		double time = now + (double)rng_below(&r, 8);
		uint32_t clock = (uint32_t)rng_below(&r, CLOCKS);
		uint64_t what = rng_below(&r, 10);
		/* Numbers of events rise and fall by turns, through the border of few and many. */
		uint64_t pushes = i / 500 % 2 ? 0 : 5;

		nr_heaps += q.is_heap != was_heap;
		was_heap = q.is_heap;
		if (what < pushes && s.nr < ROOM - CLOCKS) {
			eventq_push(&q, time, i);
			slow_add(&s, time, i);
		} else if (what < 6) {
			eventq_set(&q, clock, time);
			slow_cancel(&s, clock | EVENTQ_CLOCK);
			slow_add(&s, time, clock | EVENTQ_CLOCK);
			same = eventq_time(&q, clock) == time;
		} else if (what < 7) {
			eventq_cancel(&q, clock);
			slow_cancel(&s, clock | EVENTQ_CLOCK);
		} else {
			const struct event *e = eventq_first(&q);
			uint32_t first = slow_first(&s);

			same = !e == !s.nr;
			if (!e || !s.nr)
				continue;
			same = e->id == s.id[first] && e->time == s.time[first];
			now = e->time;
			eventq_pop(&q);
			slow_drop(&s, first);
		}
	}
	ok(same);
	ok(nr_heaps >= 10);
	eventq_release(&q);
}

/* Where one event of many cancels all others, nothing is left, and more may come. */
static void cancels_may_empty_a_heap(void)
{
	const uint32_t nr_clocks = 70;
	const struct event *e;
	struct eventq q;

	ok_int(eventq_init(&q, nr_clocks), 0);
	for (uint32_t clock = 0; clock < nr_clocks; clock++)
		eventq_set(&q, clock, clock + 1);
	ok(q.is_heap);
	ok_eq(eventq_first(&q)->id, EVENTQ_CLOCK);
	eventq_pop(&q);
	for (uint32_t clock = 1; clock < nr_clocks; clock++)
		eventq_cancel(&q, clock);
	ok(!eventq_first(&q));
	eventq_set(&q, 3, 7);
	e = eventq_first(&q);
	ok(e && e->id == (3 | EVENTQ_CLOCK) && e->time == 7);
	eventq_release(&q);
}

/* A damaged model may give such times. They have no order, but none may be lost. */
static void times_that_are_no_numbers(void)
{
	struct eventq q;
	uint32_t nr = 0, seen = 0;

	ok_int(eventq_init(&q, CLOCKS), 0);
	for (uint32_t i = 0; i < 20; i++)
		eventq_push(&q, i % 3 ? i : NAN, i);
	for (uint32_t i = 0; i < 100; i++)
		eventq_set(&q, i % CLOCKS, i % 7 ? (double)(i % 25) : NAN);
	eventq_cancel(&q, 0);
	for (const struct event *e; (e = eventq_first(&q)); eventq_pop(&q), nr++)
		seen |= 1u << (e->id & EVENTQ_CLOCK ? 20 + (e->id & ~EVENTQ_CLOCK) : e->id);
	ok_int(nr, 20 + CLOCKS - 1);
	ok_int(seen, (1u << (20 + CLOCKS)) - 1 - (1u << 20));
	eventq_release(&q);
}

static const struct tap_test tests[] = {
	{ "events come as from a literal queue, moved and cancelled ones too",
	  like_the_literal_queue },
	{ "cancels may empty a heap", cancels_may_empty_a_heap },
	{ "no event is lost where times are no numbers", times_that_are_no_numbers },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
