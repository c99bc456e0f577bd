// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/study_simulate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/whatif/device_study.h"

/* A percentile is used only if at least this many requests lie beyond it. */
#define BEYOND_LEAST 10
/* Requests that are fewer than this share of the load are ignored. */
#define MATTERS_RATIO 0.02

static const double simulate_quantiles[STUDY_POINTS] = { 0, 0.5, 0.95, 0.99 };

_Static_assert((int)STUDY_TYPES == (int)DEVICE_NR_TYPES &&
		       (int)STUDY_POINTS == (int)DEVICE_NR_POINTS,
	       "studies and devices number types and points alike");

static bool simulate_knows(uint64_t nr, int point)
{
	return point == STUDY_MEAN ? nr > 0
				   : (double)nr * (1 - simulate_quantiles[point]) >= BEYOND_LEAST;
}

static void simulate_take_time(struct study_answer *a, int type, int point,
			       const struct study_time *t)
{
	if (type == STUDY_FLUSH || point != STUDY_MEAN) {
		a->points[type][point] = *t;
		return;
	}
	a->s[type] = t->s;
	a->low[type] = t->low;
	a->high[type] = t->high;
}

static struct study_time simulate_time(const struct study_answer *a, int type, int point)
{
	if (type == STUDY_FLUSH || point != STUDY_MEAN)
		return a->points[type][point];
	return (struct study_time){ a->s[type], a->low[type], a->high[type],
				    isnan(a->s[type]) ? STUDY_UNKNOWN : STUDY_BY_MODEL };
}

/*
 * The throughput is that of the load where it was recorded, less by as much as the simulated
 * requests took longer than the recorded ones.
 */
static void simulate_take(const struct study_simulate *sim, const struct load_facts *f,
			  const struct causal_plan *plan, const struct stored_result *r,
			  struct study_answer *a)
{
	*a = (struct study_answer){ .s = { NAN, NAN },
				    .low = { NAN, NAN },
				    .high = { NAN, NAN },
				    .rate_per_s =
					    f->rate_per_s * plan->window_s / r->times.elapsed_s,
				    .rate_low_per_s = NAN,
				    .rate_high_per_s = NAN,
				    .limited_by = r->times.limit == DEVICE_PART_NONE
							  ? NULL
							  : device_part_names[r->times.limit] };
	for (int type = 0; type < STUDY_TYPES; type++)
		for (int point = 0; point < STUDY_POINTS; point++) {
			double half = sim->target->errors[type][point].log_half;
			double s = device_times_at(&r->times, (enum device_type)type,
						   (enum device_point)point);
			const struct study_time t = { s, s * exp(-half), s * exp(half),
						      STUDY_BY_MODEL };

			if (simulate_knows(r->times.nr[type], point))
				simulate_take_time(a, type, point, &t);
		}
}

void study_simulate_at_least(const struct study_answer *less, double factor, struct study_answer *a)
{
	for (int type = 0; type < STUDY_TYPES; type++)
		for (int point = 0; point < STUDY_POINTS; point++) {
			const struct study_time least = simulate_time(less, type, point);
			const struct study_time now = simulate_time(a, type, point);

			if (least.way && (!now.way || now.s < least.s))
				simulate_take_time(a, type, point, &least);
		}
	a->rate_per_s = fmin(a->rate_per_s, factor * less->rate_per_s);
}

void study_simulate_at_most(const struct study_answer *more, double factor, struct study_answer *a)
{
	for (int type = 0; type < STUDY_TYPES; type++)
		for (int point = 0; point < STUDY_POINTS; point++) {
			const struct study_time most = simulate_time(more, type, point);
			const struct study_time now = simulate_time(a, type, point);

			if (most.way && now.way && now.s > most.s)
				simulate_take_time(a, type, point, &most);
		}
	a->rate_per_s = fmax(a->rate_per_s, factor * more->rate_per_s);
}

