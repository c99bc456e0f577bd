// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_solve.h"
#include "analyzer/models/solve/replications.h"

#define BATCHES 32
#define LEAST_WARM_UP \
	2 /* batches: controls leave so little spread that what is left of a start shows */
#define PILOT_EVENTS	   20000
#define REPLICATION_EVENTS 200000
#define MAX_GROWTH	   4 /* factor by which one round may raise the number of replications */
#define MAX_CONTROLS	   8
/*
 * GROWTH is a limit of the ratio of the jobs that wait at the end to those that waited at the half.
 * The ratio is 2 for linear growth, and 1.4 for growth with the square root of time.
 */
#define GROWTH	      1.6
#define GROWTH_ERRORS 4	 /* number of standard errors by which the ratio must be exceeded */
#define GROWTH_LEAST  20 /* fewer waiting jobs do not count as a growing queue */

/* This struct is a solution, from which the runs take the model. */
struct solve {
	const struct arch_model *m;
	struct arch_solution *out;
};

SAMPLE_GETTER(double, arch_solve_level, arch_sample, x->levels[index] / x->duration)
SAMPLE_GETTER(double, arch_solve_time_sum, arch_sample, x->times[index].sum)
SAMPLE_GETTER(double, arch_solve_time_nr, arch_sample, x->times[index].nr)
SAMPLE_GETTER(double, arch_solve_duration, arch_sample, x->duration)
SAMPLE_GETTER(double, arch_solve_control, arch_sample, x->controls[index])
SAMPLE_GETTER(const struct qhist *, arch_solve_hist, arch_sample, &x->hists[index])

static int no_memory(struct err *err)
{
	return err_set(err, ENOMEM, "out of memory");
}

static size_t warm_up(const struct arch_sample *x, size_t nr)
{
	struct samples s = { .items = x, .nr = nr };
	size_t most = LEAST_WARM_UP;

	for (; s.index < x->nr_levels; s.index++) {
		size_t d = interval_truncation(&s, arch_solve_level);

		most = d > most ? d : most;
	}
	return most;
}

/*
 * Returns the mean number of jobs that wait for a server, a unit or a storage, over batches [from,
 * to).
 */
static double arch_solve_waiting(const struct arch_model *m, const struct arch_sample *x,
				 size_t from, size_t to)
{
	double sum = 0, time = 0;

	for (size_t i = from; i < to; i++) {
		for (uint32_t r = 0; r < m->nr_resources; r++)
			if (m->resources[r].policy != ARCH_DELAY)
				sum += x[i].levels[arch_level_jobs(r)] -
				       x[i].levels[arch_level_busy(r)];
		for (uint32_t p = 0; p < m->nr_passives; p++)
			sum += x[i].levels[arch_level_waiting(m, p)];
		for (uint32_t s = 0; s < m->nr_storages; s++)
			sum += x[i].levels[arch_level_storage(m, s)];
		time += x[i].duration;
	}
	return time > 0 ? sum / time : 0;
}

/* Makes one run of BATCHES batches. The sample gets the batches after the warm-up. */
static int arch_solve_run(const struct replications *d, struct replication *out, void *sample,
			  uint64_t seed, struct err *err)
{
	const struct arch_model *m = ((const struct solve *)d->ctx)->m;
	struct arch_sample batches[BATCHES] = { 0 };
	struct arch_sim *sim = NULL;
	size_t nr = 0, from;
	int ret = arch_sim_new(&sim, m, seed, err);

	if (ret)
		goto out;
	while (nr < BATCHES) {
		ret = arch_sim_run(sim, d->length * (double)(nr + 1) / BATCHES, UINT64_MAX, err);
		if (ret)
			goto out;
		if (arch_sim_collect(sim, &batches[nr++])) {
			ret = no_memory(err);
			goto out;
		}
		out->events += batches[nr - 1].events;
	}
	from = warm_up(batches, BATCHES);
	out->waiting_half = arch_solve_waiting(m, batches, BATCHES / 2 - BATCHES / 8, BATCHES / 2);
	out->waiting_end = arch_solve_waiting(m, batches, BATCHES - BATCHES / 8, BATCHES);
	out->warm_up = d->length * (double)from / BATCHES;
	ret = arch_sample_init(sample, m);
	for (size_t i = from; !ret && i < BATCHES; i++)
		ret = arch_sample_merge(sample, &batches[i]);
	if (ret)
		no_memory(err);
out:
	for (size_t i = 0; i < nr; i++)
		arch_sample_release(&batches[i]);
	arch_sim_free(sim);
	return ret;
}

static int arch_solve_pieces(const struct replications *d, void *sample, struct parallel_bytes *b)
{
	const struct solve *s = d->ctx;

	return arch_sample_pieces(sample, s->m, b);
}

static void arch_solve_release(void *sample)
{
	arch_sample_release(sample);
}

