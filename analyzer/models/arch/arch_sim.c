// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/sim_state.h"
#include "base/memory/array.h"

int sim_no_memory(struct arch_sim *s)
{
	return err_set(s->err, ENOMEM, "out of memory");
}

/* Adds the location before the message of an error. Returns error. */
static int sim_at_place(struct arch_sim *s, struct arch_place at, int error)
{
	if (error < 0 && error != -ENOMEM && at.file < s->m->nr_files)
		err_prefix(s->err, "%s:%u", s->m->files[at.file], at.line);
	return error;
}

void sim_record(struct arch_sim *s, uint32_t index, double begin)
{
	double time = s->now - begin;

	s->times[index].sum += time;
	s->times[index].squares += time * time;
	s->times[index].nr++;
	qhist_add(&s->hists[index], time);
	if (s->watch)
		s->watch(s->watch_ctx, index, begin, s->now);
}

uint32_t thread_new(struct arch_sim *s)
{
	uint32_t i = s->free_thread;

	if (i != ARCH_NONE) {
		s->free_thread = s->threads[i]->next;
	} else {
		if (s->nr_threads == ARCH_SIM_MAX_THREADS) {
			err_set(s->err, EOVERFLOW,
				"more than %d users and branches at once: an open scenario brings "
				"more than its resources can serve",
				ARCH_SIM_MAX_THREADS);
			return ARCH_NONE;
		}
		if (array_grow(&s->threads, &s->cap_threads, s->nr_threads + 1,
			       sizeof(*s->threads))) {
			sim_no_memory(s);
			return ARCH_NONE;
		}
		i = s->nr_threads;
		s->threads[i] = calloc(1, sizeof(**s->threads));
		if (!s->threads[i]) {
			sim_no_memory(s);
			return ARCH_NONE;
		}
		s->nr_threads++;
	}
	s->threads[i]->parent = ARCH_NONE;
	s->threads[i]->state = RUNNING;
	s->threads[i]->nr = 0;
	s->nr_live++;
	return i;
}

static void thread_end(struct arch_sim *s, uint32_t thread)
{
	s->threads[thread]->next = s->free_thread;
	s->free_thread = thread;
	s->nr_live--;
}

static int return_call(struct arch_sim *s, uint32_t thread)
{
	struct thread *t = s->threads[thread];
	struct activation *a = thread_top(t);
	uint32_t link = sim_link(s, a->caller, a->instance);
	double bytes = 0;

	if (!a->returning) {
		int ret = frame_assign(s, t->stack[t->nr - 2].frame, a->frame, &a->action->call.out,
				       sim_rng(s, t, a), NULL);

		if (!ret && link != ARCH_NONE)
			ret = frame_result_bytes(s, a->frame, sim_rng(s, t, a), &bytes);
		if (ret)
			return sim_at_place(s, a->action->at, ret);
		a->returning = true;
		if (link != ARCH_NONE)
			return sim_at_place(s, a->action->at,
					    sim_pass_link(s, thread, link, bytes));
	}
	sim_record(s, a->measure, a->begin);
	thread_pop(s, t);
	return GOES;
}

static int begin_round(struct arch_sim *s, uint32_t thread)
{
	struct thread *t = s->threads[thread];
	struct frame *f = frame_new(s, NULL);
	struct activation a = { .kind = IN_ROUND,
				.behaviour = s->m->scenarios[t->scenario].behaviour,
				.instance = ARCH_NONE,
				.frame = f,
				.begin = s->now };

	return f ? thread_push(s, t, a) : -ENOMEM;
}

/* Adds the difference between a time (between rounds or arrivals) and its mean. */
static void control_time(struct arch_sim *s, uint32_t scenario, double time)
{
	double mean = s->m->scenarios[scenario].mean_time;

	if (!isnan(mean))
		s->controls[s->m->nr_resources + scenario] += time - mean;
}

static int end_round(struct arch_sim *s, uint32_t thread)
{
	struct thread *t = s->threads[thread];
	const struct arch_scenario *u = &s->m->scenarios[t->scenario];
	double time = 0;
	int ret;

	sim_record(s, t->scenario, thread_top(t)->begin);
	if (u->open) {
		thread_pop(s, t);
		thread_end(s, thread);
		return WAITS;
	}
	ret = thread_number(s, t, u->time, &time);
	thread_pop(s, t);
	if (!ret && !(time >= 0))
		ret = err_set(s->err, ERANGE, "a think time of %g: expected 0 or more", time);
	if (ret)
		return sim_at_place(s, u->at, ret);
	control_time(s, t->scenario, time);
	return thread_pause(s, thread, time, THINKING);
}

