// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/sim_state.h"

int arch_sample_init(struct arch_sample *x, const struct arch_model *m)
{
	*x = (struct arch_sample){
		.nr_times = m->nr_scenarios + m->nr_measures + m->nr_passives,
		.nr_levels = 2 * m->nr_resources + 2 * m->nr_passives + m->nr_storages,
		.nr_resources = m->nr_resources,
		.nr_controls = m->nr_resources + m->nr_scenarios,
	};
	x->times = calloc((size_t)x->nr_times + 1, sizeof(*x->times));
	x->hists = calloc((size_t)x->nr_times + 1, sizeof(*x->hists));
	x->levels = calloc((size_t)x->nr_levels + 1, sizeof(*x->levels));
	x->done = calloc((size_t)x->nr_resources + 1, sizeof(*x->done));
	x->controls = calloc((size_t)x->nr_controls + 1, sizeof(*x->controls));
	if (x->times && x->hists && x->levels && x->done && x->controls)
		return 0;
	arch_sample_release(x);
	return -ENOMEM;
}

void arch_sample_release(struct arch_sample *x)
{
	for (uint32_t i = 0; x->hists && i < x->nr_times; i++)
		qhist_release(&x->hists[i]);
	free(x->times);
	free(x->hists);
	free(x->levels);
	free(x->done);
	free(x->controls);
	*x = (struct arch_sample){ 0 };
}

int arch_sample_merge(struct arch_sample *dst, const struct arch_sample *src)
{
	for (uint32_t i = 0; i < src->nr_times; i++)
		if (qhist_merge(&dst->hists[i], &src->hists[i]))
			return -ENOMEM;
	for (uint32_t i = 0; i < src->nr_times; i++) {
		dst->times[i].sum += src->times[i].sum;
		dst->times[i].squares += src->times[i].squares;
		dst->times[i].nr += src->times[i].nr;
	}
	for (uint32_t i = 0; i < src->nr_levels; i++)
		dst->levels[i] += src->levels[i];
	for (uint32_t i = 0; i < src->nr_resources; i++)
		dst->done[i] += src->done[i];
	for (uint32_t i = 0; i < src->nr_controls; i++)
		dst->controls[i] += src->controls[i];
	dst->duration += src->duration;
	dst->events += src->events;
	dst->asked += src->asked;
	dst->outside += src->outside;
	return 0;
}

int arch_sample_pieces(struct arch_sample *x, const struct arch_model *m, struct parallel_bytes *b)
{
	int ret = x->times ? 0 : arch_sample_init(x, m);

	if (ret)
		return ret;
	const struct {
		void *at;
		size_t size;
	} pieces[] = {
		{ &x->duration, sizeof(x->duration) },
		{ &x->events, sizeof(x->events) },
		{ &x->asked, sizeof(x->asked) },
		{ &x->outside, sizeof(x->outside) },
		{ x->times, x->nr_times * sizeof(*x->times) },
		{ x->levels, x->nr_levels * sizeof(*x->levels) },
		{ x->done, x->nr_resources * sizeof(*x->done) },
		{ x->controls, x->nr_controls * sizeof(*x->controls) },
	};

	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		ret = parallel_piece(b, pieces[i].at, pieces[i].size);
		if (ret)
			return ret;
	}
	for (uint32_t i = 0; i < x->nr_times; i++) {
		ret = qhist_pieces(&x->hists[i], b);
		if (ret)
			return ret;
	}
	return 0;
}

static void collect_resources(struct arch_sim *s, struct arch_sample *x)
{
	for (uint32_t i = 0; i < s->m->nr_resources; i++) {
		struct resource *r = &s->resources[i];

		resource_touch(s, i);
		x->levels[arch_level_busy(i)] = r->busy;
		x->levels[arch_level_jobs(i)] = r->in_system;
		x->done[i] = r->done;
		r->busy = r->in_system = r->done = 0;
	}
	for (uint32_t i = 0; i < s->m->nr_passives; i++) {
		struct passive *p = &s->passives[i];

		passive_touch(s, i);
		x->levels[arch_level_held(s->m, i)] = p->sum_held;
		x->levels[arch_level_waiting(s->m, i)] = p->sum_waiting;
		p->sum_held = p->sum_waiting = 0;
	}
}

static void collect_storages(struct arch_sim *s, struct arch_sample *x)
{
	for (uint32_t i = 0; i < s->m->nr_storages; i++) {
		struct storage_level *l = &s->storage_levels[i];
		uint64_t outside, asked;

		storage_state_outside(s->storages[i], &outside, &asked);
		x->levels[arch_level_storage(s->m, i)] = l->sum + (s->now - l->last) * l->nr;
		x->outside += outside - l->outside;
		x->asked += asked - l->asked;
		l->outside = outside;
		l->asked = asked;
		l->sum = 0;
		l->last = s->now;
	}
}

int arch_sim_collect(struct arch_sim *s, struct arch_sample *x)
{
	if (arch_sample_init(x, s->m))
		return -ENOMEM;
	memcpy(x->times, s->times, s->nr_times * sizeof(*x->times));
	memcpy(x->hists, s->hists, s->nr_times * sizeof(*x->hists));
	memcpy(x->controls, s->controls, x->nr_controls * sizeof(*x->controls));
	memset(s->controls, 0, x->nr_controls * sizeof(*s->controls));
	memset(s->times, 0, s->nr_times * sizeof(*s->times));
	memset(s->hists, 0, s->nr_times * sizeof(*s->hists));
	collect_resources(s, x);
	collect_storages(s, x);
	x->duration = s->now - s->last_collect;
	x->events = s->nr_events;
	s->last_collect = s->now;
	s->nr_events = 0;
	return 0;
}
