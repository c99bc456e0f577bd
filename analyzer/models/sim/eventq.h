/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eventq: the pending events of a simulation, the earliest first; events of the same instant come
 * in the order in which they were set.
 *
 * Most events are set and then happen; events that may be moved or cancelled are clocks, which have
 * a small number each and are found in O(1). Memory: 16 bytes per event.
 *
 * Up to EVENTQ_FEW events each have a slot of their own, and an array of bytes has the slots in the
 * order of the events. An event is set by comparing its time with those of all slots, several at
 * once, and by moving the bytes behind its position, always the same number of them. Neither has a
 * branch that depends on the times: these are random, and a branch that the processor predicts
 * wrongly costs as much as ten comparisons. first and pop are O(1) then, and push and move are
 * O(EVENTQ_FEW) with a small constant.
 *
 * More events are a 4-ary heap (eventq.c). A popped root stays in place until the next push
 * replaces it: a service that ends and the next one that begins then cost one pass through the heap
 * and not two. push, pop and move: O(log n). Both forms give the same order of events.
 */
#ifndef ANALYZER_EVENTQ_H
#define ANALYZER_EVENTQ_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENTQ_CLOCK 0x80000000u /* set in the id of a clock; the remaining bits are its number */

#define EVENTQ_FEW   64 /* the most events that are kept in order */
#define EVENTQ_STEP  4	/* number of times that one step of a comparison takes */

/* These are vectors of the compiler, which makes the instructions of each processor of them. */
typedef double eventq_times __attribute__((vector_size(16)));
typedef int64_t eventq_flags __attribute__((vector_size(16)));
typedef uint8_t eventq_bytes __attribute__((vector_size(16), aligned(1), may_alias));

struct event {
	double time;
	uint32_t seq; /* may wrap, because only events of the same instant are compared by it */
	uint32_t id;
};

struct eventq {
	struct event *items; /* owned; by slot, or the heap */
	uint32_t nr, cap;
	uint32_t seq;
	bool is_heap;
	bool hole; /* the heap's items[0] has already happened */
	/*
	 * If there is no heap, this array holds the slots, that of the latest event first. A move
	 * of bytes reaches beyond the last slot.
	 */
	uint8_t order[2 * EVENTQ_FEW + 1];
	uint8_t spare[EVENTQ_FEW]; /* from spare[nr] on: the free slots */
	uint32_t nr_used;	   /* the slots from here on never had an event */
	/* by slot; -INFINITY where it is free */
	double times[EVENTQ_FEW] __attribute__((aligned(16)));
	uint32_t *where; /* owned; by clock: index in items plus 1, or 0 */
};

/* Returns 0 or -ENOMEM. */
int eventq_init(struct eventq *q, uint32_t nr_clocks);
void eventq_release(struct eventq *q);

/* eventq.c: the same operations where there is a heap, or where there must be one. */
int eventq_push_heap(struct eventq *q, struct event e);
const struct event *eventq_first_heap(struct eventq *q);
void eventq_pop_heap(struct eventq *q);
void eventq_move_heap(struct eventq *q, uint32_t i, struct event e);

static inline void eventq_seat(struct eventq *q, uint32_t i, struct event e)
{
	q->items[i] = e;
	if (e.id & EVENTQ_CLOCK)
		q->where[e.id & ~EVENTQ_CLOCK] = i + 1;
}

/* Returns how many of few events come later than a time. */
static inline uint32_t eventq_nr_later(const struct eventq *q, double time)
{
	const eventq_times *t = (const eventq_times *)q->times, now = { time, time };
	eventq_flags a = { 0 }, b = { 0 };

	for (uint32_t i = 0; i < q->nr_used; i += EVENTQ_STEP, t += 2) {
		a -= t[0] > now;
		b -= t[1] > now;
	}
	a += b;
	return (uint32_t)a[0] + (uint32_t)a[1];
}

/* Moves EVENTQ_FEW bytes of the order, which may overlap: all are read before any is written. */
static inline void eventq_shift(struct eventq *q, uint32_t to, uint32_t from)
{
	const eventq_bytes *src = (const eventq_bytes *)&q->order[from];
	eventq_bytes a = src[0], b = src[1], c = src[2], d = src[3];
	eventq_bytes *dst = (eventq_bytes *)&q->order[to];

	dst[0] = a;
	dst[1] = b;
	dst[2] = c;
	dst[3] = d;
}

