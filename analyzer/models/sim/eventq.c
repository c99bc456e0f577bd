// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "analyzer/models/sim/eventq.h"

int eventq_init(struct eventq *q, uint32_t nr_clocks)
{
	*q = (struct eventq){ .cap = EVENTQ_FEW };
	q->items = calloc(q->cap, sizeof(*q->items));
	q->where = calloc((size_t)nr_clocks + 1, sizeof(*q->where));
	for (uint32_t i = 0; i < EVENTQ_FEW; i++) {
		q->times[i] = -INFINITY;
		q->spare[i] = (uint8_t)i;
	}
	return q->items && q->where ? 0 : -ENOMEM;
}

void eventq_release(struct eventq *q)
{
	free(q->items);
	free(q->where);
	*q = (struct eventq){ 0 };
}

static bool event_before(const struct event *a, const struct event *b)
{
	/* Times are random, so this is written without branches, which could not be predicted. */
	return (a->time < b->time) | ((a->time == b->time) & ((int32_t)(a->seq - b->seq) < 0));
}

static void eventq_up(struct eventq *q, uint32_t i, struct event e)
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

static void eventq_down(struct eventq *q, uint32_t i, struct event e)
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

/* Makes a heap of the events, which fill all slots. */
static void eventq_make_heap(struct eventq *q)
{
	q->is_heap = true;
	for (uint32_t i = 1; i < q->nr; i++)
		eventq_up(q, i, q->items[i]);
}

/* Puts the events of a heap in order. Each gets the slot of its index in the heap. */
static void eventq_make_few(struct eventq *q)
{
	q->is_heap = false;
	q->nr_used = q->nr;
	for (uint32_t i = 0; i < EVENTQ_FEW; i++) {
		q->spare[i] = (uint8_t)i;
		q->times[i] = i < q->nr ? q->items[i].time : -INFINITY;
	}
	for (uint32_t i = 0; i < q->nr; i++) {
		uint32_t at = i;

		for (; at && event_before(&q->items[q->order[at - 1]], &q->items[i]); at--)
			q->order[at] = q->order[at - 1];
		q->order[at] = (uint8_t)i;
	}
}

static void eventq_fill_hole(struct eventq *q)
{
	if (!q->hole)
		return;
	q->hole = false;
	if (--q->nr)
		eventq_down(q, 0, q->items[q->nr]);
	if (q->nr <= EVENTQ_FEW / 2)
		eventq_make_few(q);
}

int eventq_push_heap(struct eventq *q, struct event e)
{
	if (q->hole) {
		q->hole = false;
		eventq_down(q, 0, e);
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

const struct event *eventq_first_heap(struct eventq *q)
{
	eventq_fill_hole(q);
	if (!q->is_heap)
		return eventq_first(q);
	return q->nr ? q->items : NULL; /* Cancels may have emptied the heap. */
}

void eventq_pop_heap(struct eventq *q)
{
	if (q->items[0].id & EVENTQ_CLOCK)
		q->where[q->items[0].id & ~EVENTQ_CLOCK] = 0;
	q->hole = true;
}

/* A root that has happened precedes everything, so no event can pass it. */
void eventq_move_heap(struct eventq *q, uint32_t i, struct event e)
{
	if (event_before(&e, &q->items[i]))
		eventq_up(q, i, e);
	else
		eventq_down(q, i, e);
}

void eventq_cancel(struct eventq *q, uint32_t clock)
{
	struct event last;
	uint32_t i;

	eventq_fill_hole(q);
	i = q->where[clock];
	if (!i--)
		return;
	q->where[clock] = 0;
	if (!q->is_heap) {
		eventq_extract(q, i, eventq_nr_later(q, q->times[i]));
		q->times[i] = -INFINITY;
		q->spare[--q->nr] = (uint8_t)i;
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
