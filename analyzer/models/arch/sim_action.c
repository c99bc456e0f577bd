// SPDX-License-Identifier: Apache-2.0
/* This file holds the effect of each action of a behaviour on the thread that executes it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/sim_state.h"

#define MAX_STACK 4096

/* The caller counts the frame of a, and this function takes it over. */
int thread_push(struct arch_sim *s, struct thread *t, struct activation a)
{
	if (t->nr == t->cap) {
		uint32_t cap = t->cap ? 2 * t->cap : 8;
		struct activation *more = reallocarray(t->stack, cap, sizeof(*more));

		if (!more || cap > MAX_STACK) {
			t->stack = more ? more : t->stack;
			frame_drop(s, a.frame);
			return sim_no_memory(s);
		}
		t->stack = more;
		t->cap = cap;
	}
	t->stack[t->nr++] = a;
	return GOES;
}

void thread_pop(struct arch_sim *s, struct thread *t)
{
	frame_drop(s, t->stack[--t->nr].frame);
}

static int sim_action_body(struct arch_sim *s, struct thread *t, uint32_t behaviour)
{
	const struct activation *a = thread_top(t);

	return thread_push(s, t,
			   (struct activation){ .kind = IN_BODY,
						.behaviour = behaviour,
						.instance = a->instance,
						.frame = frame_hold(a->frame) });
}

int thread_number(struct arch_sim *s, struct thread *t, const struct stoex *e, double *v)
{
	const struct activation *a = thread_top(t);

	return frame_number(s, a->frame, e, sim_rng(s, t, a), v);
}

int thread_pause(struct arch_sim *s, uint32_t thread, double time, enum waiting state)
{
	s->threads[thread]->state = state;
	return eventq_push(&s->events, s->now + time, thread) ? sim_no_memory(s) : WAITS;
}

static int sim_action_demand(struct arch_sim *s, uint32_t thread, const struct arch_action *x)
{
	struct thread *t = s->threads[thread];
	const struct activation *a = thread_top(t);
	const struct arch_resource *r;
	const struct stoex *rate_of;
	uint32_t resource;
	double amount, rate = 1;
	int ret = thread_number(s, t, x->demand.amount, &amount);

	if (ret)
		return ret;
	if (amount < 0 && s->m->clips)
		amount = 0;
	if (!(amount >= 0))
		return err_set(s->err, ERANGE, "\"%.100s\": a demand of %g: expected 0 or more",
			       stoex_text(x->demand.amount), amount);
	if (a->instance == ARCH_NONE)
		return thread_pause(s, thread, amount, PAUSING);
	resource = s->m->resource_of[s->m->instances[a->instance].container * s->m->nr_types +
				     x->demand.type];
	r = &s->m->resources[resource];
	rate_of = x->demand.direction == ARCH_READ && r->read_rate     ? r->read_rate
		  : x->demand.direction == ARCH_WRITE && r->write_rate ? r->write_rate
								       : r->rate;
	if (rate_of)
		ret = thread_number(s, t, rate_of, &rate);
	if (ret)
		return ret;
	if (!(rate > 0))
		return err_set(s->err, ERANGE, "resource %s: a rate of %g: expected one above 0",
			       r->name, rate);
	if (!isnan(x->demand.mean))
		s->controls[resource] += (amount - x->demand.mean) / rate;
	return resource_arrive(s, resource, thread, amount / rate);
}

static int sim_action_io(struct arch_sim *s, uint32_t thread, const struct arch_action *x)
{
	struct thread *t = s->threads[thread];
	uint32_t storage =
		arch_storage_for(s->m, s->m->instances[thread_top(t)->instance].container);
	struct storage_request r = { .read = x->io.direction == ARCH_READ };
	struct storage_level *l = &s->storage_levels[storage];
	int ret = thread_number(s, t, x->io.size, &r.size);

	if (ret)
		return ret;
	if (x->io.sequential)
		ret = thread_number(s, t, x->io.sequential, &r.sequential);
	if (ret)
		return ret;
	if (x->io.file_set != ARCH_NONE)
		ret = thread_number(s, t, s->m->file_sets[x->io.file_set].size, &r.file_set);
	if (ret)
		return ret;
	if (!(r.size > 0))
		return err_set(s->err, ERANGE, "a request of %g bytes: expected more than 0",
			       r.size);
	if (s->alone != ARCH_NONE)
		/* the predictions of the model mean nothing for so many requests at once */
		return GOES;
	l->sum += (s->now - l->last) * l->nr++;
	l->last = s->now;
	t->resource = storage;
	t->since = s->now;
	t->measure = x->io.measure;
	return thread_pause(s, thread, storage_arrive(s->storages[storage], s->now, &r), IN_IO);
}

