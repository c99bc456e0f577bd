// SPDX-License-Identifier: Apache-2.0
/* This file moves tokens, enables modes, fires transitions and advances the time. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/sim/qpn_queue.h"
#include "base/memory/array.h"

uint32_t qpn_token_new(struct qpn_sim *s)
{
	uint32_t t = s->free_token, nr_probes = s->net->nr_probes;

	if (t != NO_TOKEN) {
		s->free_token = s->tokens[t].next;
	} else {
		if (s->nr_tokens == s->cap_tokens) {
			uint32_t cap = s->cap_tokens ? 2 * s->cap_tokens : 64;
			struct token *more = reallocarray(s->tokens, cap, sizeof(*more));
			double *marks;

			if (more)
				s->tokens = more;
			marks = reallocarray(s->marks, cap, (nr_probes + 1) * sizeof(*marks));
			if (marks)
				s->marks = marks;
			if (!more || !marks) {
				s->error = -ENOMEM;
				return NO_TOKEN;
			}
			s->cap_tokens = cap;
		}
		t = s->nr_tokens++;
	}
	s->nr_live++;
	for (uint32_t p = 0; p < nr_probes; p++)
		s->marks[(size_t)t * nr_probes + p] = -1;
	return t;
}

static void token_free(struct qpn_sim *s, uint32_t t)
{
	s->tokens[t].next = s->free_token;
	s->free_token = t;
	if (--s->nr_live < s->growth.low)
		s->growth.low = s->nr_live;
}

/* Starts and ends the probes that this event concerns. */
static void qpn_sim_probe(struct qpn_sim *s, uint32_t token, uint32_t slot, bool leave)
{
	const struct net_slot *x = &s->net->slots[slot];
	uint32_t nr = s->net->nr_probes;

	for (uint32_t i = 0; i < nr; i++) {
		const struct net_probe *p = &s->net->probes[i];
		double *mark = &s->marks[(size_t)token * nr + i];

		if (*mark >= 0 && p->to_leave == leave && p->to_place == x->place &&
		    p->to_colour == x->colour) {
			s->probes[i].time += s->now - *mark;
			s->probes[i].nr++;
			qhist_add(&s->times[i], s->now - *mark);
			*mark = -1;
		}
		if (p->from_leave == leave && p->from_place == x->place &&
		    p->from_colour == x->colour)
			*mark = s->now;
	}
}

void qpn_mode_enable(struct qpn_sim *s, uint32_t mode)
{
	struct mode_state *m = &s->modes[mode];
	struct transition_state *t = &s->transitions[m->transition];

	m->seat = t->nr;
	t->modes[t->nr++] = mode;
	if (t->nr > 1)
		return;
	if (t->timed) {
		if (!t->dirty)
			s->dirty[s->nr_dirty++] = m->transition;
		t->dirty = true;
	} else {
		struct level_state *l = &s->levels[t->level];

		t->seat = l->nr;
		l->items[l->nr++] = m->transition;
		s->nr_enabled++;
	}
}

static void qpn_mode_disable(struct qpn_sim *s, uint32_t mode)
{
	struct mode_state *m = &s->modes[mode];
	struct transition_state *t = &s->transitions[m->transition];

	t->modes[m->seat] = t->modes[--t->nr];
	s->modes[t->modes[m->seat]].seat = m->seat;
	if (t->nr)
		return;
	if (t->timed) {
		if (!t->dirty)
			s->dirty[s->nr_dirty++] = m->transition;
		t->dirty = true;
	} else {
		struct level_state *l = &s->levels[t->level];

		l->items[t->seat] = l->items[--l->nr];
		s->transitions[l->items[t->seat]].seat = t->seat;
		s->nr_enabled--;
	}
}

static inline void more_visible(struct qpn_sim *s, struct slot_state *x)
{
	uint32_t have = ++x->nr_visible;

	for (uint32_t i = x->visible.begin; i < x->visible.end; i++)
		if (s->watches[i].need == have && !--s->modes[s->watches[i].mode].missing)
			qpn_mode_enable(s, s->watches[i].mode);
}

