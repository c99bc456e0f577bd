// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/sim/qpn_state.h"

int qpn_sample_init(struct qpn_sample *x, const struct net *n)
{
	*x = (struct qpn_sample){ .nr_slots = n->nr_slots, .nr_probes = n->nr_probes };
	x->slots = calloc((size_t)n->nr_slots + 1, sizeof(*x->slots));
	x->probes = calloc((size_t)n->nr_probes + 1, sizeof(*x->probes));
	x->residence = calloc((size_t)n->nr_slots + 1, sizeof(*x->residence));
	x->times = calloc((size_t)n->nr_probes + 1, sizeof(*x->times));
	if (x->slots && x->probes && x->residence && x->times)
		return 0;
	qpn_sample_release(x);
	return -ENOMEM;
}

void qpn_sample_release(struct qpn_sample *x)
{
	for (uint32_t i = 0; x->residence && i < x->nr_slots; i++)
		qhist_release(&x->residence[i]);
	for (uint32_t i = 0; x->times && i < x->nr_probes; i++)
		qhist_release(&x->times[i]);
	free(x->slots);
	free(x->probes);
	free(x->residence);
	free(x->times);
	*x = (struct qpn_sample){ 0 };
}

static void add_slot(struct slot_sums *dst, const struct slot_sums *src)
{
	dst->population += src->population;
	dst->in_queue += src->in_queue;
	dst->residence += src->residence;
	dst->queueing += src->queueing;
	dst->busy += src->busy;
	dst->left += src->left;
	dst->served += src->served;
}

void qpn_sample_merge_sums(struct qpn_sample *dst, const struct qpn_sample *src)
{
	dst->duration += src->duration;
	dst->events += src->events;
	for (uint32_t i = 0; i < src->nr_slots; i++)
		add_slot(&dst->slots[i], &src->slots[i]);
	for (uint32_t i = 0; i < src->nr_probes; i++) {
		dst->probes[i].time += src->probes[i].time;
		dst->probes[i].nr += src->probes[i].nr;
	}
}

int qpn_sample_merge(struct qpn_sample *dst, const struct qpn_sample *src)
{
	qpn_sample_merge_sums(dst, src);
	for (uint32_t i = 0; i < src->nr_slots; i++)
		if (qhist_merge(&dst->residence[i], &src->residence[i]))
			return -ENOMEM;
	for (uint32_t i = 0; i < src->nr_probes; i++)
		if (qhist_merge(&dst->times[i], &src->times[i]))
			return -ENOMEM;
	return 0;
}

int qpn_sample_pieces(struct qpn_sample *x, const struct net *n, struct parallel_bytes *b)
{
	int ret = x->slots ? 0 : qpn_sample_init(x, n);

	if (!ret)
		ret = parallel_piece(b, &x->duration, sizeof(x->duration));
	if (!ret)
		ret = parallel_piece(b, &x->events, sizeof(x->events));
	if (!ret)
		ret = parallel_piece(b, x->slots, x->nr_slots * sizeof(*x->slots));
	if (!ret)
		ret = parallel_piece(b, x->probes, x->nr_probes * sizeof(*x->probes));
	for (uint32_t i = 0; i < x->nr_slots && !ret; i++)
		ret = qhist_pieces(&x->residence[i], b);
	for (uint32_t i = 0; i < x->nr_probes && !ret; i++)
		ret = qhist_pieces(&x->times[i], b);
	return ret;
}

int qpn_sim_collect(struct qpn_sim *s, struct qpn_sample *out)
{
	struct qpn_sample x;
	uint64_t lost = 0;

	if (qpn_sample_init(&x, s->net))
		return -ENOMEM;
	x.duration = s->now - s->collected;
	x.events = s->nr_events - s->nr_collected;
	for (uint32_t i = 0; i < x.nr_slots; i++) {
		slot_touch(s, &s->slots[i]);
		x.slots[i] = s->slots[i].sums;
		s->slots[i].sums = (struct slot_sums){ 0 };
		x.residence[i] = s->residence[i];
		lost += x.residence[i].lost;
		s->residence[i] = (struct qhist){ 0 };
	}
	for (uint32_t i = 0; i < x.nr_probes; i++) {
		x.probes[i] = s->probes[i];
		s->probes[i] = (struct probe_sums){ 0 };
		x.times[i] = s->times[i];
		lost += x.times[i].lost;
		s->times[i] = (struct qhist){ 0 };
	}
	s->collected = s->now;
	s->nr_collected = s->nr_events;
	if (lost) {
		qpn_sample_release(&x);
		return -ENOMEM;
	}
	*out = x;
	return 0;
}
