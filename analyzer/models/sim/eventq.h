/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eventq: the pending events of a simulation, the earliest first; events of the same instant come
 * in the order in which they were set.
 *
 * Most events are set and then happen; events that may be moved or cancelled are clocks, which have
 * a small number each and are found in O(1). Memory: 16 bytes per event.
 *
 * Up to EVENTQ_FEW events are stored in no order. eventq_first() searches the earliest one in an
 * array of their times. The search has no branch that depends on the times: they are random, and a
 * branch that the processor predicts wrongly costs as much as ten comparisons. push and move are
 * O(1) then.
 *
 * More events are a 4-ary heap. A popped root stays in place until the next push replaces it: a
 * service that ends and the next one that begins then cost one pass through the heap and not two.
 * push, pop and move: O(log n). Both forms give the same order of events.
 */
#ifndef ANALYZER_EVENTQ_H
#define ANALYZER_EVENTQ_H

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define EVENTQ_CLOCK 0x80000000u /* set in the id of a clock; the remaining bits are its number */

#define EVENTQ_FEW   32 /* the most events that are searched; each has a bit of a 64-bit word */
#define EVENTQ_STEP  4	/* number of times that one step of the search compares */

struct event {
	double time;
	uint32_t seq; /* may wrap, because only events of the same instant are compared by it */
	uint32_t id;
};

struct eventq {
	struct event *items; /* owned */
	uint32_t nr, cap;
	uint32_t seq;
	bool is_heap;
	bool hole;	/* of a heap: items[0] has already happened */
	uint32_t first; /* index of the event that eventq_first() returned; 0 in a heap */
	/*
	 * The times of the items where there is no heap. INFINITY follows them, so that the search
	 * takes whole steps.
	 */
	double times[EVENTQ_FEW];
	uint32_t *where; /* owned; by clock: index in items plus 1, or 0 */
};

static inline int eventq_init(struct eventq *q, uint32_t nr_clocks)
{
	*q = (struct eventq){ .cap = 64 };
	q->items = calloc(q->cap, sizeof(*q->items));
	q->where = calloc((size_t)nr_clocks + 1, sizeof(*q->where));
	for (uint32_t i = 0; i < EVENTQ_FEW; i++)
		q->times[i] = INFINITY;
	return q->items && q->where ? 0 : -ENOMEM;
}

static inline void eventq_release(struct eventq *q)
{
	free(q->items);
	free(q->where);
	*q = (struct eventq){ 0 };
}

static inline bool event_before(const struct event *a, const struct event *b)
{
	/* Times are random, so this is written without branches, which could not be predicted. */
	return (a->time < b->time) | ((a->time == b->time) & ((int32_t)(a->seq - b->seq) < 0));
}

static inline void eventq_seat(struct eventq *q, uint32_t i, struct event e)
{
	q->items[i] = e;
	if (e.id & EVENTQ_CLOCK)
		q->where[e.id & ~EVENTQ_CLOCK] = i + 1;
}

static inline void eventq_up(struct eventq *q, uint32_t i, struct event e)
{
	while (i > 0) {
		uint32_t parent = (i - 1) / 4;

		if (!event_before(&e, &q->items[parent]))
			break;
		eventq_seat(q, i, q->items[parent]);
		i = parent;
	}
	eventq_seat(q, i, e);
}

static inline void eventq_down(struct eventq *q, uint32_t i, struct event e)
{
	for (;;) {
		uint32_t child = 4 * i + 1, best = child;
		uint32_t end = child + 4 < q->nr ? child + 4 : q->nr;

		if (child >= q->nr)
			break;
		while (++child < end)
			if (event_before(&q->items[child], &q->items[best]))
				best = child;
		if (!event_before(&q->items[best], &e))
			break;
		eventq_seat(q, i, q->items[best]);
		i = best;
	}
	eventq_seat(q, i, e);
}

static inline void eventq_seat_few(struct eventq *q, uint32_t i, struct event e)
{
	q->times[i] = e.time;
	eventq_seat(q, i, e);
}

static inline void eventq_remove_few(struct eventq *q, uint32_t i)
{
	struct event last = q->items[--q->nr];

	q->times[q->nr] = INFINITY;
	if (i != q->nr)
		eventq_seat_few(q, i, last);
}

static inline double eventq_least(double a, double b)
{
	return a < b ? a : b;
}