int sim_pass_link(struct arch_sim *s, uint32_t thread, uint32_t link, double bytes)
{
	const struct arch_link *l = &s->m->links[link];
	double latency = 0, throughput = 0;
	int ret = l->latency ? thread_number(s, s->threads[thread], l->latency, &latency) : 0;

	if (ret)
		return ret;
	if (s->m->resources[l->resource].rate)
		ret = thread_number(s, s->threads[thread], s->m->resources[l->resource].rate,
				    &throughput);
	if (ret)
		return ret;
	if (s->m->resources[l->resource].rate && !(throughput > 0))
		return err_set(s->err, ERANGE, "link %s: a throughput of %g: expected one above 0",
			       s->m->resources[l->resource].name, throughput);
	if (throughput > 0)
		latency += bytes / throughput;
	if (latency < 0 && s->m->clips)
		latency = 0;
	if (!(latency >= 0))
		return err_set(s->err, ERANGE, "link %s: a latency below 0",
			       s->m->resources[l->resource].name);
	return resource_arrive(s, l->resource, thread, latency);
}

uint32_t sim_link(const struct arch_sim *s, uint32_t from, uint32_t to)
{
	const struct arch_model *m = s->m;

	if (from == ARCH_NONE || !m->nr_links ||
	    m->instances[from].container == m->instances[to].container)
		return ARCH_NONE;
	return m->link_of[m->instances[from].container * m->nr_containers +
			  m->instances[to].container];
}

static uint32_t measure_of(const struct arch_model *m, uint32_t instance, uint32_t signature)
{
	const struct arch_component *c = &m->components[m->instances[instance].component];

	for (uint32_t i = 0; i < c->nr_operations; i++)
		if (c->operations[i].signature == signature)
			return m->nr_scenarios + m->instances[instance].first_measure + i;
	return ARCH_NONE;
}

/*
 * Sets the parameters of the component, then those of the users, then those of the call. Later
 * ones override earlier ones.
 */
static struct frame *callee_frame(struct arch_sim *s, struct thread *t, uint32_t target,
				  const struct arch_action *x, double *bytes)
{
	const struct arch_sets *user = s->m->scenarios[t->scenario].user;
	struct rng *rng = sim_rng(s, t, thread_top(t));
	struct frame *caller = thread_top(t)->frame, *f = frame_new(s, NULL);
	if (f && !frame_assign(s, f, f, &s->m->instances[target].sets, rng, NULL) &&
	    (!user || !frame_assign(s, f, f, &user[target], rng, NULL)) &&
	    !frame_assign(s, f, caller, &x->call.in, rng, bytes))
		return f;
	frame_drop(s, f);
	return NULL;
}

/* Chooses one of the replicas with equal probability. */
static uint32_t pick_replica(struct arch_sim *s, struct thread *t, uint32_t instance)
{
	uint32_t nr = s->m->instances[instance].replicas;

	return nr > 1 ? instance + (uint32_t)rng_below(sim_rng(s, t, thread_top(t)), nr) : instance;
}

static int sim_action_call(struct arch_sim *s, uint32_t thread, const struct arch_action *x)
{
	struct thread *t = s->threads[thread];
	uint32_t from = thread_top(t)->instance;
	uint32_t target = pick_replica(
		s, t, from == ARCH_NONE ? x->call.role : s->m->instances[from].wires[x->call.role]);
	uint32_t component = s->m->instances[target].component, link;
	double bytes = 0;
	struct activation a = {
		.kind = IN_CALL,
		.behaviour = s->m->components[component].behaviour_of[x->call.signature],
		.instance = target,
		.action = x,
		.begin = s->now,
		.measure = measure_of(s->m, target, x->call.signature),
		.caller = from,
		.frame = callee_frame(s, t, target, x, &bytes),
	};
	int ret;

	if (!a.frame)
		return -s->err->code;
	ret = thread_push(s, t, a);
	link = sim_link(s, from, target);
	return ret < 0 || link == ARCH_NONE ? ret : sim_pass_link(s, thread, link, bytes);
}

int thread_turn(struct arch_sim *s, struct thread *t)
{
	struct activation *a = thread_top(t);
	struct frame *below, *overlay;
	int ret;

	a->pc = 0;
	if (a->action->loop.collection == ARCH_NONE)
		return GOES;
	/* the frame of the loop's owner: the frame of a turn does not last */
	below = t->stack[t->nr - 2].frame;
	overlay = frame_new(s, below);
	if (!overlay)
		return -ENOMEM;
	ret = frame_fix_collection(s, overlay, a->action->loop.collection, sim_rng(s, t, a));
	frame_drop(s, a->frame);
	a->frame = overlay;
	return ret ? ret : GOES;
}

static int sim_action_loop(struct arch_sim *s, struct thread *t, const struct arch_action *x)
{
	const struct activation *a = thread_top(t);
	double count;
	int ret = thread_number(s, t, x->loop.count, &count);

	if (ret)
		return ret;
	count = round(count);
	if (!(count >= 0 && count < 1e15))
		return err_set(s->err, ERANGE, "\"%.100s\": a loop of %g turns: expected 0 or more",
			       stoex_text(x->loop.count), count);
	if (!(count >= 1))
		return GOES;
	ret = thread_push(s, t,
			  (struct activation){ .kind = IN_LOOP,
					       .behaviour = x->loop.body,
					       .instance = a->instance,
					       .frame = frame_hold(a->frame),
					       .turns = (uint64_t)count,
					       .action = x });
	return ret < 0 ? ret : thread_turn(s, t);
}