static int end_branch(struct arch_sim *s, uint32_t thread)
{
	uint32_t parent = s->threads[thread]->parent;

	thread_pop(s, s->threads[thread]);
	thread_end(s, thread);
	if (parent == ARCH_NONE || --s->threads[parent]->pending)
		return WAITS;
	return thread_pause(s, parent, 0, PAUSING) < 0 ? -ENOMEM : WAITS;
}

static int end_activation(struct arch_sim *s, uint32_t thread)
{
	struct thread *t = s->threads[thread];
	struct activation *a = thread_top(t);

	switch (a->kind) {
	case IN_LOOP:
		if (--a->turns)
			return thread_turn(s, t);
		thread_pop(s, t);
		return GOES;
	case IN_CALL:
		return return_call(s, thread);
	case IN_ROUND:
		return end_round(s, thread);
	case IN_FORK:
		return end_branch(s, thread);
	case IN_BODY:
		thread_pop(s, t);
		return GOES;
	}
	return GOES;
}

/* Runs a thread until it waits or ends. */
static int arch_sim_step(struct arch_sim *s, uint32_t thread)
{
	struct thread *t = s->threads[thread];
	int state = GOES;

	t->state = RUNNING;
	while (state == GOES) {
		struct activation *a = thread_top(t);
		const struct arch_behaviour *b = &s->m->behaviours[a->behaviour];

		if (s->now > s->step_time) {
			s->step_time = s->now;
			s->steps = 0;
		}
		if (++s->steps > ARCH_SIM_MAX_STEPS)
			return err_set(s->err, ELOOP,
				       "time stands still at %g: expected a demand or a think time "
				       "that takes some",
				       s->now);
		if (a->pc == b->nr) {
			state = end_activation(s, thread);
		} else {
			const struct arch_action *x = &b->actions[a->pc++];

			state = sim_at_place(s, x->at, thread_perform(s, thread, x));
		}
	}
	return state;
}

static int set_arrival(struct arch_sim *s, uint32_t scenario)
{
	const struct arch_scenario *u = &s->m->scenarios[scenario];
	double time;
	int ret;

	if (s->closed_doors)
		return 0;
	ret = frame_number(s, NULL, u->time, &s->rngs[s->m->nr_instances + scenario], &time);

	if (!ret && !(time >= 0))
		ret = err_set(s->err, ERANGE, "a time of %g between arrivals: expected 0 or more",
			      time);
	if (ret)
		return sim_at_place(s, u->at, ret);
	control_time(s, scenario, time);
	if (eventq_set(&s->events, s->m->nr_resources + scenario, s->now + time))
		return sim_no_memory(s);
	return 0;
}

static int new_user(struct arch_sim *s, uint32_t scenario, uint32_t *thread)
{
	*thread = thread_new(s);
	if (*thread == ARCH_NONE)
		return -s->err->code;
	s->threads[*thread]->scenario = scenario;
	return begin_round(s, *thread);
}

static int arch_sim_arrival(struct arch_sim *s, uint32_t scenario)
{
	uint32_t thread = ARCH_NONE;
	int ret = set_arrival(s, scenario);

	if (!ret)
		ret = new_user(s, scenario, &thread);
	return ret < 0 ? ret : arch_sim_step(s, thread);
}

static int arch_sim_wake(struct arch_sim *s, uint32_t thread)
{
	struct thread *t = s->threads[thread];
	struct storage_level *l;
	int ret = 0;

	switch (t->state) {
	case THINKING:
		ret = begin_round(s, thread);
		break;
	case IN_SERVICE:
		ret = resource_leave(s, thread);
		break;
	case IN_IO:
		l = &s->storage_levels[t->resource];
		l->sum += (s->now - l->last) * l->nr--;
		l->last = s->now;
		storage_leave(s->storages[t->resource]);
		sim_record(s, s->m->nr_scenarios + t->measure, t->since);
		break;
	default:
		break;
	}
	return ret < 0 ? ret : arch_sim_step(s, thread);
}

static int arch_sim_happen(struct arch_sim *s, uint32_t id)
{
	uint32_t thread, clock = id & ~EVENTQ_CLOCK;
	int ret;

	if (!(id & EVENTQ_CLOCK))
		return arch_sim_wake(s, id);
	if (clock >= s->m->nr_resources)
		return arch_sim_arrival(s, clock - s->m->nr_resources);
	ret = resource_clock(s, clock, &thread);
	return ret ? ret : arch_sim_step(s, thread);
}

