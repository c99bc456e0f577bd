// SPDX-License-Identifier: Apache-2.0
/* The scheduling strategies: which token is served next, and when its service ends. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/models/sim/qpn_state.h"

static void qpn_queue_schedule(struct qpn_sim *s, double time, uint32_t id)
{
	int err = eventq_push(&s->events, time, id);

	if (err && !s->error)
		s->error = err;
}

static void set_clock(struct qpn_sim *s, uint32_t clock, double time)
{
	int err = eventq_set(&s->events, clock, time);

	if (err && !s->error)
		s->error = err;
}

static double slot_draw_many(struct slot_state *x)
{
	for (x->nr_drawn = SLOT_DRAWS; x->nr_drawn; x->nr_drawn--)
		x->drawn[x->nr_drawn - 1] = dist_sample(x->service, &x->rng, &x->phase);
	x->nr_drawn = SLOT_DRAWS - 1;
	return x->drawn[x->nr_drawn];
}

static inline void qpn_queue_draw(struct qpn_sim *s, struct token *t)
{
	struct slot_state *x = &s->slots[t->slot];

	if (x->nr_drawn)
		t->demand = x->drawn[--x->nr_drawn];
	else if (x->service->kind == DIST_EXPONENTIAL)
		t->demand = slot_draw_many(x);
	else
		t->demand = dist_sample(x->service, &x->rng, &x->phase);
}

/* Doubles an array when it is full. Returns false where memory is short, which ends the run. */
static bool room_for(struct qpn_sim *s, void **array, uint32_t nr, uint32_t *cap, size_t size)
{
	void *more;

	if (nr < *cap)
		return true;
	more = reallocarray(*array, *cap ? *cap : 8, 2 * size);
	if (!more) {
		s->error = -ENOMEM;
		return false;
	}
	*array = more;
	*cap = *cap ? 2 * *cap : 16;
	return true;
}

/*
 * Processor sharing in virtual time: virtual time passes at the rate at which each job is served.
 * So a job that arrives at virtual time v with demand d ends at v + d, whatever arrives after it.
 */
static double ps_rate(const struct queue_state *q)
{
	return q->nr_jobs <= q->servers ? 1 : (double)q->servers / q->nr_jobs;
}

static void ps_advance(struct qpn_sim *s, struct queue_state *q)
{
	q->virtual_time = q->nr_jobs ? q->virtual_time + (s->now - q->since) * ps_rate(q) : 0;
	q->since = s->now;
}

static void ps_schedule(struct qpn_sim *s, struct queue_state *q)
{
	double left = q->jobs[0].tag - q->virtual_time;

	set_clock(s, q->clock, s->now + (left > 0 ? left / ps_rate(q) : 0));
}

static bool job_before(const struct ps_job *a, const struct ps_job *b)
{
	return a->tag < b->tag || (a->tag == b->tag && (int32_t)(a->seq - b->seq) < 0);
}

static void ps_arrive(struct qpn_sim *s, struct queue_state *q, uint32_t token)
{
	struct ps_job job = { .token = token, .seq = q->seq++ };
	uint32_t i;

	if (!room_for(s, (void **)&q->jobs, q->nr_jobs, &q->cap_jobs, sizeof(*q->jobs)))
		return;
	qpn_queue_draw(s, &s->tokens[token]);
	ps_advance(s, q);
	job.tag = q->virtual_time + s->tokens[token].demand;
	for (i = q->nr_jobs++; i && job_before(&job, &q->jobs[(i - 1) / 2]); i = (i - 1) / 2)
		q->jobs[i] = q->jobs[(i - 1) / 2];
	q->jobs[i] = job;
	ps_schedule(s, q);
}

static uint32_t ps_complete(struct qpn_sim *s, struct queue_state *q)
{
	struct ps_job done = q->jobs[0], last = q->jobs[q->nr_jobs - 1];
	uint32_t i = 0;

	q->virtual_time = done.tag;
	q->since = s->now;
	q->nr_jobs--;
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= q->nr_jobs)
			break;
		if (child + 1 < q->nr_jobs && job_before(&q->jobs[child + 1], &q->jobs[child]))
			child++;
		if (!job_before(&q->jobs[child], &last))
			break;
		q->jobs[i] = q->jobs[child];
		i = child;
	}
	q->jobs[i] = last;
	if (q->nr_jobs)
		ps_schedule(s, q);
	else
		q->virtual_time = 0;
	return done.token;
}

