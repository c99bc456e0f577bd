// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "analyzer/models/solve/net_solve.h"

int net_sweep_begin(struct net_solve *s)
{
	if (s->as_list) {
		s->points = json_array();
		return s->points ? 0 : -ENOMEM;
	}
	s->answer = answer_new("blkcast.qpn-sweep/1", s->path);
	s->places = sweep_table(&s->values, s->answer, "Places", solution_place_columns,
				SOLUTION_PLACE_COLUMNS);
	s->probes = sweep_table(&s->values, s->answer, "Probes", solution_probe_columns,
				SOLUTION_PROBE_COLUMNS);
	return s->answer ? 0 : -ENOMEM;
}

int net_sweep_set(const struct net_solve *s, size_t point, struct net_settings *settings)
{
	int ret = 0;

	for (size_t i = 0; i < s->values.nr && !ret; i++)
		ret = net_settings_add(settings, s->values.items[i].name,
				       sweep_value(&s->values, i, point));
	return ret;
}

static int net_sweep_add_json(struct net_solve *s, const struct net *n, const struct estimate *e,
			      const struct solution_facts *f)
{
	struct answer *a = solution_answer(n, e, f);
	int ret;

	sweep_member(&s->values, s->point, a);
	ret = json_array_append_new(s->points, answer_json(a)) ? -ENOMEM : 0;
	answer_free(a);
	return ret;
}

static int net_sweep_put(struct net_solve *s, const struct net *n, const struct estimate *e,
			 const struct solution_facts *f)
{
	if (s->points)
		return net_sweep_add_json(s, n, e, f);
	for (uint32_t i = 0; i < n->nr_slots; i++) {
		sweep_cells(&s->values, s->point, s->places);
		solution_place_cells(s->places, n, e, i);
	}
	for (uint32_t i = 0; i < n->nr_probes; i++) {
		sweep_cells(&s->values, s->point, s->probes);
		solution_probe_cells(s->probes, n, e, i);
	}
	return 0;
}

/* This struct is a solution on its way to the record or from there. */
struct net_recorded {
	struct estimate *e;
	struct solution_facts *f;
};

static void net_recorded_walk(void *result, struct checkpoint_values *v)
{
	const struct net_recorded *r = result;
	bool is_approximate = !strcmp(r->f->method, net_methods[NET_MVA_APPROXIMATE]);

	checkpoint_values_flag(v, &is_approximate);
	if (is_approximate)
		r->f->method = net_methods[NET_MVA_APPROXIMATE];
	checkpoint_values_count(v, &r->f->events);
	checkpoint_values_put(v, &r->f->seconds, 1);
	checkpoint_values_put(v, &r->f->model_time, 1);
	checkpoint_values_put(v, &r->f->warm_up, 1);
	checkpoint_values_put(v, &r->f->precision, 1);
	estimate_walk(r->e, v);
}

int net_sweep_add(struct net_solve *s, const struct net *n, struct estimate *e,
		  struct solution_facts *f, struct err *err)
{
	struct net_recorded r = { e, f };
	int ret = 0;

	/* A net without a steady state says why, so that it is looked at again. */
	if (!f->no_steady_state)
		ret = sweep_record_save(&s->record, s->point, net_recorded_walk, &r, err);
	return ret ? ret : net_sweep_put(s, n, e, f);
}

int net_sweep_recall(struct net_solve *s, const struct net *n, const struct solution_facts *known)
{
	struct solution_facts f = *known;
	struct estimate e;
	struct net_recorded r = { &e, &f };
	int ret;

	if (!s->record.file)
		return 0;
	if (estimate_make_unknown(&e, n))
		return -ENOMEM;
	ret = sweep_record_find(&s->record, s->point, net_recorded_walk, &r);
	if (ret)
		ret = net_sweep_put(s, n, &e, &f) ? -ENOMEM : 1;
	estimate_release(&e);
	return ret;
}