int arch_sim_run(struct arch_sim *s, double until, uint64_t nr_events, struct err *err)
{
	int ret = 0;

	s->err = err ? err : &s->own_err;
	while (nr_events--) {
		const struct event *e = eventq_first(&s->events);
		uint32_t id;

		if (!e)
			return err_set(err, EDEADLK,
				       "at %g all users wait for passive resources: a deadlock",
				       s->now);
		if (e->time > until)
			break;
		s->now = e->time;
		id = e->id;
		eventq_pop(&s->events);
		s->nr_events++;
		ret = arch_sim_happen(s, id);
		if (ret < 0)
			return ret;
	}
	if (isfinite(until) && until > s->now)
		s->now = until;
	return 0;
}

int arch_sim_drain(struct arch_sim *s, struct err *err)
{
	int ret = 0;

	s->closed_doors = true;
	eventq_cancel(&s->events, s->m->nr_resources + s->alone);
	while (eventq_first(&s->events)) {
		ret = arch_sim_run(s, INFINITY, 1, err);
		if (ret)
			return ret;
	}
	return 0;
}

double arch_sim_work(const struct arch_sim *s, uint32_t resource)
{
	return s->work[resource];
}

double arch_sim_capacity(const struct arch_sim *s, uint32_t passive)
{
	return s->passives[passive].capacity;
}

double arch_sim_now(const struct arch_sim *s)
{
	return s->now;
}

static int arch_sim_populate(struct arch_sim *s)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < s->m->nr_scenarios; i++) {
		const struct arch_scenario *u = &s->m->scenarios[i];
		double population = 0;

		if (s->alone != ARCH_NONE && s->alone != i)
			continue;
		if (u->open) {
			ret = set_arrival(s, i);
			continue;
		}
		ret = frame_number(s, NULL, u->population, &s->rngs[s->m->nr_instances + i],
				   &population);
		population = round(population);
		if (!ret && !(population >= 1 && population <= ARCH_SIM_MAX_THREADS))
			ret = err_set(s->err, EINVAL,
				      "scenario %s: a population of %g: expected 1 to %d", u->name,
				      population, ARCH_SIM_MAX_THREADS);
		ret = sim_at_place(s, u->at, ret);
		for (double k = 0; !ret && k < population; k++) {
			uint32_t thread = thread_new(s);

			if (thread == ARCH_NONE)
				return -ENOMEM;
			s->threads[thread]->scenario = i;
			ret = thread_pause(s, thread, 0, THINKING);
		}
	}
	return ret < 0 ? ret : 0;
}

static int make_passives(struct arch_sim *s)
{
	for (uint32_t i = 0; i < s->m->nr_instances; i++) {
		const struct arch_instance *x = &s->m->instances[i];
		const struct arch_component *c = &s->m->components[x->component];

		for (uint32_t k = 0; k < c->nr_passives; k++) {
			struct frame *f = frame_new(s, NULL);
			double capacity;
			int ret = f ? frame_assign(s, f, f, &x->sets, &s->rngs[i], NULL) : -ENOMEM;

			if (!ret)
				ret = frame_number(s, f, c->passives[k].capacity, &s->rngs[i],
						   &capacity);
			frame_drop(s, f);
			if (!ret && !(capacity >= 1 && capacity <= UINT32_MAX))
				ret = err_set(s->err, EINVAL,
					      "passive resource %s: a capacity of %g: expected 1 "
					      "or more",
					      c->passives[k].name, capacity);
			if (ret)
				return sim_at_place(s, c->at, ret);
			s->passives[x->first_passive + k].capacity = (uint32_t)capacity;
			s->passives[x->first_passive + k].queue.first = ARCH_NONE;
		}
	}
	return 0;
}

/*
 * Returns the number of "PREFIX.NUMBER_OF_ELEMENTS" among the names, or ARCH_NONE if the name does
 * not occur.
 */
static uint32_t count_name(const struct stoex_names *n, const char *name, size_t prefix)
{
	for (uint32_t i = 0; i < n->nr; i++)
		if (!strncmp(n->items[i], name, prefix) &&
		    !strcmp(n->items[i] + prefix, ".NUMBER_OF_ELEMENTS"))
			return i;
	return ARCH_NONE;
}

/*
 * Finds which names are sizes of messages on a link, and how often each counts: every INNER in a
 * name stands for each element of the collection before it.
 */