static inline void less_visible(struct qpn_sim *s, struct slot_state *x)
{
	uint32_t had = x->nr_visible--;

	for (uint32_t i = x->visible.begin; i < x->visible.end; i++)
		if (s->watches[i].need == had && !s->modes[s->watches[i].mode].missing++)
			qpn_mode_disable(s, s->watches[i].mode);
}

static void room_taken(struct qpn_sim *s, struct watch_range r, int64_t now)
{
	for (uint32_t i = r.begin; i < r.end; i++)
		if (s->watches[i].need == now - 1 && !s->modes[s->watches[i].mode].missing++)
			qpn_mode_disable(s, s->watches[i].mode);
}

static void room_made(struct qpn_sim *s, struct watch_range r, int64_t now)
{
	for (uint32_t i = r.begin; i < r.end; i++)
		if (s->watches[i].need == now && !--s->modes[s->watches[i].mode].missing)
			qpn_mode_enable(s, s->watches[i].mode);
}

/* Lets transitions see a token that is in a depository or an ordinary place. */
static void lie_visible(struct qpn_sim *s, uint32_t token, struct slot_state *x)
{
	if (x->fifo) {
		struct place_state *p = &s->places[x->place];
		bool first = p->lying.head == NO_TOKEN;

		token_append(s, &p->lying, token);
		if (first)
			more_visible(s, x);
	} else {
		token_append(s, &x->lying, token);
		more_visible(s, x);
	}
}

/* Puts a token into a depository or an ordinary place. */
static void lie_down(struct qpn_sim *s, uint32_t token, struct slot_state *x)
{
	x->nr_lying++;
	lie_visible(s, token, x);
}

static inline void send_on(struct qpn_sim *s, uint32_t token)
{
	if (array_grow(&s->sent, &s->cap_sent, s->nr_sent + 1, sizeof(*s->sent))) {
		s->error = -ENOMEM;
		return;
	}
	s->sent[s->nr_sent++] = token;
}

void qpn_enter(struct qpn_sim *s, uint32_t token, uint32_t slot)
{
	struct slot_state *x = &s->slots[slot];
	struct token *t = &s->tokens[token];

	t->entered = s->now;
	t->slot = slot;
	slot_touch(s, x);
	if (x->probed)
		qpn_sim_probe(s, token, slot, false);
	if (x->capped) {
		room_taken(s, x->room, (int64_t)x->nr_queued + x->nr_lying + 1);
		room_taken(s, s->places[x->place].room, (int64_t)++s->places[x->place].nr);
	}
	if (x->queue != NET_NONE) {
		x->nr_queued++;
		qpn_queue_arrive(s, x, token);
	} else if (x->nr_routes) {
		x->nr_lying++;
		send_on(s, token);
	} else {
		lie_down(s, token, x);
	}
}

/* A token leaves its place; its slot was brought up to now before. */
static inline void qpn_sim_leave(struct qpn_sim *s, uint32_t token, struct slot_state *x)
{
	struct token *t = &s->tokens[token];
	double residence = s->now - t->entered;

	x->nr_lying--;
	x->sums.left++;
	x->sums.residence += residence;
	qhist_add(&s->residence[t->slot], residence);
	if (x->probed)
		qpn_sim_probe(s, token, t->slot, true);
	if (x->capped) {
		room_made(s, x->room, (int64_t)x->nr_queued + x->nr_lying);
		room_made(s, s->places[x->place].room, (int64_t)--s->places[x->place].nr);
	}
}

/* Takes the token that came first out of its list. */
static uint32_t pick_up(struct qpn_sim *s, uint32_t slot)
{
	struct slot_state *x = &s->slots[slot];
	uint32_t t;

	less_visible(s, x);
	if (!x->fifo)
		return token_shift(s, &x->lying);
	t = token_shift(s, &s->places[x->place].lying);
	if (s->places[x->place].lying.head != NO_TOKEN)
		more_visible(s, &s->slots[s->tokens[s->places[x->place].lying.head].slot]);
	return t;
}

