// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>

#include "analyzer/models/arch/sim_state.h"

static int no_memory(struct arch_sim *s)
{
	return err_set(s->err, ENOMEM, "out of memory");
}

static void sim_resource_push(struct arch_sim *s, struct queue *q, uint32_t thread)
{
	s->threads[thread]->next = ARCH_NONE;
	if (q->first == ARCH_NONE)
		q->first = thread;
	else
		s->threads[q->last]->next = thread;
	q->last = thread;
}

static uint32_t sim_resource_shift(struct arch_sim *s, struct queue *q)
{
	uint32_t thread = q->first;

	if (thread != ARCH_NONE)
		q->first = s->threads[thread]->next;
	return thread;
}

/* Returns the share of a server that each job of a PS resource gets. */
static double sim_resource_share(const struct resource *r)
{
	return r->nr > r->spec->servers ? (double)r->spec->servers / r->nr : 1;
}

void resource_touch(struct arch_sim *s, uint32_t resource)
{
	struct resource *r = &s->resources[resource];
	double time = s->now - r->last;

	r->busy += time * fmin(r->nr, r->spec->policy == ARCH_DELAY ? INFINITY : r->spec->servers);
	r->in_system += time * r->nr;
	if (r->spec->policy == ARCH_PS && r->nr)
		r->virtual += time * sim_resource_share(r);
	r->last = s->now;
}

static int set_clock(struct arch_sim *s, uint32_t resource)
{
	struct resource *r = &s->resources[resource];
	const struct event *first = eventq_first(&r->jobs);
	double left;

	if (!first) {
		r->virtual = 0;
		eventq_cancel(&s->events, resource);
		return 0;
	}
	left = fmax(0, first->time - r->virtual) / sim_resource_share(r);
	return eventq_set(&s->events, resource, s->now + left) ? no_memory(s) : 0;
}

int resource_arrive(struct arch_sim *s, uint32_t resource, uint32_t thread, double demand)
{
	struct resource *r = &s->resources[resource];
	struct thread *t = s->threads[thread];

	resource_touch(s, resource);
	r->nr++;
	s->work[resource] += demand;
	t->resource = resource;
	t->since = s->now;
	if (r->spec->policy == ARCH_PS && s->alone == ARCH_NONE) {
		t->state = QUEUED;
		if (eventq_push(&r->jobs, r->virtual + demand, thread))
			return no_memory(s);
		return set_clock(s, resource);
	}
	if (r->spec->policy == ARCH_FCFS && r->nr > r->spec->servers && s->alone == ARCH_NONE) {
		t->state = QUEUED;
		t->demand = demand;
		sim_resource_push(s, &r->queue, thread);
		return 0;
	}
	t->state = IN_SERVICE;
	return eventq_push(&s->events, s->now + demand, thread) ? no_memory(s) : 0;
}

int resource_leave(struct arch_sim *s, uint32_t thread)
{
	uint32_t resource = s->threads[thread]->resource, next;
	struct resource *r = &s->resources[resource];

	resource_touch(s, resource);
	r->nr--;
	r->done++;
	if (r->spec->policy != ARCH_FCFS || r->nr < r->spec->servers || s->alone != ARCH_NONE)
		return 0;
	next = sim_resource_shift(s, &r->queue);
	s->threads[next]->state = IN_SERVICE;
	return eventq_push(&s->events, s->now + s->threads[next]->demand, next) ? no_memory(s) : 0;
}

int resource_clock(struct arch_sim *s, uint32_t resource, uint32_t *thread)
{
	struct resource *r = &s->resources[resource];
	const struct event *first = eventq_first(&r->jobs);

	resource_touch(s, resource);
	*thread = first->id;
	r->virtual = first->time; /* avoids the drift of rounding errors */
	eventq_pop(&r->jobs);
	r->nr--;
	r->done++;
	return set_clock(s, resource);
}

void passive_touch(struct arch_sim *s, uint32_t passive)
{
	struct passive *p = &s->passives[passive];

	p->sum_held += (s->now - p->last) * p->held;
	p->sum_waiting += (s->now - p->last) * p->nr_waiting;
	p->last = s->now;
}

int passive_acquire(struct arch_sim *s, uint32_t passive, uint32_t thread)
{
	struct passive *p = &s->passives[passive];

	passive_touch(s, passive);
	if (p->held < p->capacity || s->alone != ARCH_NONE) {
		p->held++;
		return 1;
	}
	s->threads[thread]->state = QUEUED;
	s->threads[thread]->since = s->now;
	s->threads[thread]->resource = passive;
	sim_resource_push(s, &p->queue, thread);
	p->nr_waiting++;
	return 0;
}

uint32_t passive_release(struct arch_sim *s, uint32_t passive)
{
	struct passive *p = &s->passives[passive];

	passive_touch(s, passive);
	if (p->nr_waiting) {
		p->nr_waiting--;
		return sim_resource_shift(s, &p->queue);
	}
	if (p->held)
		p->held--;
	return ARCH_NONE;
}
