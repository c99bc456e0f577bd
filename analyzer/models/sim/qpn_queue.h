/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpn_queue: the queues of a simulated net, which decide the token that is served next and the time
 * at which its service ends.
 *
 * Most tokens find a free server, and most services end on a server that serves until the end; both
 * are inline, since every event of a simulation passes through them. Processor sharing and
 * preemption never have a free server in this sense (nr_free is 0): their tokens arrive in
 * qpn_queue_wait(), and their services end as clocks.
 */
#ifndef ANALYZER_QPN_QUEUE_H
#define ANALYZER_QPN_QUEUE_H

#include "analyzer/models/sim/qpn_state.h"

/* Returns a time of service; draws more of them where none is left of those drawn before. */
double slot_draw_more(struct slot_state *x);
/* Lets a token wait at a queue that has no free server for it. */
void qpn_queue_wait(struct qpn_sim *s, struct slot_state *x, uint32_t token);
/* Returns the token that is served next, of those that wait; there is one. */
uint32_t qpn_queue_next(struct qpn_sim *s, struct queue_state *q);
/* Returns the token whose service ends at this event of a clock; the queue goes on. */
uint32_t qpn_queue_clock(struct qpn_sim *s, uint32_t queue, uint32_t clock);

static inline double slot_draw(struct slot_state *x)
{
	return x->nr_drawn ? x->drawn[--x->nr_drawn] : slot_draw_more(x);
}

/* Begins a service that ends without interruption. */
static inline void qpn_queue_serve(struct qpn_sim *s, struct slot_state *x, uint32_t token)
{
	double demand = slot_draw(x);
	int ret = eventq_push(&s->events, s->now + demand, token);

	s->tokens[token].demand = demand;
	if (ret)
		s->error = ret;
}

/* Lets a token arrive at the queue of its slot x. */
static inline void qpn_queue_arrive(struct qpn_sim *s, struct slot_state *x, uint32_t token)
{
	struct queue_state *q = &s->queues[x->queue];

	if (!q->nr_free) {
		qpn_queue_wait(s, x, token);
		return;
	}
	q->nr_free--;
	qpn_queue_serve(s, x, token);
}

/* Ends a service of this slot that was not interrupted; the queue goes on. */
static inline void qpn_queue_complete(struct qpn_sim *s, const struct slot_state *x)
{
	struct queue_state *q = &s->queues[x->queue];
	uint32_t next;

	if (!q->nr_waiting) {
		q->nr_free++;
		return;
	}
	next = qpn_queue_next(s, q);
	qpn_queue_serve(s, &s->slots[s->tokens[next].slot], next);
}

#endif