/* Makes the tokens that the mode puts from those in taken[]. */
static void qpn_sim_produce(struct qpn_sim *s, const struct mode_state *m, uint32_t *taken)
{
	if (m->heir)
		qpn_marks_join(s, m, taken);
	if (m->model)
		qpn_marks_keep(s, m, taken);
	for (uint32_t k = 0; k < m->nr_made; k++) {
		uint32_t from = m->makes[k].origin, t;

		if (from != NO_TOKEN) {
			t = taken[from];
			taken[from] = NO_TOKEN;
		} else {
			t = qpn_token_new(s);
			if (t == NO_TOKEN)
				return;
			if (m->model && m->model[k] != NO_TOKEN)
				qpn_marks_copy(s, t, m->model[k]);
		}
		qpn_enter(s, t, m->makes[k].slot);
	}
	for (uint32_t i = 0; i < m->nr_taken; i++)
		if (taken[i] != NO_TOKEN)
			token_free(s, taken[i]);
}

static void qpn_sim_fire(struct qpn_sim *s, uint32_t mode)
{
	const struct mode_state *m = &s->modes[mode];

	s->firings++;
	for (uint32_t i = 0; i < m->nr_taken; i++) {
		uint32_t t = pick_up(s, m->takes[i]);
		struct slot_state *x = &s->slots[s->tokens[t].slot];

		slot_touch(s, x);
		qpn_sim_leave(s, t, x);
		s->taken[i] = t;
	}
	if (m->moves_to != NET_NONE)
		qpn_enter(s, s->taken[0], m->moves_to);
	else
		qpn_sim_produce(s, m, s->taken);
}

/* Sends on a token that arrived, or was served, in this instant. */
static void qpn_sim_route(struct qpn_sim *s, uint32_t token, struct slot_state *x)
{
	const struct route *r = x->routes;

	s->firings++;
	if (x->nr_routes > 1) {
		double u = rng_uniform(&s->choice);

		while (r->until <= u)
			r++;
	}
	qpn_sim_leave(s, token, x);
	if (r->moves_to != NET_NONE)
		qpn_enter(s, token, r->moves_to);
	else
		qpn_sim_produce(s, &s->modes[r->mode], &token);
}

/*
 * Moves a token that was served from the queue to the depository, or sends it on: nothing else is
 * under way when a service ends.
 */
static void qpn_sim_served(struct qpn_sim *s, uint32_t token, struct slot_state *x)
{
	const struct token *t = &s->tokens[token];

	slot_touch(s, x);
	x->nr_queued--;
	x->sums.served++;
	x->sums.busy += t->demand;
	x->sums.queueing += s->now - t->entered;
	if (x->nr_routes) {
		x->nr_lying++;
		qpn_sim_route(s, token, x);
	} else {
		lie_down(s, token, x);
	}
}

static uint32_t choose_mode(struct qpn_sim *s, const struct transition_state *t)
{
	double sum = 0, u;

	if (t->nr == 1)
		return t->modes[0];
	for (uint32_t i = 0; i < t->nr; i++)
		sum += s->modes[t->modes[i]].weight;
	u = rng_uniform(&s->choice) * sum;
	for (uint32_t i = 0; i < t->nr - 1; i++) {
		u -= s->modes[t->modes[i]].weight;
		if (u < 0)
			return t->modes[i];
	}
	return t->modes[t->nr - 1];
}

static const struct transition_state *choose_transition(struct qpn_sim *s)
{
	const struct level_state *l = s->levels;
	double sum = 0, u;

	while (!l->nr)
		l++;
	if (l->nr == 1)
		return &s->transitions[l->items[0]];
	for (uint32_t i = 0; i < l->nr; i++)
		sum += s->transitions[l->items[i]].weight;
	u = rng_uniform(&s->choice) * sum;
	for (uint32_t i = 0; i < l->nr - 1; i++) {
		u -= s->transitions[l->items[i]].weight;
		if (u < 0)
			return &s->transitions[l->items[i]];
	}
	return &s->transitions[l->items[l->nr - 1]];
}