static double arch_solve_growth(const struct replication *r)
{
	return r->waiting_end - GROWTH * r->waiting_half;
}

/* Decides from the replications of one round whether queues grow without end. */
static bool arch_solve_grows(const struct replications *d, const struct arch_model *m)
{
	double sum = 0, squares = 0, end = 0, mean, nr = (double)d->nr_round;
	bool open = false;

	for (uint32_t i = 0; i < m->nr_scenarios; i++)
		open |= m->scenarios[i].open;
	/* A run of a given length may end before the first queue is full. */
	if (!open || d->nr_round < 2 || d->o->model_time > 0)
		return false;
	for (size_t i = 0; i < d->nr_round; i++) {
		sum += arch_solve_growth(&d->round[i]);
		end += d->round[i].waiting_end;
	}
	mean = sum / nr;
	for (size_t i = 0; i < d->nr_round; i++)
		squares += pow(arch_solve_growth(&d->round[i]) - mean, 2);
	return end / nr >= GROWTH_LEAST && mean > 0 &&
	       mean * mean > pow(GROWTH_ERRORS, 2) * squares / (nr - 1) / nr;
}

/*
 * Chooses the length of a replication: the time that a number of events takes, and at least some
 * rounds of each user.
 */
static int replication_length(struct replications *d, struct err *err)
{
	struct arch_sim *sim;
	int ret = arch_sim_new(&sim, ((const struct solve *)d->ctx)->m, d->o->seed, err);

	if (ret)
		goto out;
	ret = arch_sim_run(sim, INFINITY, PILOT_EVENTS, err);
	if (ret)
		goto out;
	d->length = arch_sim_now(sim) * REPLICATION_EVENTS / PILOT_EVENTS;
	if (!(d->length > 0))
		ret = err_set(err, ELOOP, "time does not go on: expected a demand or a think time");
out:
	arch_sim_free(sim);
	return ret;
}

static double sum_levels(const struct arch_sample *x, size_t nr, uint32_t index)
{
	double sum = 0, time = 0;

	for (size_t i = 0; i < nr; i++) {
		sum += x[i].levels[index];
		time += x[i].duration;
	}
	return sum / time;
}

static void estimate_resources(struct arch_solution *out, const struct arch_model *m,
			       const struct arch_sample *x, size_t nr)
{
	double time = 0;

	for (size_t i = 0; i < nr; i++)
		time += x[i].duration;
	for (uint32_t r = 0; r < m->nr_resources; r++) {
		struct arch_resource_result *e = &out->resources[r];
		double busy = sum_levels(x, nr, arch_level_busy(r)), done = 0;

		for (size_t i = 0; i < nr; i++)
			done += x[i].done[r];
		e->jobs = sum_levels(x, nr, arch_level_jobs(r));
		e->utilization = m->resources[r].policy == ARCH_DELAY
					 ? busy
					 : busy / m->resources[r].servers;
		e->throughput = done / time;
	}
	for (uint32_t p = 0; p < m->nr_passives; p++) {
		out->passives[p].utilization = sum_levels(x, nr, arch_level_held(m, p));
		out->passives[p].jobs = sum_levels(x, nr, arch_level_waiting(m, p));
		out->passives[p].throughput = NAN;
	}
	for (uint32_t s = 0; s < m->nr_storages; s++)
		out->storage_jobs[s] = sum_levels(x, nr, arch_level_storage(m, s));
	out->asked = out->outside = 0;
	for (size_t i = 0; i < nr; i++) {
		out->asked += x[i].asked;
		out->outside += x[i].outside;
	}
}

static bool arch_solve_varies(const struct arch_sample *x, size_t nr, uint32_t index)
{
	for (size_t i = 1; i < nr; i++)
		if (x[i].controls[index] != x[0].controls[index])
			return true;
	return false;
}

/*
 * Returns how useful a control variate is: for a resource its utilization, for a scenario nearly
 * that of the busiest resource.
 */
static double arch_solve_telling(const struct arch_solution *s, const struct arch_model *m,
				 uint32_t control)
{
	double most = 0;

	if (control < m->nr_resources)
		return m->resources[control].policy == ARCH_DELAY
			       ? 0
			       : s->resources[control].utilization;
	for (uint32_t r = 0; r < m->nr_resources; r++)
		most = fmax(most, arch_solve_telling(s, m, r));
	return 0.999 * most;
}

/*
 * Chooses the controls of nr samples, the most useful first, as many as the number of samples
 * supports. Utilizations hardly vary between runs, so that choosing by them does not make the
 * intervals too narrow. Returns the number of controls.
 */
