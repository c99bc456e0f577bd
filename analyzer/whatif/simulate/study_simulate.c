// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/simulate/study_simulate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/whatif/simulate/device_study.h"
#include "analyzer/whatif/simulate/stored_runs.h"

/* Requests that are fewer than this share of the load are ignored. */
#define MATTERS_RATIO 0.02

_Static_assert((int)STUDY_TYPES == (int)DEVICE_NR_TYPES &&
		       (int)STUDY_POINTS == (int)DEVICE_NR_POINTS,
	       "studies and devices number types and points alike");

/*
 * The throughput is that of the load where it was recorded, less by as much as the simulated
 * requests took longer than the recorded ones.
 */
static void simulate_take(const struct study_simulate *sim, const struct load_facts *f,
			  const struct causal_plan *plan, const struct stored_result *r,
			  bool shared, struct study_answer *a)
{
	*a = (struct study_answer){ .s = { NAN, NAN },
				    .low = { NAN, NAN },
				    .high = { NAN, NAN },
				    .rate_per_s = f->rate_per_s *
						  stored_rate_ratio(plan, r, f->rate_per_s) *
						  (1 - (double)r->nr_covered / (double)plan->nr),
				    .rate_low_per_s = NAN,
				    .rate_high_per_s = NAN,
				    .limited_by = r->times.limit == DEVICE_PART_NONE
							  ? NULL
							  : device_part_names[r->times.limit] };
	for (unsigned int type = 0; type < STUDY_TYPES; type++)
		for (unsigned int point = 0; point < STUDY_POINTS; point++) {
			double own = sim->target->errors[type][point].log_half;
			double half = shared && !sim->errors_given
					      ? device_model_shared(own, (enum device_point)point)
					      : own;

			study_set_device_time(a, &r->times, type, point, half);
		}
}

/*
 * Replaces a time by that of another simulation, and keeps the relative width of its interval.
 * Raises *change to the factor between both times if the point is a mean.
 */
static void simulate_move(struct study_answer *a, unsigned int type, unsigned int point,
			  const struct study_time *to, double *change)
{
	const struct study_time now = study_get_time(a, type, point);
	double factor = to->s / now.s;
	struct study_time moved = *to;

	if (now.way && isfinite(factor) && factor > 0) {
		moved.low = now.low * factor;
		moved.high = now.high * factor;
		if (point == STUDY_MEAN)
			*change = fmax(*change, fmax(factor, 1 / factor));
	}
	study_set_time(a, type, point, &moved);
}

double study_simulate_at_least(const struct study_answer *less, double factor,
			       struct study_answer *a)
{
	double change = 1;

	for (unsigned int type = 0; type < STUDY_TYPES; type++)
		for (unsigned int point = 0; point < STUDY_POINTS; point++) {
			const struct study_time least = study_get_time(less, type, point);
			const struct study_time now = study_get_time(a, type, point);

			if (least.way && (!now.way || now.s < least.s))
				simulate_move(a, type, point, &least, &change);
		}
	a->rate_per_s = fmin(a->rate_per_s, factor * less->rate_per_s);
	return change;
}

double study_simulate_at_most(const struct study_answer *more, double factor,
			      struct study_answer *a)
{
	double change = 1;

	for (unsigned int type = 0; type < STUDY_TYPES; type++)
		for (unsigned int point = 0; point < STUDY_POINTS; point++) {
			const struct study_time most = study_get_time(more, type, point);
			const struct study_time now = study_get_time(a, type, point);

			if (most.way && now.way && now.s > most.s)
				simulate_move(a, type, point, &most, &change);
		}
	a->rate_per_s = fmax(a->rate_per_s, factor * more->rate_per_s);
	return change;
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
	sum->middle_s += r->middle_s;
	sum->nr_covered += r->nr_covered;
	sum->ended_early |= r->ended_early;
	sum->nr_beyond = sum->nr_beyond > r->nr_beyond ? sum->nr_beyond : r->nr_beyond;
	return 0;
}

/*
 * This struct is a case with its simulations. Of requests that are sent at the same instant the
 * first load's are served first, so that several loads are simulated in both orders.
 */
struct simulate_case {
	struct study_case *c;
	const struct causal_plan *plans[2][STUDY_LOADS_MAX];
	struct stored_result results[2][STUDY_LOADS_MAX];
};

/* Everything that is simulated for one question: the cases, and loads alone beside them. */
struct simulate_all {
	struct simulate_case *cases;		 /* owned */
	struct study_case lone[STUDY_LOADS_MAX]; /* loads alone that are no case themselves */
	struct stored_run *runs;		 /* owned */
	size_t nr_cases, nr_lone, nr_runs;
};