static void start_clocks(struct qpn_sim *s)
{
	while (s->nr_dirty) {
		struct transition_state *t = &s->transitions[s->dirty[--s->nr_dirty]];
		int err = 0;

		t->dirty = false;
		if (t->nr && !t->running)
			err = eventq_set(&s->events, t->clock,
					 s->now + dist_sample(t->time, &t->rng, &t->phase));
		else if (!t->nr && t->running)
			eventq_cancel(&s->events, t->clock);
		t->running = t->nr > 0;
		if (err)
			s->error = err;
	}
}

/*
 * Tokens that were sent on are routed at once only where one of them is all that can move.
 * Otherwise priorities and weights decide between what moves them and what else is enabled.
 */
static void qpn_sim_compete(struct qpn_sim *s)
{
	for (uint32_t i = 0; i < s->nr_sent; i++)
		lie_visible(s, s->sent[i], &s->slots[s->tokens[s->sent[i]].slot]);
	s->nr_sent = 0;
}

/* Fires immediate transitions until none is enabled; the marking is then tangible. */
static int qpn_sim_settle(struct qpn_sim *s)
{
	uint64_t limit = QPN_SIM_MAX_FIRINGS + 16 * (uint64_t)s->nr_live;

	while (s->nr_sent || s->nr_enabled) {
		if (s->nr_sent == 1 && !s->nr_enabled) {
			uint32_t t = s->sent[--s->nr_sent];

			qpn_sim_route(s, t, &s->slots[s->tokens[t].slot]);
		} else {
			qpn_sim_compete(s);
			qpn_sim_fire(s, choose_mode(s, choose_transition(s)));
		}
		if (s->error)
			return s->error;
		if (s->firings > limit)
			return -ELOOP;
	}
	if (s->nr_dirty)
		start_clocks(s);
	return s->error;
}

static void qpn_sim_clock(struct qpn_sim *s, uint32_t clock)
{
	uint32_t owner = s->clock_owner[clock];

	if (owner < s->net->nr_queues) {
		uint32_t token = qpn_queue_clock(s, owner, clock);

		qpn_sim_served(s, token, &s->slots[s->tokens[token].slot]);
	} else {
		struct transition_state *t = &s->transitions[owner - s->net->nr_queues];

		t->running = false;
		if (!t->dirty)
			s->dirty[s->nr_dirty++] = owner - s->net->nr_queues;
		t->dirty = true;
		qpn_sim_fire(s, choose_mode(s, t));
	}
}

/* Returns the present number of tokens in a slot. */
static uint64_t qpn_sim_tokens(const struct qpn_sim *s, uint32_t slot)
{
	return (uint64_t)s->slots[slot].nr_queued + s->slots[slot].nr_lying;
}

/* Describes the slots with most tokens: "place (colour): 3, ...". */
static void describe_marking(const struct qpn_sim *s, char *text, size_t size)
{
	size_t at = 0;

	text[0] = 0;
	for (uint32_t i = 0; i < s->net->nr_slots && at < size; i++) {
		const struct net_slot *x = &s->net->slots[i];

		if (qpn_sim_tokens(s, i))
			at += (size_t)snprintf(text + at, size - at, "%s%s (%s): %" PRIu64,
					       at ? ", " : "", s->net->places[x->place].name,
					       s->net->colours[x->colour], qpn_sim_tokens(s, i));
	}
}