static size_t choose_controls(uint32_t chosen[MAX_CONTROLS], const struct arch_solution *s,
			      const struct arch_model *m, const struct arch_sample *x, size_t nr)
{
	size_t room = nr / INTERVAL_PER_CONTROL, used = 0;

	for (room = room < MAX_CONTROLS ? room : MAX_CONTROLS; used < room; used++) {
		uint32_t best = ARCH_NONE;

		for (uint32_t i = 0; i < x->nr_controls; i++) {
			bool out = !arch_solve_varies(x, nr, i);

			for (size_t k = 0; k < used; k++)
				out |= chosen[k] == i;
			if (!out && (best == ARCH_NONE ||
				     arch_solve_telling(s, m, i) > arch_solve_telling(s, m, best)))
				best = i;
		}
		if (best == ARCH_NONE)
			break;
		chosen[used] = best;
	}
	return used;
}

/* No time or rate is below 0, but a regression on controls may give less, or -0 where all are 0. */
static void arch_solve_from_zero(struct interval *v)
{
	if (v->mean <= 0)
		v->mean = 0;
	if (v->low <= 0)
		v->low = 0;
	if (v->high <= 0)
		v->high = 0;
}

static int arch_solve_estimate(struct arch_solution *out, const struct arch_model *m,
			       const struct arch_sample *x, size_t nr, bool quantiles)
{
	struct samples s = { .items = x, .nr = nr };
	uint32_t controls[MAX_CONTROLS];
	size_t nr_controls;

	estimate_resources(out, m, x, nr);
	nr_controls = choose_controls(controls, out, m, x, nr);
	out->precision = 0;
	for (; s.index < out->nr_times; s.index++) {
		struct time_estimate *t = &out->times[s.index];

		if (interval_controlled(&t->mean, &s, arch_solve_time_sum, arch_solve_time_nr,
					arch_solve_control, controls, nr_controls) ||
		    interval_controlled(&out->throughput[s.index], &s, arch_solve_time_nr,
					arch_solve_duration, arch_solve_control, controls,
					nr_controls))
			return -ENOMEM;
		out->nr[s.index] = 0;
		for (size_t i = 0; i < nr; i++)
			out->nr[s.index] += x[i].times[s.index].nr;
		if (interval_quantiles(t, &s, arch_solve_hist))
			return -ENOMEM;
		/*
		 * Waiting times for passive resources are shown, but their precision does not
		 * count.
		 */
		if (out->nr[s.index] > 0 && s.index < m->nr_scenarios + m->nr_measures)
			out->precision = fmax(out->precision, interval_time_width(t, quantiles));
		arch_solve_from_zero(&t->mean);
		arch_solve_from_zero(&out->throughput[s.index]);
	}
	out->nr_replications = nr;
	return 0;
}

static int arch_solve_judge(struct replications *d)
{
	const struct solve *s = d->ctx;

	s->out->overloaded |= arch_solve_grows(d, s->m);
	d->stop = s->out->overloaded;
	if (arch_solve_estimate(s->out, s->m, d->samples, d->nr, d->o->quantiles))
		return -ENOMEM;
	d->precision = d->expected = s->out->precision;
	return 0;
}

static int arch_solve_allocate(struct arch_solution *s, const struct arch_model *m)
{
	s->nr_times = m->nr_scenarios + m->nr_measures + m->nr_passives;
	s->times = calloc((size_t)s->nr_times + 1, sizeof(*s->times));
	s->nr = calloc((size_t)s->nr_times + 1, sizeof(*s->nr));
	s->throughput = calloc((size_t)s->nr_times + 1, sizeof(*s->throughput));
	s->resources = calloc((size_t)m->nr_resources + 1, sizeof(*s->resources));
	s->passives = calloc((size_t)m->nr_passives + 1, sizeof(*s->passives));
	s->storage_jobs = calloc((size_t)m->nr_storages + 1, sizeof(*s->storage_jobs));
	return s->times && s->nr && s->throughput && s->resources && s->passives && s->storage_jobs
		       ? 0
		       : -ENOMEM;
}

/*
 * Sets the times to unknown if there is no steady state, and the other values too unless they were
 * simulated.
 */
static void arch_solve_forget(struct arch_solution *s, const struct arch_model *m, bool all)
{
	const struct interval unknown = { NAN, NAN, NAN };

	for (uint32_t i = 0; i < s->nr_times; i++) {
		s->times[i] = (struct time_estimate){ unknown, unknown, unknown, unknown };
		if (all)
			s->throughput[i] = unknown;
	}
	for (uint32_t i = 0; all && i < m->nr_resources; i++)
		s->resources[i] = (struct arch_resource_result){ NAN, NAN, NAN };
	for (uint32_t i = 0; all && i < m->nr_passives; i++)
		s->passives[i] = (struct arch_resource_result){ NAN, NAN, NAN };
	for (uint32_t i = 0; all && i < m->nr_storages; i++)
		s->storage_jobs[i] = NAN;
	s->precision = NAN;
}

