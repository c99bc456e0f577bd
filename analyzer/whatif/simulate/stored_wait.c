// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/simulate/stored_wait.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory/array.h"

/* The clocks of load->needs are its lanes, and their times are numbers of completions. */

int stored_wait_init(struct stored_load *load)
{
	return eventq_init(&load->needs, (uint32_t)load->nr);
}

void stored_wait_release(struct stored_load *load)
{
	eventq_release(&load->needs);
}

static int stored_wait_add(struct stored_sim *s, uint32_t lane)
{
	if (array_grow(&s->ready, &s->cap_ready, s->nr_ready + 1, sizeof(*s->ready)))
		return -ENOMEM;
	s->ready[s->nr_ready++] = lane;
	return 0;
}

int stored_wait_for(struct stored_sim *s, uint32_t lane, bool after, bool others)
{
	struct stored_lane *l = &s->lanes[lane];
	struct stored_load *load = &s->loads[l->load];
	const struct causal_request *r = &l->plan->requests[l->nr_sent];
	uint32_t clock = lane - (uint32_t)load->first;

	if (after && !l->awaits) {
		uint32_t *first = &s->lanes[load->first + r->after_lane].awaited[r->after];

		l->awaits = true;
		l->next_awaiting = *first;
		*first = lane;
	}
	if (others)
		return eventq_set(&load->needs, clock, (double)(r->others + l->nr_done));
	eventq_cancel(&load->needs, clock);
	return 0;
}

int stored_wait_ended(struct stored_sim *s, struct stored_lane *l, size_t index)
{
	uint32_t lane = l->awaited[index];
	int ret = 0;

	l->awaited[index] = STORED_NO_LANE;
	while (lane != STORED_NO_LANE && !ret) {
		s->lanes[lane].awaits = false;
		ret = stored_wait_add(s, lane);
		lane = s->lanes[lane].next_awaiting;
	}
	return ret;
}

static int stored_wait_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

int stored_wait_take(struct stored_sim *s, struct stored_load *load)
{
	const struct event *e;
	int ret = 0;

	while (!ret && (e = eventq_first(&load->needs)) && e->time <= (double)load->nr_done) {
		uint32_t clock = e->id & ~EVENTQ_CLOCK;

		eventq_pop(&load->needs);
		ret = stored_wait_add(s, (uint32_t)load->first + clock);
	}
	if (s->nr_ready > 1)
		qsort(s->ready, s->nr_ready, sizeof(*s->ready), stored_wait_compare);
	return ret;
}

void stored_wait_clear(struct stored_sim *s, struct stored_load *load)
{
	for (size_t i = 0; i < load->nr; i++) {
		s->lanes[load->first + i].awaits = false;
		eventq_cancel(&load->needs, (uint32_t)i);
	}
	s->nr_ready = 0;
}