/* Returns the index of the earliest of few events; there is at least one. */
static inline uint32_t eventq_search(const struct eventq *q)
{
	double a = INFINITY, b = INFINITY, c = INFINITY, d = INFINITY, least;
	uint64_t equal = 0;
	uint32_t best;

	for (uint32_t i = 0; i < q->nr; i += EVENTQ_STEP) {
		const double *t = &q->times[i];

		a = eventq_least(t[0], a);
		b = eventq_least(t[1], b);
		c = eventq_least(t[2], c);
		d = eventq_least(t[3], d);
	}
	least = eventq_least(eventq_least(a, b), eventq_least(c, d));
	for (uint32_t i = 0; i < q->nr; i += EVENTQ_STEP) {
		const double *t = &q->times[i];

		equal |= (uint64_t)((t[0] <= least) | (t[1] <= least) << 1 | (t[2] <= least) << 2 |
				    (t[3] <= least) << 3)
			 << i;
	}
	equal &= (1ull << q->nr) - 1;
	if (!equal)
		return 0; /* no time is a number */
	best = (uint32_t)__builtin_ctzll(equal);
	while (equal &= equal - 1)
		if (event_before(&q->items[__builtin_ctzll(equal)], &q->items[best]))
			best = (uint32_t)__builtin_ctzll(equal);
	return best;
}

/* Makes a heap of the events that were searched until now. */
static inline void eventq_make_heap(struct eventq *q)
{
	q->is_heap = true;
	for (uint32_t i = 1; i < q->nr; i++)
		eventq_up(q, i, q->items[i]);
}

static inline void eventq_make_few(struct eventq *q)
{
	q->is_heap = false;
	for (uint32_t i = 0; i < EVENTQ_FEW; i++)
		q->times[i] = i < q->nr ? q->items[i].time : INFINITY;
}

static inline void eventq_fill_hole(struct eventq *q)
{
	if (!q->hole)
		return;
	q->hole = false;
	if (--q->nr)
		eventq_down(q, 0, q->items[q->nr]);
	if (q->nr <= EVENTQ_FEW / 2)
		eventq_make_few(q);
}

/* Returns 0 or -ENOMEM. */
static inline int eventq_push(struct eventq *q, double time, uint32_t id)
{
	struct event e = { .time = time, .seq = q->seq++, .id = id };

	if (q->hole) {
		q->hole = false;
		eventq_down(q, 0, e);
		return 0;
	}
	if (!q->is_heap && q->nr < EVENTQ_FEW) {
		eventq_seat_few(q, q->nr++, e);
		return 0;
	}
	if (!q->is_heap)
		eventq_make_heap(q);
	if (q->nr == q->cap) {
		struct event *more = reallocarray(q->items, q->cap, 2 * sizeof(*more));

		if (!more || q->cap > UINT32_MAX / 4) {
			q->items = more ? more : q->items;
			return -ENOMEM;
		}
		q->items = more;
		q->cap *= 2;
	}
	eventq_up(q, q->nr++, e);
	return 0;
}

/*
 * Returns the earliest event, or NULL where there is none. It stays the first until eventq_pop().
 */
static inline const struct event *eventq_first(struct eventq *q)
{
	eventq_fill_hole(q);
	if (!q->nr)
		return NULL;
	q->first = q->is_heap ? 0 : eventq_search(q);
	return &q->items[q->first];
}

/* To be called after eventq_first() has returned an event, before any other change. */
static inline void eventq_pop(struct eventq *q)
{
	uint32_t id = q->items[q->first].id;

	if (id & EVENTQ_CLOCK)
		q->where[id & ~EVENTQ_CLOCK] = 0;
	if (q->is_heap)
		q->hole = true;
	else
		eventq_remove_few(q, q->first);
}

static inline void eventq_cancel(struct eventq *q, uint32_t clock)
{
	struct event last;
	uint32_t i;

	eventq_fill_hole(q);
	i = q->where[clock];
	if (!i--)
		return;
	q->where[clock] = 0;
	if (!q->is_heap) {
		eventq_remove_few(q, i);
		return;
	}
	last = q->items[--q->nr];
	if (i == q->nr)
		return;
	if (i && event_before(&last, &q->items[(i - 1) / 4]))
		eventq_up(q, i, last);
	else
		eventq_down(q, i, last);
}

/* Sets a clock to a time, wherever it stood before. Returns 0 or -ENOMEM. */
static inline int eventq_set(struct eventq *q, uint32_t clock, double time)
{
	uint32_t i = q->where[clock];
	struct event e = { .time = time, .id = clock | EVENTQ_CLOCK };

	if (!i)
		return eventq_push(q, time, clock | EVENTQ_CLOCK);
	e.seq = q->seq++;
	/* A root that has happened precedes everything, so no event can pass it. */
	if (!q->is_heap)
		eventq_seat_few(q, i - 1, e);
	else if (event_before(&e, &q->items[i - 1]))
		eventq_up(q, i - 1, e);
	else
		eventq_down(q, i - 1, e);
	return 0;
}

/* Returns the time of a clock, which must be set. */
static inline double eventq_time(const struct eventq *q, uint32_t clock)
{
	return q->items[q->where[clock] - 1].time;
}

#endif