static int sim_action_branch(struct arch_sim *s, struct thread *t, const struct arch_action *x)
{
	const struct activation *a = thread_top(t);
	struct rng *rng = sim_rng(s, t, a);
	double u = x->branch.guarded ? 0 : rng_uniform(rng);

	for (uint32_t i = 0; i < x->branch.nr; i++) {
		const struct arch_case *c = &x->branch.cases[i];
		bool taken;
		int ret;

		if (x->branch.guarded) {
			ret = frame_bool(s, a->frame, c->guard, rng, &taken);
			if (ret)
				return ret;
		} else {
			taken = u < c->probability || i + 1 == x->branch.nr;
			u -= c->probability;
		}
		if (taken)
			return sim_action_body(s, t, c->body);
	}
	return err_set(s->err, EINVAL, "no guard of the branch holds: expected one that does");
}

/* The variables of the body hide those of the call, which remain accessible. */
static int sim_action_inner(struct arch_sim *s, struct thread *t, const struct arch_action *x)
{
	const struct activation *a = thread_top(t);
	struct frame *f;
	int ret;

	if (!x->inner.in.nr)
		return sim_action_body(s, t, x->inner.body);
	f = frame_new(s, a->frame);
	if (!f)
		return -ENOMEM;
	ret = frame_assign(s, f, a->frame, &x->inner.in, sim_rng(s, t, a), NULL);
	f->overlay = true;
	if (ret) {
		frame_drop(s, f);
		return ret;
	}
	return thread_push(s, t,
			   (struct activation){ .kind = IN_BODY,
						.behaviour = x->inner.body,
						.instance = a->instance,
						.frame = f });
}

static int fork_off(struct arch_sim *s, uint32_t thread, const struct arch_action *x)
{
	uint32_t instance = thread_top(s->threads[thread])->instance;

	s->threads[thread]->pending = x->fork.nr_joined;
	for (uint32_t i = 0; i < x->fork.nr; i++) {
		uint32_t child = thread_new(s);
		struct thread *t;
		struct activation a = { .kind = IN_FORK,
					.behaviour = x->fork.bodies[i],
					.instance = instance };
		int ret;

		if (child == ARCH_NONE)
			return -s->err->code;
		t = s->threads[child];
		t->scenario = s->threads[thread]->scenario;
		t->parent = i < x->fork.nr_joined ? thread : ARCH_NONE;
		a.frame = frame_copy(s, thread_top(s->threads[thread])->frame);
		ret = a.frame ? thread_push(s, t, a) : -ENOMEM;
		/*
		 * The branches begin at this instant, but after the present thread, so that calls
		 * do not nest.
		 */
		if (ret >= 0)
			ret = thread_pause(s, child, 0, PAUSING);
		if (ret < 0)
			return ret;
	}
	if (!x->fork.nr_joined)
		return GOES;
	s->threads[thread]->state = JOINING;
	return WAITS;
}

static int sim_action_release(struct arch_sim *s, uint32_t passive)
{
	uint32_t next = passive_release(s, passive);

	if (next == ARCH_NONE)
		return GOES;
	sim_record(s, s->m->nr_scenarios + s->m->nr_measures + passive, s->threads[next]->since);
	return thread_pause(s, next, 0, PAUSING) < 0 ? -ENOMEM : GOES;
}

static int sim_action_acquire(struct arch_sim *s, uint32_t thread, uint32_t passive)
{
	int got = passive_acquire(s, passive, thread);

	if (got == GOES)
		sim_record(s, s->m->nr_scenarios + s->m->nr_measures + passive, s->now);
	return got;
}

int thread_perform(struct arch_sim *s, uint32_t thread, const struct arch_action *x)
{
	struct thread *t = s->threads[thread];
	const struct activation *a = thread_top(t);

	switch (x->kind) {
	case ARCH_DEMAND:
		return sim_action_demand(s, thread, x);
	case ARCH_IO:
		return sim_action_io(s, thread, x);
	case ARCH_CALL:
		return sim_action_call(s, thread, x);
	case ARCH_LOOP:
		return sim_action_loop(s, t, x);
	case ARCH_BODY:
		return sim_action_inner(s, t, x);
	case ARCH_BRANCH:
		return sim_action_branch(s, t, x);
	case ARCH_FORK:
		return fork_off(s, thread, x);
	case ARCH_ACQUIRE:
		return sim_action_acquire(s, thread,
					  s->m->instances[a->instance].first_passive + x->passive);
	case ARCH_RELEASE:
		return sim_action_release(s,
					  s->m->instances[a->instance].first_passive + x->passive);
	case ARCH_SET: {
		int ret = frame_set(s, a->frame, &x->set, sim_rng(s, t, a));

		return ret ? ret : GOES;
	}
	}
	return GOES;
}
