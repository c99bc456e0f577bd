// SPDX-License-Identifier: Apache-2.0
/* The scheduling strategies: which token is served next, and when its service ends. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/sim/qpn_queue.h"

static void set_clock(struct qpn_sim *s, uint32_t clock, double time)
{
	int err = eventq_set(&s->events, clock, time);

	if (err && !s->error)
		s->error = err;
}

/*
 * Exponential times are drawn several at once: first the random numbers, whose state is in
 * registers meanwhile, and then the logarithms.
 */
static void slot_draw_exponential(struct slot_state *x)
{
	struct rng rng = x->rng;

	for (uint32_t i = SLOT_DRAWS; i-- > 0;)
		x->drawn[i] = rng_open(&rng);
	for (uint32_t i = 0; i < SLOT_DRAWS; i++)
		x->drawn[i] = x->service->mean * -log(x->drawn[i]);
	x->rng = rng;
	x->nr_drawn = SLOT_DRAWS;
}

double slot_draw_more(struct slot_state *x)
{
	if (x->service->kind != DIST_EXPONENTIAL)
		return dist_sample(x->service, &x->rng, &x->phase);
	slot_draw_exponential(x);
	return x->drawn[--x->nr_drawn];
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
static void ps_set_jobs(struct queue_state *q, uint32_t nr)
{
	q->nr_jobs = nr;
	q->rate = nr <= q->servers ? 1 : (double)q->servers / nr;
}

static void ps_advance(struct qpn_sim *s, struct queue_state *q)
{
	q->virtual_time = q->nr_jobs ? q->virtual_time + (s->now - q->since) * q->rate : 0;
	q->since = s->now;
}

static void ps_schedule(struct qpn_sim *s, struct queue_state *q)
{
	double left = q->jobs[0].tag - q->virtual_time;

	set_clock(s, q->clock, s->now + (left > 0 ? left / q->rate : 0));
}

static bool job_before(const struct ps_job *a, const struct ps_job *b)
{
	return a->tag < b->tag || (a->tag == b->tag && (int32_t)(a->seq - b->seq) < 0);
}

static void ps_arrive(struct qpn_sim *s, struct queue_state *q, struct slot_state *x,
		      uint32_t token)
{
	struct ps_job job = { .token = token, .seq = q->seq++ };
	uint32_t i;

	if (!room_for(s, (void **)&q->jobs, q->nr_jobs, &q->cap_jobs, sizeof(*q->jobs)))
		return;
	s->tokens[token].demand = slot_draw(x);
	ps_advance(s, q);
	job.tag = q->virtual_time + s->tokens[token].demand;
	ps_set_jobs(q, q->nr_jobs + 1);
	for (i = q->nr_jobs - 1; i && job_before(&job, &q->jobs[(i - 1) / 2]); i = (i - 1) / 2)
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
	ps_set_jobs(q, q->nr_jobs - 1);
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

uint32_t qpn_queue_next(struct qpn_sim *s, struct queue_state *q)
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
		t->demand = slot_draw(&s->slots[t->slot]);
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
		/* The token came before all other tokens that wait at its level. */
		s->tokens[out].next = l->head;
		if (l->head == NO_TOKEN)
			l->tail = out;
		l->head = out;
		serve_at(s, q, worst, token);
	}
}

void qpn_queue_wait(struct qpn_sim *s, struct slot_state *x, uint32_t token)
{
	struct queue_state *q = &s->queues[x->queue];

	if (q->strategy == NET_PS) {
		ps_arrive(s, q, x, token);
	} else if (q->strategy == NET_PREEMPTIVE) {
		preempt_arrive(s, q, token);
	} else if (q->strategy == NET_RANDOM) {
		wait_random(s, q, token);
	} else {
		q->nr_waiting++;
		token_append(s, &q->levels[x->level], token);
	}
}

uint32_t qpn_queue_clock(struct qpn_sim *s, uint32_t queue, uint32_t clock)
{
	struct queue_state *q = &s->queues[queue];
	uint32_t server = clock - q->clock, done;

	if (q->strategy == NET_PS)
		return ps_complete(s, q);
	done = q->serving[server];
	if (q->nr_waiting) {
		serve_at(s, q, server, qpn_queue_next(s, q));
	} else {
		q->serving[server] = NO_TOKEN;
		q->nr_busy--;
	}
	return done;
}
