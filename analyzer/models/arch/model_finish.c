// SPDX-License-Identifier: Apache-2.0
/* This file computes the derived members of a model, and checks the invariants of all models. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_model.h"
#include "analyzer/models/arch/storage.h"

/*
 * This struct is a walk over everything that a scenario can reach: behaviours, each with the
 * instance that runs it.
 */
struct walk {
	struct arch_model *m;
	struct err *err;
	uint8_t *seen; /* instance * nr_behaviours + behaviour: 1 on the present path, 2 done */
};

static int walk_behaviour(struct walk *w, uint32_t instance, uint32_t behaviour);

static void derive_means(struct arch_model *m)
{
	for (uint32_t i = 0; i < m->nr_scenarios; i++)
		m->scenarios[i].mean_time =
			m->scenarios[i].time ? stoex_mean(m->scenarios[i].time) : NAN;
	for (uint32_t i = 0; i < m->nr_behaviours; i++)
		for (uint32_t k = 0; k < m->behaviours[i].nr; k++) {
			struct arch_action *a = &m->behaviours[i].actions[k];

			if (a->kind == ARCH_DEMAND)
				a->demand.mean = stoex_mean(a->demand.amount);
		}
}

static int no_memory(struct err *err)
{
	return err_set(err, ENOMEM, "out of memory");
}

static int derive_operations(struct arch_model *m, struct err *err)
{
	for (uint32_t c = 0; c < m->nr_components; c++) {
		struct arch_component *k = &m->components[c];

		k->behaviour_of = malloc(((size_t)m->nr_signatures + 1) * sizeof(uint32_t));
		if (!k->behaviour_of)
			return no_memory(err);
		for (uint32_t i = 0; i < m->nr_signatures; i++)
			k->behaviour_of[i] = ARCH_NONE;
		for (uint32_t i = 0; i < k->nr_operations; i++)
			k->behaviour_of[k->operations[i].signature] = k->operations[i].behaviour;
	}
	return 0;
}

static int add_measure(struct arch_model *m, uint32_t instance, bool io, const char *owner,
		       const char *name, struct err *err)
{
	struct arch_measure *x = ARCH_ADD(m->measures, m->nr_measures);

	if (!x || asprintf(&x->name, "%s.%s", owner, name) < 0) {
		if (x)
			x->name = NULL;
		return no_memory(err);
	}
	x->instance = instance;
	x->io = io;
	for (uint32_t i = 0; i + 1 < m->nr_measures; i++) {
		char *longer;

		if (strcmp(m->measures[i].name, x->name))
			continue;
		if (asprintf(&longer, "%s#%u", x->name, m->nr_measures) < 0)
			return no_memory(err);
		free(x->name);
		x->name = longer;
		break;
	}
	return 0;
}

/* Visits each behaviour once, however many paths lead to it. */
static int derive_io(struct arch_model *m, uint32_t behaviour, const char *component, bool *seen,
		     struct err *err)
{
	struct arch_behaviour *b = &m->behaviours[behaviour];

	if (seen[behaviour])
		return 0;
	seen[behaviour] = true;