static void wait_random(struct qpn_sim *s, struct queue_state *q, uint32_t token)
{
	if (room_for(s, (void **)&q->waiting, q->nr_waiting, &q->cap_waiting, sizeof(*q->waiting)))
		q->waiting[q->nr_waiting++] = token;
}

static uint32_t next_waiting(struct qpn_sim *s, struct queue_state *q)
{
	if (q->strategy == NET_RANDOM) {
		uint32_t i = (uint32_t)rng_below(&q->rng, q->nr_waiting);
		uint32_t t = q->waiting[i];

		q->waiting[i] = q->waiting[--q->nr_waiting];
		return t;
	}
	q->nr_waiting--;
	for (uint32_t l = 0;; l++)
		if (q->levels[l].head != NO_TOKEN)
			return token_shift(s, &q->levels[l]);
}

/* Begins or resumes a service on a server of a preemptive queue. */
static void serve_at(struct qpn_sim *s, struct queue_state *q, uint32_t server, uint32_t token)
{
	struct token *t = &s->tokens[token];

	if (t->demand < 0) {
		qpn_queue_draw(s, t);
		t->rest = t->demand;
	}
	q->serving[server] = token;
	set_clock(s, q->clock + server, s->now + t->rest);
}

static void preempt_arrive(struct qpn_sim *s, struct queue_state *q, uint32_t token)
{
	uint32_t level = s->slots[s->tokens[token].slot].level, worst = 0, server;

	s->tokens[token].demand = -1;
	if (q->nr_busy < q->servers) {
		for (server = 0; q->serving[server] != NO_TOKEN; server++)
			;
		q->nr_busy++;
		serve_at(s, q, server, token);
		return;
	}
	/* Levels count from the highest priority down; among equals the first server is taken. */
	for (server = 1; server < q->servers; server++)
		if (s->slots[s->tokens[q->serving[server]].slot].level >
		    s->slots[s->tokens[q->serving[worst]].slot].level)
			worst = server;
	q->nr_waiting++;
	if (s->slots[s->tokens[q->serving[worst]].slot].level <= level) {
		token_append(s, &q->levels[level], token);
	} else {
		uint32_t out = q->serving[worst];
		struct token_list *l = &q->levels[s->slots[s->tokens[out].slot].level];

		s->tokens[out].rest = eventq_time(&s->events, q->clock + worst) - s->now;
		/* The token came before all that wait at its level. */
		s->tokens[out].next = l->head;
		if (l->head == NO_TOKEN)
			l->tail = out;
		l->head = out;
		serve_at(s, q, worst, token);
	}
}

void qpn_queue_arrive(struct qpn_sim *s, uint32_t token)
{
	struct token *t = &s->tokens[token];
	struct queue_state *q = &s->queues[s->slots[t->slot].queue];

	if (q->strategy == NET_PS) {
		ps_arrive(s, q, token);
	} else if (q->strategy == NET_PREEMPTIVE) {
		preempt_arrive(s, q, token);
	} else if (q->strategy == NET_IS || q->nr_busy < q->servers) {
		q->nr_busy++;
		qpn_queue_draw(s, t);
		qpn_queue_schedule(s, s->now + t->demand, token);
	} else if (q->strategy == NET_RANDOM) {
		wait_random(s, q, token);
	} else {
		q->nr_waiting++;
		token_append(s, &q->levels[s->slots[t->slot].level], token);
	}
}

uint32_t qpn_queue_complete(struct qpn_sim *s, uint32_t token)
{
	struct queue_state *q = &s->queues[s->slots[s->tokens[token].slot].queue];

	if (q->nr_waiting) {
		uint32_t next = next_waiting(s, q);

		qpn_queue_draw(s, &s->tokens[next]);
		qpn_queue_schedule(s, s->now + s->tokens[next].demand, next);
	} else {
		q->nr_busy--;
	}
	return token;
}

uint32_t qpn_queue_clock(struct qpn_sim *s, uint32_t queue, uint32_t clock)
{
	struct queue_state *q = &s->queues[queue];
	uint32_t server = clock - q->clock, done;

	if (q->strategy == NET_PS)
		return ps_complete(s, q);
	done = q->serving[server];
	if (q->nr_waiting) {
		serve_at(s, q, server, next_waiting(s, q));
	} else {
		q->serving[server] = NO_TOKEN;
		q->nr_busy--;
	}
	return done;
}