static void simulate_look(const struct study_simulate *sim, const struct study *s,
			  struct study_case *c, const struct stored_result *results)
{
	for (size_t i = 0; i < c->nr && !c->why[0]; i++) {
		const struct causal_plan *plan = &sim->replay->plans[c->loads[i]];
		const struct profile *p = &s->loads[c->loads[i]].group->whole;
		char why[256];

		if (!device_study_outside(plan, sim->target, why) &&
		    (double)results[i].nr_beyond > MATTERS_RATIO * (double)plan->nr)
			snprintf(why, sizeof(why),
				 "more requests are under way than %.0f, the most that the "
				 "campaign measured",
				 sim->target->domain.concurrency);
		else if (!why[0] && results[i].ended_early)
			snprintf(why, sizeof(why),
				 "it is so short that most of the other loads was simulated "
				 "without it");
		if (why[0])
			snprintf(c->why, sizeof(c->why), "%.60s %.60s: %.200s", p->host,
				 p->device_name, why);
	}
}

/* Adds the times of another simulation; the elapsed time becomes the sum of both. */
static int simulate_add(struct stored_result *sum, const struct stored_result *r)
{
	for (int type = 0; type < DEVICE_NR_TYPES; type++) {
		int ret = histogram_merge(&sum->times.response[type], &r->times.response[type]);

		if (ret)
			return ret;
	}
	sum->times.elapsed_s += r->times.elapsed_s;
	sum->ended_early |= r->ended_early;
	sum->nr_beyond = sum->nr_beyond > r->nr_beyond ? sum->nr_beyond : r->nr_beyond;
	return 0;
}

/* Simulates the loads in the opposite order, and adds this to the results. */
static int simulate_reverse(const struct study_simulate *sim,
			    const struct causal_plan *const *plans, size_t nr,
			    struct stored_result *results, struct err *err)
{
	const struct causal_plan *reverse[STUDY_LOADS_MAX];
	struct stored_result others[STUDY_LOADS_MAX];
	int ret;

	for (size_t i = 0; i < nr; i++)
		reverse[i] = plans[nr - 1 - i];
	ret = stored_sim_run(reverse, nr, sim->target, sim->seed, others, err);
	for (size_t i = 0; i < nr && !ret; i++)
		ret = simulate_add(&results[i], &others[nr - 1 - i]);
	for (size_t i = 0; i < nr; i++)
		stored_result_release(&others[i]);
	return ret;
}

/*
 * Simulates the loads of c on one device. Of requests that are sent at the same instant the first
 * load's are served first, so that several loads are simulated in both orders.
 */
static int simulate_run(const struct study_simulate *sim, const struct study *s,
			struct study_case *c, struct err *err)
{
	const struct causal_plan *plans[STUDY_LOADS_MAX];
	struct stored_result results[STUDY_LOADS_MAX];
	int ret;

	for (size_t i = 0; i < c->nr; i++)
		plans[i] = &sim->replay->plans[c->loads[i]];
	ret = stored_sim_run(plans, c->nr, sim->target, sim->seed, results, err);
	if (!ret && c->nr > 1)
		ret = simulate_reverse(sim, plans, c->nr, results, err);
	if (ret)
		goto out;
	for (size_t i = 0; i < c->nr; i++) {
		if (c->nr > 1)
			results[i].times.elapsed_s /= 2;
		simulate_take(sim, &s->loads[c->loads[i]].facts, plans[i], &results[i],
			      &c->answers[i]);
	}
	simulate_look(sim, s, c, results);
out:
	for (size_t i = 0; i < c->nr; i++)
		stored_result_release(&results[i]);
	return ret;
}

static int simulate_alone(struct study_simulate *sim, const struct study *s, size_t load,
			  struct err *err)
{
	struct study_case one = { .loads = { load }, .nr = 1 };
	int ret = sim->has_alone[load] ? 0 : simulate_run(sim, s, &one, err);

	if (ret || sim->has_alone[load])
		return ret;
	sim->alone[load] = one.answers[0];
	sim->has_alone[load] = true;
	return 0;
}

int study_simulate_case(struct study_simulate *sim, const struct study *s, struct study_case *c,
			struct err *err)
{
	int ret;

	c->why[0] = 0;
	ret = simulate_run(sim, s, c, err);
	if (ret)
		return ret;
	if (c->nr == 1) {
		sim->alone[c->loads[0]] = c->answers[0];
		sim->has_alone[c->loads[0]] = true;
		return 0;
	}
	for (size_t i = 0; i < c->nr; i++) {
		ret = simulate_alone(sim, s, c->loads[i], err);
		if (ret)
			return ret;
		study_simulate_at_least(&sim->alone[c->loads[i]], 1, &c->answers[i]);
	}
	return 0;
}