static int fail_loop(const struct qpn_sim *s, struct err *err)
{
	unsigned line = 0;
	char names[200];
	size_t at = 0;

	names[0] = 0;
	for (uint32_t i = 0; i < s->net->nr_transitions && at < sizeof(names); i++) {
		const struct net_transition *t = &s->net->transitions[i];

		if (t->timed || !(s->transitions[i].nr || s->nr_sent))
			continue;
		line = line ? line : t->line;
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", at ? ", " : "",
				       t->name);
	}
	return err_set(err, ELOOP,
		       "%s:%u: at time %g immediate transitions fire without end (among them %s): "
		       "expected time to pass somewhere on every cycle",
		       s->net->file, line, s->now, names);
}

/* Returns the slot where most tokens wait, or, where none waits, the one that holds most. */
static uint32_t qpn_sim_fullest(const struct qpn_sim *s)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i < s->net->nr_slots; i++) {
		uint64_t here = qpn_growth_backlog(s, i), there = qpn_growth_backlog(s, most);

		if (here > there ||
		    (here == there && qpn_sim_tokens(s, i) > qpn_sim_tokens(s, most)))
			most = i;
	}
	return most;
}

static int fail_growth(const struct qpn_sim *s, struct err *err)
{
	const struct net_slot *x = &s->net->slots[qpn_sim_fullest(s)];

	return err_set(err, EOVERFLOW,
		       "%s:%u: unstable, tokens pile up: at time %g the net holds %" PRIu32
		       " tokens, %" PRIu64 " of them in place \"%s\" (%s)",
		       s->net->file, x->line, s->now, s->nr_live,
		       qpn_sim_tokens(s, (uint32_t)(x - s->net->slots)),
		       s->net->places[x->place].name, s->net->colours[x->colour]);
}

static int fail_deadlock(const struct qpn_sim *s, struct err *err)
{
	char marking[300];

	describe_marking(s, marking, sizeof(marking));
	return err_set(err, EDEADLK,
		       "%s:%u: deadlock at time %g: no token is served and no transition is "
		       "enabled; tokens: %s",
		       s->net->file, s->net->slots[qpn_sim_fullest(s)].line, s->now,
		       marking[0] ? marking : "none");
}

static int qpn_sim_explain(const struct qpn_sim *s, int error, struct err *err)
{
	switch (error) {
	case -ELOOP:
		return fail_loop(s, err);
	case -EOVERFLOW:
		return fail_growth(s, err);
	case -EDEADLK:
		return fail_deadlock(s, err);
	default:
		return err_set(err, -error, "%s: %s", s->net->file, strerror(-error));
	}
}

static void qpn_sim_event(struct qpn_sim *s, uint32_t id)
{
	s->nr_events++;
	s->firings = 0;
	if (id & EVENTQ_CLOCK) {
		qpn_sim_clock(s, id & ~EVENTQ_CLOCK);
	} else {
		struct slot_state *x = &s->slots[s->tokens[id].slot];

		qpn_queue_complete(s, x);
		qpn_sim_served(s, id, x);
	}
}

int qpn_sim_run(struct qpn_sim *s, double until, uint64_t nr_events, struct err *err)
{
	uint64_t stop =
		nr_events > UINT64_MAX - s->nr_events ? UINT64_MAX : s->nr_events + nr_events;
	int ret = s->error;

	s->firings = 0;
	if (!ret)
		ret = qpn_sim_settle(s);
	while (!ret && s->nr_events < stop) {
		const struct event *e = eventq_first(&s->events);
		uint32_t id;

		if (!e) {
			ret = -EDEADLK;
			break;
		}
		if (e->time > until) {
			s->now = until;
			break;
		}
		s->now = e->time;
		id = e->id;
		eventq_pop(&s->events);
		qpn_sim_event(s, id);
		if (s->nr_sent | s->nr_enabled | s->nr_dirty)
			ret = qpn_sim_settle(s);
		else
			ret = s->error;
		if (!ret && s->nr_live >= s->growth.next)
			ret = qpn_growth_look(s);
	}
	return ret ? qpn_sim_explain(s, ret, err) : 0;
}

double qpn_sim_now(const struct qpn_sim *s)
{
	return s->now;
}
