/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eventq: the pending events of a simulation, the earliest first; events of the same instant come
 * in the order in which they were set.
 *
 * It is a 4-ary heap. Most events are set and then happen; events that may be moved or cancelled
 * are clocks, which have a small number each and are found in O(1). A popped root stays in place
 * until the next push replaces it: a service that ends and the next one that begins then cost one
 * pass through the heap and not two. push, pop and move: O(log n). Memory: 16 bytes per event.
 */
#ifndef ANALYZER_EVENTQ_H
#define ANALYZER_EVENTQ_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define EVENTQ_CLOCK 0x80000000u /* set in the id of a clock; the remaining bits are its number */

struct event {
	double time;
	uint32_t seq; /* may wrap, because only events of the same instant are compared by it */
	uint32_t id;
};

struct eventq {
	struct event *items; /* owned */
	uint32_t nr, cap;
	uint32_t seq;
	bool hole;	 /* items[0] has already happened */
	uint32_t *where; /* owned; by clock: index in items plus 1, or 0 */
};

static inline int eventq_init(struct eventq *q, uint32_t nr_clocks)
{
	*q = (struct eventq){ .cap = 64 };
	q->items = calloc(q->cap, sizeof(*q->items));
	q->where = calloc((size_t)nr_clocks + 1, sizeof(*q->where));
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

static inline void eventq_fill_hole(struct eventq *q)
{
	if (!q->hole)
		return;
	q->hole = false;
	if (--q->nr)
		eventq_down(q, 0, q->items[q->nr]);
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
	return q->nr ? &q->items[0] : NULL;
}

/* To be called after eventq_first() has returned an event. */
static inline void eventq_pop(struct eventq *q)
{
	if (q->items[0].id & EVENTQ_CLOCK)
		q->where[q->items[0].id & ~EVENTQ_CLOCK] = 0;
	q->hole = true;
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
	if (event_before(&e, &q->items[--i]))
		eventq_up(q, i, e);
	else
		eventq_down(q, i, e);
	return 0;
}

/* Returns the time of a clock, which must be set. */
static inline double eventq_time(const struct eventq *q, uint32_t clock)
{
	return q->items[q->where[clock] - 1].time;
}

#endif