/* Adds an event to the order, after all events of the same time. */
static inline void eventq_insert(struct eventq *q, uint32_t slot, struct event e)
{
	uint32_t at = eventq_nr_later(q, e.time);

	eventq_shift(q, at + 1, at);
	q->order[at] = (uint8_t)slot;
	q->times[slot] = e.time;
	eventq_seat(q, slot, e);
}

/*
 * Takes a slot, which has an event, out of the order. later: how many events come later. Of events
 * of the same time, the one that was set last comes first in the order. Where a time is no number,
 * all slots are searched.
 */
static inline void eventq_extract(struct eventq *q, uint32_t slot, uint32_t later)
{
	while (q->order[later] != slot)
		later = later + 1 < q->nr ? later + 1 : 0;
	eventq_shift(q, later, later + 1);
}

/* Moves the event of a slot to another time, after all events of that time. */
static inline void eventq_move(struct eventq *q, uint32_t slot, struct event e)
{
	const eventq_times *t = (const eventq_times *)q->times, new = { e.time, e.time };
	double before = q->times[slot];
	eventq_times old = { before, before };
	eventq_flags from = { 0 }, to = { 0 };
	uint32_t at;

	for (uint32_t i = 0; i < q->nr_used; i += EVENTQ_STEP, t += 2) {
		from = from - (t[0] > old) - (t[1] > old);
		to = to - (t[0] > new) - (t[1] > new);
	}
	eventq_extract(q, slot, (uint32_t)from[0] + (uint32_t)from[1]);
	at = (uint32_t)to[0] + (uint32_t)to[1] - (before > e.time);
	eventq_shift(q, at + 1, at);
	q->order[at] = (uint8_t)slot;
	q->times[slot] = e.time;
	eventq_seat(q, slot, e);
}

/* Returns 0 or -ENOMEM. */
static inline int eventq_push(struct eventq *q, double time, uint32_t id)
{
	struct event e = { .time = time, .seq = q->seq++, .id = id };

	if (q->is_heap || q->nr == EVENTQ_FEW)
		return eventq_push_heap(q, e);
	q->nr_used += q->nr == q->nr_used;
	eventq_insert(q, q->spare[q->nr++], e);
	return 0;
}

/*
 * Returns the earliest event, or NULL where there is none. It stays the first until eventq_pop().
 */
static inline const struct event *eventq_first(struct eventq *q)
{
	if (q->is_heap)
		return eventq_first_heap(q);
	return q->nr ? &q->items[q->order[q->nr - 1]] : NULL;
}

/*
 * Removes the first event. Call this function after eventq_first() has returned an event, before
 * any other change.
 */
static inline void eventq_pop(struct eventq *q)
{
	uint32_t slot;

	if (q->is_heap) {
		eventq_pop_heap(q);
		return;
	}
	slot = q->order[--q->nr];
	q->spare[q->nr] = (uint8_t)slot;
	q->times[slot] = -INFINITY;
	if (q->items[slot].id & EVENTQ_CLOCK)
		q->where[q->items[slot].id & ~EVENTQ_CLOCK] = 0;
}

void eventq_cancel(struct eventq *q, uint32_t clock);

/* Sets a clock to a time, wherever it stood before. Returns 0 or -ENOMEM. */
static inline int eventq_set(struct eventq *q, uint32_t clock, double time)
{
	struct event e = { .time = time, .id = clock | EVENTQ_CLOCK };
	uint32_t i = q->where[clock];

	if (!i)
		return eventq_push(q, time, clock | EVENTQ_CLOCK);
	e.seq = q->seq++;
	if (q->is_heap)
		eventq_move_heap(q, i - 1, e);
	else
		eventq_move(q, i - 1, e);
	return 0;
}

/* Returns the time of a clock, which must be set. */
static inline double eventq_time(const struct eventq *q, uint32_t clock)
{
	return q->items[q->where[clock] - 1].time;
}

#endif