static int make_names(struct arch_sim *s)
{
	const struct stoex_names *n = &s->m->names;

	s->sizes = calloc((size_t)n->nr + 1, sizeof(*s->sizes));
	if (!s->sizes)
		return sim_no_memory(s);
	for (uint32_t i = 0; i < n->nr; i++) {
		struct name_size *x = &s->sizes[i];
		const char *name = n->items[i], *end = strrchr(name, '.');

		x->is_size = end && !strcmp(end, ".BYTESIZE");
		for (const char *at = name; x->is_size && (at = strstr(at, ".INNER.")); at++)
			if (x->nr_counts < SIM_MAX_NESTED)
				x->counts[x->nr_counts++] =
					count_name(n, name, (size_t)(at - name));
	}
	return 0;
}

static int arch_sim_allocate(struct arch_sim *s, uint64_t seed)
{
	const struct arch_model *m = s->m;

	s->nr_times = m->nr_scenarios + m->nr_measures + m->nr_passives;
	s->times = calloc((size_t)s->nr_times + 1, sizeof(*s->times));
	s->hists = calloc((size_t)s->nr_times + 1, sizeof(*s->hists));
	s->work = calloc((size_t)m->nr_resources + 1, sizeof(*s->work));
	s->controls = calloc((size_t)m->nr_resources + m->nr_scenarios + 1, sizeof(*s->controls));
	s->resources = calloc((size_t)m->nr_resources + 1, sizeof(*s->resources));
	s->passives = calloc((size_t)m->nr_passives + 1, sizeof(*s->passives));
	s->storages = calloc((size_t)m->nr_storages + 1, sizeof(*s->storages));
	s->storage_levels = calloc((size_t)m->nr_storages + 1, sizeof(*s->storage_levels));
	s->rngs = calloc((size_t)m->nr_instances + m->nr_scenarios + 1, sizeof(*s->rngs));
	if (!s->times || !s->hists || !s->controls || !s->work || !s->resources || !s->passives ||
	    !s->storages || !s->storage_levels || !s->rngs ||
	    eventq_init(&s->events, m->nr_resources + m->nr_scenarios))
		return sim_no_memory(s);
	for (uint32_t i = 0; i < m->nr_instances + m->nr_scenarios; i++)
		rng_stream(&s->rngs[i], seed, i);
	for (uint32_t i = 0; i < m->nr_resources; i++) {
		s->resources[i].spec = &m->resources[i];
		s->resources[i].queue.first = ARCH_NONE;
		if (eventq_init(&s->resources[i].jobs, 0))
			return sim_no_memory(s);
	}
	for (uint32_t i = 0; i < m->nr_storages; i++) {
		s->storages[i] = storage_state_new(m->storages[i].model, m->storages[i].list_length,
						   m->storages[i].concurrency);
		if (!s->storages[i])
			return sim_no_memory(s);
	}
	return make_names(s);
}

static int sim_new(struct arch_sim **out, const struct arch_model *m, uint32_t alone, uint64_t seed,
		   struct err *err)
{
	struct arch_sim *s = calloc(1, sizeof(*s));
	int ret;

	*out = NULL;
	if (!s)
		return err_set(err, ENOMEM, "out of memory");
	s->m = m;
	s->err = err ? err : &s->own_err;
	s->free_thread = ARCH_NONE;
	s->alone = alone;
	s->step_time = -1;
	ret = arch_sim_allocate(s, seed);
	if (ret)
		goto out;
	ret = make_passives(s);
	if (ret)
		goto out;
	ret = arch_sim_populate(s);
out:
	if (ret)
		arch_sim_free(s);
	else
		*out = s;
	return ret;
}

int arch_sim_new(struct arch_sim **out, const struct arch_model *m, uint64_t seed, struct err *err)
{
	return sim_new(out, m, ARCH_NONE, seed, err);
}

int arch_sim_new_alone(struct arch_sim **out, const struct arch_model *m, uint32_t scenario,
		       uint64_t seed, struct err *err)
{
	return sim_new(out, m, scenario, seed, err);
}

void arch_sim_free(struct arch_sim *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr_threads; i++) {
		while (s->threads[i]->nr)
			thread_pop(s, s->threads[i]);
		free(s->threads[i]->stack);
		free(s->threads[i]);
	}
	frame_free_all(s);
	for (uint32_t i = 0; s->resources && i < s->m->nr_resources; i++)
		eventq_release(&s->resources[i].jobs);
	for (uint32_t i = 0; s->storages && i < s->m->nr_storages; i++)
		storage_state_free(s->storages[i]);
	for (uint32_t i = 0; s->hists && i < s->nr_times; i++)
		qhist_release(&s->hists[i]);
	eventq_release(&s->events);
	free(s->threads);
	free(s->resources);
	free(s->passives);
	free(s->storages);
	free(s->storage_levels);
	free(s->rngs);
	free(s->sizes);
	free(s->times);
	free(s->hists);
	free(s->controls);
	free(s->work);
	free(s);
}
