// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/models/arch/arch_load.h"
#include "analyzer/models/arch/arch_sim.h"
#include "analyzer/models/arch/arch_solve.h"

#define REPLICATIONS 16
#define EVENTS	     4000 /* events of a replication, after which no new user arrives */
/*
 * A load must exceed the capacity by this many standard errors: with 16 samples, one decision in a
 * thousand is wrong.
 */
#define ERRORS_APART 4
/* If a load differs from the capacity by less than this, the difference comes from rounding. */
#define ROUNDING 1e-9

static int load_no_memory(struct err *err)
{
	return err_set(err, ENOMEM, "out of memory");
}

/*
 * Adds the work per second of one replication of one scenario to load[]: resources, then passive
 * resources.
 */
static int load_replicate(double *load, const struct arch_model *m, uint32_t scenario,
			  uint64_t seed, struct err *err)
{
	const struct arch_scenario *u = &m->scenarios[scenario];
	struct arch_sim *sim = NULL;
	struct arch_sample x = { 0 };
	double last_arrival = 0, rounds, mean_time;
	int ret;

	ret = arch_sim_new_alone(&sim, m, scenario, seed, err);
	if (ret)
		return ret;
	ret = arch_sim_run(sim, INFINITY, EVENTS, err);
	if (ret)
		goto out;
	last_arrival = arch_sim_now(sim);
	ret = arch_sim_drain(sim, err);
	if (ret)
		goto out;
	if (arch_sim_collect(sim, &x)) {
		ret = load_no_memory(err);
		goto out;
	}
	rounds = x.times[scenario].nr;
	mean_time = isnan(u->mean_time) ? last_arrival / fmax(rounds, 1) : u->mean_time;
	if (!(rounds > 0) || !(mean_time > 0))
		goto out;
	for (uint32_t r = 0; r < m->nr_resources; r++)
		load[r] += (arch_sim_work(sim, r) - x.controls[r]) / rounds / mean_time;
	for (uint32_t p = 0; p < m->nr_passives; p++)
		load[m->nr_resources + p] += x.levels[arch_level_held(m, p)] / rounds / mean_time;
out:
	arch_sample_release(&x);
	arch_sim_free(sim);
	return ret;
}

static void load_judge(struct arch_load_item *item, const double *loads, size_t stride,
		       double capacity)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < REPLICATIONS; i++)
		sum += loads[i * stride];
	item->load = sum / REPLICATIONS;
	for (size_t i = 0; i < REPLICATIONS; i++)
		squares += pow(loads[i * stride] - item->load, 2);
	item->low = item->load - ERRORS_APART * sqrt(squares / (REPLICATIONS - 1) / REPLICATIONS);
	item->capacity = capacity;
	item->overloaded = item->low >= capacity * (1 - ROUNDING);
}

/*
 * The capacities of passive resources are expressions, so that a simulation that has begun must
 * evaluate them.
 */
static int load_judge_all(struct arch_load *l, const struct arch_model *m, const double *loads,
			  size_t stride, struct err *err)
{
	struct arch_sim *sim = NULL;
	int ret;

	ret = arch_sim_new(&sim, m, 1, err);
	if (ret)
		return ret;
	for (uint32_t r = 0; r < m->nr_resources; r++) {
		const struct arch_resource *x = &m->resources[r];

		load_judge(&l->resources[r], loads + r, stride,
			   x->policy == ARCH_DELAY ? INFINITY : x->servers);
		l->overloaded |= l->resources[r].overloaded;
	}
	for (uint32_t p = 0; p < m->nr_passives; p++) {
		load_judge(&l->passives[p], loads + m->nr_resources + p, stride,
			   arch_sim_capacity(sim, p));
		l->overloaded |= l->passives[p].overloaded;
	}
	arch_sim_free(sim);
	return 0;
}

int arch_load(struct arch_load *out, const struct arch_model *m, uint64_t seed, struct err *err)
{
	size_t stride = (size_t)m->nr_resources + m->nr_passives;
	double *loads = calloc(REPLICATIONS * stride + 1, sizeof(*loads));
	struct arch_load l = { 0 };
	int ret = 0;

	l.resources = calloc((size_t)m->nr_resources + 1, sizeof(*l.resources));
	l.passives = calloc((size_t)m->nr_passives + 1, sizeof(*l.passives));
	if (!loads || !l.resources || !l.passives)
		ret = load_no_memory(err);
	if (ret)
		goto out;
	for (uint32_t i = 0; i < m->nr_scenarios; i++) {
		if (!m->scenarios[i].open)
			continue;
		l.open = true;
		for (size_t k = 0; k < REPLICATIONS; k++) {
			ret = load_replicate(loads + k * stride, m, i, seed + k, err);
			if (ret)
				goto out;
		}
	}
	ret = load_judge_all(&l, m, loads, stride, err);
out:
	free(loads);
	if (ret)
		arch_load_release(&l);
	else
		*out = l;
	return ret;
}

char *arch_resource_name(const struct arch_model *m, uint32_t resource)
{
	const struct arch_resource *x = &m->resources[resource];
	char *name;

	if (asprintf(&name, "%s.%s",
		     x->container == ARCH_NONE ? "link" : m->containers[x->container].name,
		     x->name) < 0)
		return NULL;
	return name;
}

/* Appends a name, and frees it. */
static void load_append(char *text, size_t size, size_t *used, char *name,
			const struct arch_load_item *x)
{
	int len;

	if (*used < size) {
		len = snprintf(text + *used, size - *used, "%s%s: %.4g of %.4g", *used ? ", " : "",
			       name ? name : "?", x->load, x->capacity);
		*used += len > 0 ? (size_t)len : 0;
	}
	free(name);
}

void arch_load_describe(const struct arch_load *l, const struct arch_model *m, char *text,
			size_t size)
{
	size_t used = 0;

	text[0] = 0;
	for (uint32_t r = 0; l->resources && r < m->nr_resources; r++)
		if (l->resources[r].overloaded)
			load_append(text, size, &used, arch_resource_name(m, r), &l->resources[r]);
	for (uint32_t p = 0; l->passives && p < m->nr_passives; p++)
		if (l->passives[p].overloaded)
			load_append(text, size, &used,
				    arch_time_name(m, m->nr_scenarios + m->nr_measures + p),
				    &l->passives[p]);
}

void arch_load_release(struct arch_load *l)
{
	free(l->resources);
	free(l->passives);
	*l = (struct arch_load){ 0 };
}
