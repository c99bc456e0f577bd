// SPDX-License-Identifier: Apache-2.0
/* Decides which tokens of a firing continue as which, that is, the identity that probes follow. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/sim/qpn_state.h"

/* Both arrays are by token, in the order of the arcs. */
struct tokens {
	uint32_t *taken; /* holds colours */
	bool *goes_on;
};

/* Names the tokens one by one: their slots, and the colours of those that are taken. */
static void qpn_origin_name(struct mode_state *m, const struct net *n, struct tokens *x)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < m->net->nr_take; i++)
		for (uint32_t c = 0; c < m->net->take[i].count; c++, k++) {
			m->takes[k] = m->net->take[i].slot;
			x->taken[k] = n->slots[m->takes[k]].colour;
		}
	k = 0;
	for (uint32_t i = 0; i < m->net->nr_put; i++)
		for (uint32_t c = 0; c < m->net->put[i].count; c++)
			m->makes[k++] = (struct made){ m->net->put[i].slot, NO_TOKEN };
}

/*
 * Each token made continues the first taken token of its colour that is still free, or, where there
 * is none, the first free one of any colour.
 */
static void qpn_origin_pair(struct mode_state *m, const struct net *n, struct tokens *x)
{
	for (int any = 0; any < 2; any++) {
		uint32_t t = 0;

		for (uint32_t k = 0; k < m->nr_made; k++) {
			uint32_t colour = n->slots[m->makes[k].slot].colour;

			if (!k || m->makes[k].slot != m->makes[k - 1].slot)
				t = 0;
			if (m->makes[k].origin != NO_TOKEN)
				continue;
			while (t < m->nr_taken &&
			       (x->goes_on[t] || (!any && x->taken[t] != colour)))
				t++;
			if (t == m->nr_taken)
				continue;
			m->makes[k].origin = t;
			x->goes_on[t] = true;
		}
	}
}

/* Returns NULL where no entry holds anything. */
static uint32_t *unless_empty(uint32_t *list, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (list[i] != NO_TOKEN)
			return list;
	free(list);
	return NULL;
}

/* first has room for one token per colour. */
static void find_models(struct mode_state *m, const struct net *n, const struct tokens *x,
			uint32_t *first)
{
	for (uint32_t t = m->nr_taken; t-- > 0;)
		first[x->taken[t]] = t;
	for (uint32_t k = 0; k < m->nr_made; k++)
		m->model[k] = m->makes[k].origin == NO_TOKEN
				      ? first[n->slots[m->makes[k].slot].colour]
				      : NO_TOKEN;
	m->model = unless_empty(m->model, m->nr_made);
}

static void find_heirs(struct mode_state *m, const struct tokens *x, uint32_t *first)
{
	for (uint32_t t = m->nr_taken; t-- > 0;)
		if (x->goes_on[t])
			first[x->taken[t]] = t;
	for (uint32_t t = 0; t < m->nr_taken; t++)
		m->heir[t] = x->goes_on[t] ? NO_TOKEN : first[x->taken[t]];
	m->heir = unless_empty(m->heir, m->nr_taken);
}

static int qpn_origin_follow(struct mode_state *m, const struct net *n, const struct tokens *x)
{
	uint32_t *first = calloc(n->nr_colours, sizeof(*first));

	m->model = calloc((size_t)m->nr_made + 1, sizeof(*m->model));
	m->heir = calloc((size_t)m->nr_taken + 1, sizeof(*m->heir));
	if (!first || !m->model || !m->heir) {
		free(first);
		return -ENOMEM;
	}
	memset(first, 0xff, n->nr_colours * sizeof(*first));
	find_models(m, n, x, first);
	memset(first, 0xff, n->nr_colours * sizeof(*first));
	find_heirs(m, x, first);
	free(first);
	return 0;
}

int qpn_origin_build(struct mode_state *m, const struct net *n)
{
	struct tokens x;
	int ret = -ENOMEM;

	for (uint32_t i = 0; i < m->net->nr_take; i++)
		m->nr_taken += m->net->take[i].count;
	for (uint32_t i = 0; i < m->net->nr_put; i++)
		m->nr_made += m->net->put[i].count;
	m->takes = calloc((size_t)m->nr_taken + 1, sizeof(*m->takes));
	m->makes = calloc((size_t)m->nr_made + 1, sizeof(*m->makes));
	x.taken = calloc((size_t)m->nr_taken + 1, sizeof(*x.taken));
	x.goes_on = calloc((size_t)m->nr_taken + 1, sizeof(*x.goes_on));
	if (m->takes && m->makes && x.taken && x.goes_on) {
		qpn_origin_name(m, n, &x);
		qpn_origin_pair(m, n, &x);
		ret = n->nr_probes ? qpn_origin_follow(m, n, &x) : 0;
	}
	free(x.taken);
	free(x.goes_on);
	return ret;
}

void qpn_origin_release(struct mode_state *m)
{
	free(m->takes);
	free(m->makes);
	free(m->model);
	free(m->heir);
}

void qpn_marks_join(struct qpn_sim *s, const struct mode_state *m, const uint32_t *taken)
{
	uint32_t nr = s->net->nr_probes;

	for (uint32_t t = 0; t < m->nr_taken; t++) {
		const double *from = &s->marks[(size_t)taken[t] * nr];
		double *to;

		if (m->heir[t] == NO_TOKEN)
			continue;
		to = &s->marks[(size_t)taken[m->heir[t]] * nr];
		for (uint32_t p = 0; p < nr; p++)
			if (to[p] < 0)
				to[p] = from[p];
	}
}

void qpn_marks_keep(struct qpn_sim *s, const struct mode_state *m, const uint32_t *taken)
{
	uint32_t nr = s->net->nr_probes;

	for (uint32_t t = 0; t < m->nr_taken; t++)
		memcpy(&s->kept[(size_t)t * nr], &s->marks[(size_t)taken[t] * nr],
		       nr * sizeof(*s->kept));
}

void qpn_marks_copy(struct qpn_sim *s, uint32_t token, uint32_t model)
{
	uint32_t nr = s->net->nr_probes;

	memcpy(&s->marks[(size_t)token * nr], &s->kept[(size_t)model * nr], nr * sizeof(*s->kept));
}