static void simulate_add_case(struct simulate_all *all, const struct study_simulate *sim,
			      struct study_case *c)
{
	struct simulate_case *at = &all->cases[all->nr_cases++];

	at->c = c;
	c->why[0] = 0;
	for (size_t i = 0; i < c->nr; i++) {
		at->plans[0][i] = &sim->replay->plans[c->loads[i]];
		at->plans[1][c->nr - 1 - i] = at->plans[0][i];
	}
	for (size_t order = 0; order < (c->nr > 1 ? 2 : 1); order++)
		all->runs[all->nr_runs++] =
			(struct stored_run){ at->plans[order], c->nr, sim->target,
					     at->results[order], 0 };
}

/* Adds the loads of cases with several loads, alone, where no case and no earlier question has. */
static void simulate_add_lone(struct simulate_all *all, const struct study_simulate *sim,
			      const struct study_case *cases, size_t nr)
{
	bool has[STUDY_LOADS_MAX];

	memcpy(has, sim->has_alone, sizeof(has));
	for (size_t i = 0; i < nr; i++)
		if (cases[i].nr == 1)
			has[cases[i].loads[0]] = true;
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < cases[i].nr; k++) {
			size_t load = cases[i].loads[k];
			struct study_case *lone = &all->lone[all->nr_lone];

			if (has[load])
				continue;
			has[load] = true;
			all->nr_lone++;
			*lone = (struct study_case){ .loads = { load }, .nr = 1 };
			simulate_add_case(all, sim, lone);
		}
}

/* Makes the answers of a case from its simulations. */
static int simulate_finish(struct study_simulate *sim, const struct study *s,
			   struct simulate_case *at)
{
	struct study_case *c = at->c;
	struct stored_result *results = at->results[0];
	bool shared = c->nr > 1 || (sim->copies && sim->copies[c->loads[0]] > 1);

	for (size_t i = 0; i < c->nr && c->nr > 1; i++) {
		int ret = simulate_add(&results[i], &at->results[1][c->nr - 1 - i]);

		if (ret)
			return ret;
		results[i].times.elapsed_s /= 2;
		results[i].middle_s /= 2;
		results[i].nr_covered /= 2;
	}
	for (size_t i = 0; i < c->nr; i++)
		simulate_take(sim, &s->loads[c->loads[i]].facts, at->plans[0][i], &results[i],
			      shared, &c->answers[i]);
	simulate_look(sim, s, c, results);
	if (c->nr == 1) {
		sim->alone[c->loads[0]] = c->answers[0];
		sim->has_alone[c->loads[0]] = true;
	}
	return 0;
}

static void simulate_all_release(struct simulate_all *all)
{
	for (size_t i = 0; i < all->nr_cases; i++)
		for (size_t k = 0; k < STUDY_LOADS_MAX; k++) {
			stored_result_release(&all->cases[i].results[0][k]);
			stored_result_release(&all->cases[i].results[1][k]);
		}
	free(all->cases);
	free(all->runs);
	free(all);
}

int study_simulate_cases(struct study_simulate *sim, const struct study *s,
			 struct study_case *cases, size_t nr, struct err *err)
{
	struct simulate_all *all = calloc(1, sizeof(*all));
	int ret = -ENOMEM;

	if (!all)
		return ret;
	all->cases = calloc(nr + STUDY_LOADS_MAX, sizeof(*all->cases));
	all->runs = calloc(2 * nr + STUDY_LOADS_MAX, sizeof(*all->runs));
	if (!all->cases || !all->runs)
		goto out;
	for (size_t i = 0; i < nr; i++)
		simulate_add_case(all, sim, &cases[i]);
	simulate_add_lone(all, sim, cases, nr);
	ret = stored_sim_run_all(all->runs, all->nr_runs, sim->seed, err);
	if (ret)
		goto out;
	for (size_t i = 0; i < all->nr_cases; i++) {
		ret = simulate_finish(sim, s, &all->cases[i]);
		if (ret)
			goto out;
	}
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < cases[i].nr && cases[i].nr > 1; k++)
			study_simulate_at_least(&sim->alone[cases[i].loads[k]], 1,
						&cases[i].answers[k]);
out:
	simulate_all_release(all);
	return ret;
}

int study_simulate_case(struct study_simulate *sim, const struct study *s, struct study_case *c,
			struct err *err)
{
	return study_simulate_cases(sim, s, c, 1, err);
}