	for (uint32_t i = 0; i < b->nr; i++) {
		struct arch_action *a = &b->actions[i];
		char line[32];
		uint32_t body;
		int ret = 0;

		if (a->kind == ARCH_IO) {
			snprintf(line, sizeof(line), "io:%u", a->at.line);
			a->io.measure = m->nr_measures;
			ret = add_measure(m, ARCH_NONE, true, component, a->name ? a->name : line,
					  err);
		}
		if (ret)
			return ret;
		for (uint32_t k = 0; (body = arch_action_body(a, k)) != ARCH_NONE; k++) {
			ret = derive_io(m, body, component, seen, err);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static int derive_measures(struct arch_model *m, struct err *err)
{
	bool *seen;
	int ret = 0;

	for (uint32_t i = 0; i < m->nr_instances; i++) {
		struct arch_instance *x = &m->instances[i];
		const struct arch_component *c = &m->components[x->component];

		x->first_passive = m->nr_passives;
		m->nr_passives += c->nr_passives;
		x->first_measure = m->nr_measures;
		for (uint32_t k = 0; k < c->nr_operations; k++)
			if (add_measure(m, i, false, x->name,
					m->signatures[c->operations[k].signature].name, err))
				return -ENOMEM;
	}
	seen = calloc((size_t)m->nr_behaviours + 1, sizeof(*seen));
	if (!seen)
		return no_memory(err);
	for (uint32_t c = 0; c < m->nr_components; c++) {
		for (uint32_t k = 0; k < m->components[c].nr_operations; k++) {
			ret = derive_io(m, m->components[c].operations[k].behaviour,
					m->components[c].name, seen, err);
			if (ret)
				goto out;
		}
	}
out:
	free(seen);
	return ret;
}

static int derive_environment(struct arch_model *m, struct err *err)
{
	m->resource_of = malloc(((size_t)m->nr_containers * m->nr_types + 1) * sizeof(uint32_t));
	m->link_of = malloc(((size_t)m->nr_containers * m->nr_containers + 1) * sizeof(uint32_t));
	if (!m->resource_of || !m->link_of)
		return no_memory(err);
	for (uint32_t c = 0; c < m->nr_containers; c++) {
		for (uint32_t t = 0; t < m->nr_types; t++)
			m->resource_of[c * m->nr_types + t] = arch_resource_for(m, c, t);
		for (uint32_t k = 0; k < m->nr_containers; k++)
			m->link_of[c * m->nr_containers + k] = ARCH_NONE;
	}
	for (uint32_t l = 0; l < m->nr_links; l++)
		for (uint32_t i = 0; i < m->links[l].nr; i++)
			for (uint32_t k = 0; k < m->links[l].nr; k++)
				m->link_of[m->links[l].containers[i] * m->nr_containers +
					   m->links[l].containers[k]] = l;
	return 0;
}

/* Checks the behaviours inside an action. */
static int walk_bodies(struct walk *w, uint32_t instance, const struct arch_action *a)
{
	uint32_t body;
	int ret;

	for (uint32_t i = 0; (body = arch_action_body(a, i)) != ARCH_NONE; i++) {
		ret = walk_behaviour(w, instance, body);
		if (ret)
			return ret;
	}
	return 0;
}

static int check_branch(struct walk *w, const struct arch_action *a)
{
	double sum = 0;

	for (uint32_t i = 0; i < a->branch.nr; i++) {
		sum += a->branch.cases[i].probability;
		if (!a->branch.guarded && !(a->branch.cases[i].probability >= 0))
			return arch_error(w->m, a->at, w->err, "a probability below 0");
	}
	if (!a->branch.nr)
		return arch_error(w->m, a->at, w->err, "a branch without cases");
	if (!a->branch.guarded && fabs(sum - 1) > 1e-6)
		return arch_error(w->m, a->at, w->err,
				  "the probabilities of a branch sum to %.9g: expected 1", sum);
	return 0;
}

static const char *instance_name(const struct walk *w, uint32_t instance)
{
	return instance == ARCH_NONE ? "the scenario" : w->m->instances[instance].name;
}

static int check_link(struct walk *w, uint32_t from, uint32_t to, const struct arch_action *a)
{
	const struct arch_model *m = w->m;
	uint32_t x = m->instances[from].container, y = m->instances[to].container;

	if ((!m->nr_links && !m->needs_links) || x == y ||
	    m->link_of[x * m->nr_containers + y] != ARCH_NONE)
		return 0;
	for (uint32_t c = x; c != ARCH_NONE; c = m->containers[c].parent)
		if (c == y)
			return 0;
	for (uint32_t c = y; c != ARCH_NONE; c = m->containers[c].parent)
		if (c == x)
			return 0;
	return arch_error(m, a->at, w->err, "%s calls %s, but no link joins %s and %s",
			  m->instances[from].name, m->instances[to].name, m->containers[x].name,
			  m->containers[y].name);
}

static int check_target(struct walk *w, uint32_t instance, const struct arch_action *a,
			uint32_t target)
{
	const struct arch_model *m = w->m;
	uint32_t behaviour;
	int ret = instance == ARCH_NONE ? 0 : check_link(w, instance, target, a);

	if (ret)
		return ret;
	behaviour = m->components[m->instances[target].component].behaviour_of[a->call.signature];
	if (behaviour == ARCH_NONE)
		return arch_error(m, a->at, w->err,
				  "%s calls %s of %s, which has no such operation",
				  instance_name(w, instance), m->signatures[a->call.signature].name,
				  m->instances[target].name);
	return walk_behaviour(w, target, behaviour);
}

static int check_call(struct walk *w, uint32_t instance, const struct arch_action *a)
{
	const struct arch_model *m = w->m;
	const struct arch_signature *s;
	uint32_t target = a->call.role, replicas;
	int ret = 0;

	if (a->call.signature >= m->nr_signatures)
		return arch_error(m, a->at, w->err, "a call of no operation");
	s = &m->signatures[a->call.signature];
	if (instance != ARCH_NONE) {
		const struct arch_component *c = &m->components[m->instances[instance].component];

		if (a->call.role >= c->nr_roles)
			return arch_error(m, a->at, w->err, "a call through no role");
		target = m->instances[instance].wires[a->call.role];
		if (target == ARCH_NONE)
			return arch_error(m, a->at, w->err,
					  "%s calls %s, but its role \"%s\" is not connected",
					  instance_name(w, instance), s->name,
					  c->roles[a->call.role].name);
	}
	if (target >= m->nr_instances)
		return arch_error(m, a->at, w->err, "a call of no instance");
	replicas = m->instances[target].replicas > 1 ? m->instances[target].replicas : 1;
	for (uint32_t i = 0; i < replicas; i++) {
		ret = check_target(w, instance, a, target + i);
		if (ret)
			return ret;
	}
	return 0;
}

static int check_io(struct walk *w, uint32_t instance, const struct arch_action *a)
{
	const struct arch_model *m = w->m;
	uint32_t container = m->instances[instance].container;
	uint32_t storage = arch_storage_for(m, container);
	bool read = a->io.direction == ARCH_READ;
	const struct arch_storage_model *model;

	if (storage == ARCH_NONE)
		return arch_error(m, a->at, w->err, "%s runs in %s, which has no storage",
				  m->instances[instance].name, m->containers[container].name);
	model = m->storages[storage].model;
	if (!model || (model->answers && !model->answers(model, read)))
		return arch_error(m, a->at, w->err, "%s %s, but storage %s has no I/O model of %s",
				  m->instances[instance].name, read ? "reads" : "writes",
				  m->storages[storage].name, read ? "reads" : "writes");
	return 0;
}

static int check_demand(struct walk *w, uint32_t instance, const struct arch_action *a)
{
	const struct arch_model *m = w->m;
	uint32_t container = instance == ARCH_NONE ? ARCH_NONE : m->instances[instance].container;

	if (instance == ARCH_NONE) {
		/* Users have no processors, so that they can only wait. */
		if (a->kind == ARCH_DEMAND && !strcmp(m->types[a->demand.type].name, "delay"))
			return 0;
		return arch_error(m, a->at, w->err,
				  "a scenario holds calls, loops, branches, "
				  "delays: no other demands");
	}
	if (a->kind == ARCH_DEMAND &&
	    m->resource_of[container * m->nr_types + a->demand.type] == ARCH_NONE)
		return arch_error(m, a->at, w->err, "%s runs in %s, which has no resource \"%s\"",
				  m->instances[instance].name, m->containers[container].name,
				  m->types[a->demand.type].name);
	return a->kind == ARCH_IO ? check_io(w, instance, a) : 0;
}

static int check_action(struct walk *w, uint32_t instance, const struct arch_action *a)
{
	int ret = 0;

	switch (a->kind) {
	case ARCH_DEMAND:
	case ARCH_IO:
		return check_demand(w, instance, a);
	case ARCH_CALL:
		return check_call(w, instance, a);
	case ARCH_LOOP:
	case ARCH_BODY:
	case ARCH_FORK:
		return walk_bodies(w, instance, a);
	case ARCH_BRANCH:
		ret = check_branch(w, a);
		return ret ? ret : walk_bodies(w, instance, a);
	case ARCH_ACQUIRE:
	case ARCH_RELEASE:
		if (instance == ARCH_NONE ||
		    a->passive >= w->m->components[w->m->instances[instance].component].nr_passives)
			return arch_error(w->m, a->at, w->err,
					  "a passive resource %s does not have",
					  instance_name(w, instance));
		return 0;
	case ARCH_SET:
		return 0;
	}
	return 0;
}

static int walk_behaviour(struct walk *w, uint32_t instance, uint32_t behaviour)
{
	/* Scenarios are treated as one further instance. */
	uint32_t row = instance == ARCH_NONE ? w->m->nr_instances : instance;
	uint8_t *seen = &w->seen[(size_t)row * w->m->nr_behaviours + behaviour];
	const struct arch_behaviour *b = &w->m->behaviours[behaviour];

	if (*seen == 2)
		return 0;
	if (*seen == 1)
		return arch_error(w->m,
				  b->nr ? b->actions[0].at : (struct arch_place){ ARCH_NONE, 0 },
				  w->err, "a cycle of calls leads back to %s",
				  instance_name(w, instance));
	*seen = 1;
	for (uint32_t i = 0; i < b->nr; i++) {
		int ret = check_action(w, instance, &b->actions[i]);

		if (ret)
			return ret;
	}
	*seen = 2;
	return 0;
}

static int check_scenario(struct walk *w, const struct arch_scenario *s)
{
	double v;

	if (!s->open && stoex_is_constant(s->population, &v) && !(v >= 1))
		return arch_error(w->m, s->at, w->err,
				  "scenario %s: expected a population of 1 or more, got %g",
				  s->name, v);
	if (stoex_is_constant(s->time, &v) && !(s->open ? v > 0 : v >= 0))
		return arch_error(w->m, s->at, w->err, "scenario %s: expected %s, got %g", s->name,
				  s->open ? "a time above 0 between arrivals"
					  : "a think time of 0 or more",
				  v);
	return walk_behaviour(w, ARCH_NONE, s->behaviour);
}

static int model_finish_check(struct arch_model *m, struct err *err)
{
	struct walk w = { .m = m, .err = err };
	int ret = 0;

	if (!m->nr_scenarios)
		return err_set(err, EINVAL, "%s: no usage scenario: expected at least one",
			       m->nr_files ? m->files[0] : "-");
	w.seen = calloc((size_t)m->nr_instances + 1, m->nr_behaviours);
	if (!w.seen)
		return no_memory(err);
	for (uint32_t i = 0; i < m->nr_scenarios; i++) {
		ret = check_scenario(&w, &m->scenarios[i]);
		if (ret)
			goto out;
	}
out:
	free(w.seen);
	return ret;
}

int arch_finish(struct arch_model *m, struct err *err)
{
	int ret = derive_operations(m, err);

	derive_means(m);
	if (ret)
		return ret;
	ret = derive_measures(m, err);
	if (ret)
		return ret;
	ret = derive_environment(m, err);
	return ret ? ret : model_finish_check(m, err);
}
