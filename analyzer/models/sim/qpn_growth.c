// SPDX-License-Identifier: Apache-2.0
/*
 * Detects unbounded growth while it happens. The tokens of a stable net reach any high level from
 * time to time and fall again, and each higher level takes much longer. Where more arrives than can
 * be served, the number doubles in about twice the time of the last doubling, and hardly falls.
 * Three such doublings in a row, with most of the tokens waiting (infinite servers fill up too, but
 * only to a limit), are taken for growth without end. A critically loaded net (sqrt(t)) takes four
 * times as long for each doubling, and falls.
 */
#include <errno.h>

#include "analyzer/models/sim/qpn_state.h"

#define FIRST_LEVEL 32768
#define DOUBLINGS   3
/*
 * LEAST_LEFT is the share of the level before that a random fall leaves at least. The other two
 * limit the ratio of the times of successive doublings.
 */
#define LEAST_LEFT    0.75
#define LEAST_RATIO   1.3
#define LARGEST_RATIO 3.0

void qpn_growth_begin(struct qpn_sim *s)
{
	s->growth.next = FIRST_LEVEL;
	if (4 * (uint64_t)s->nr_live > FIRST_LEVEL)
		s->growth.next = 4 * (uint64_t)s->nr_live;
}

/* Tokens that nobody takes away are counted there; they do not wait. */
static bool is_end(const struct net *n, uint32_t slot)
{
	for (uint32_t t = 0; t < n->nr_transitions; t++)
		for (uint32_t m = 0; m < n->transitions[t].nr_modes; m++)
			for (uint32_t i = 0; i < n->transitions[t].modes[m].nr_take; i++)
				if (n->transitions[t].modes[m].take[i].slot == slot)
					return false;
	return true;
}

uint64_t qpn_growth_backlog(const struct qpn_sim *s, uint32_t slot)
{
	const struct slot_state *x = &s->slots[slot];

	if (is_end(s->net, slot))
		return x->nr_queued;
	if (x->queue != NET_NONE && s->queues[x->queue].strategy == NET_IS)
		return x->nr_lying;
	return (uint64_t)x->nr_queued + x->nr_lying;
}

static bool most_wait(const struct qpn_sim *s)
{
	uint64_t backlog = 0;

	for (uint32_t i = 0; i < s->net->nr_slots; i++)
		backlog += qpn_growth_backlog(s, i);
	return 2 * backlog >= s->nr_live;
}

static bool is_linear(const double *t)
{
	for (int i = 0; i + 2 <= DOUBLINGS; i++) {
		double now = t[i] - t[i + 1], before = t[i + 1] - t[i + 2];

		if (!(now > LEAST_RATIO * before && now < LARGEST_RATIO * before))
			return false;
	}
	return true;
}

int qpn_growth_look(struct qpn_sim *s)
{
	struct growth *g = &s->growth;

	if (g->nr && g->low < LEAST_LEFT * (double)g->level)
		g->nr = 0;
	for (int i = DOUBLINGS; i > 0; i--)
		g->times[i] = g->times[i - 1];
	g->times[0] = s->now;
	g->nr++;
	g->level = g->next;
	g->low = s->nr_live;
	while (g->next <= s->nr_live)
		g->next *= 2;
	if (s->nr_live > QPN_SIM_MAX_TOKENS)
		return -EOVERFLOW;
	return g->nr > DOUBLINGS && is_linear(g->times) && most_wait(s) ? -EOVERFLOW : 0;
}