int arch_solution_begin(struct arch_solution *s, const struct arch_model *m,
			const struct solve_options *o, struct err *err)
{
	int ret = arch_solve_allocate(s, m) ? no_memory(err) : 0;

	if (ret)
		return ret;
	if (!o->through_overload)
		ret = arch_load(&s->load, m, o->seed, err);
	if (ret)
		return ret;
	if (s->load.overloaded) {
		s->overloaded = true;
		arch_solve_forget(s, m, true);
	}
	return 0;
}

/* Simulates until the precision is reached, or the model turns out to have no steady state. */
static int arch_solve_simulate(struct arch_solution *out, const struct arch_model *m,
			       const struct solve_options *o, struct err *err)
{
	const struct solve s = { m, out };
	struct replications d = { .ctx = &s,
				  .sample_size = sizeof(struct arch_sample),
				  .run = arch_solve_run,
				  .pieces = arch_solve_pieces,
				  .release = arch_solve_release,
				  .judge = arch_solve_judge,
				  .length = o->model_time,
				  .most_growth = MAX_GROWTH,
				  .o = o };
	int ret = o->model_time > 0 ? 0 : replication_length(&d, err);

	if (!ret)
		ret = replications_run(&d, err);
	if (ret == -ENOMEM)
		no_memory(err);
	out->events = d.events;
	out->model_time = d.model_time;
	out->warm_up = d.warm_up;
	replications_release(&d);
	if (o->through_overload) {
		out->overloaded = false;
		return ret;
	}
	if (ret == -EOVERFLOW) { /* too many users at the same time */
		if (err)
			*err = (struct err){ 0 };
		out->overloaded = true;
		arch_solve_forget(out, m, true);
		return 0;
	}
	if (!ret && out->overloaded)
		arch_solve_forget(out, m, false);
	return ret;
}

int arch_solve(struct arch_solution *out, const struct arch_model *m, const struct solve_options *o,
	       struct err *err)
{
	struct arch_solution s = { 0 };
	int ret = arch_solution_begin(&s, m, o, err);

	if (!ret && !s.overloaded)
		ret = arch_solve_simulate(&s, m, o, err);
	if (ret)
		arch_solution_release(&s);
	else
		*out = s;
	return ret;
}

/* This is the number of doubles in a struct that has nothing else. */
#define ARCH_SOLVE_REALS(item) (sizeof(item) / sizeof(double))

void arch_solution_walk(struct arch_solution *s, const struct arch_model *m,
			struct checkpoint_values *v)
{
	uint64_t nr_replications = s->nr_replications;

	checkpoint_values_count(v, &s->events);
	checkpoint_values_count(v, &s->asked);
	checkpoint_values_count(v, &s->outside);
	checkpoint_values_count(v, &nr_replications);
	s->nr_replications = nr_replications;
	checkpoint_values_put(v, &s->model_time, 1);
	checkpoint_values_put(v, &s->warm_up, 1);
	checkpoint_values_put(v, &s->precision, 1);
	checkpoint_values_flag(v, &s->overloaded);
	checkpoint_values_put(v, (double *)s->times, s->nr_times * ARCH_SOLVE_REALS(*s->times));
	checkpoint_values_put(v, s->nr, s->nr_times);
	checkpoint_values_put(v, (double *)s->throughput,
			      s->nr_times * ARCH_SOLVE_REALS(*s->throughput));
	checkpoint_values_put(v, (double *)s->resources,
			      m->nr_resources * ARCH_SOLVE_REALS(*s->resources));
	checkpoint_values_put(v, (double *)s->passives,
			      m->nr_passives * ARCH_SOLVE_REALS(*s->passives));
	checkpoint_values_put(v, s->storage_jobs, m->nr_storages);
}

void arch_solution_release(struct arch_solution *s)
{
	free(s->times);
	free(s->nr);
	free(s->throughput);
	free(s->resources);
	free(s->passives);
	free(s->storage_jobs);
	arch_load_release(&s->load);
	*s = (struct arch_solution){ 0 };
}

char *arch_time_name(const struct arch_model *m, uint32_t time)
{
	uint32_t passive = time - m->nr_scenarios - m->nr_measures;
	char *name;

	if (time < m->nr_scenarios)
		return strdup(m->scenarios[time].name);
	if (time < m->nr_scenarios + m->nr_measures)
		return strdup(m->measures[time - m->nr_scenarios].name);
	for (uint32_t i = 0; i < m->nr_instances; i++) {
		const struct arch_instance *x = &m->instances[i];
		const struct arch_component *c = &m->components[x->component];

		if (passive < x->first_passive || passive >= x->first_passive + c->nr_passives)
			continue;
		if (asprintf(&name, "%s.%s", x->name,
			     c->passives[passive - x->first_passive].name) < 0)
			return NULL;
		return name;
	}
	return NULL;
}
