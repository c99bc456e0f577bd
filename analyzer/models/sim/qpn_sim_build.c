// SPDX-License-Identifier: Apache-2.0
/*
 * This file builds the state of a simulation from its net: routes, conditions of modes, queues, the
 * initial marking.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/sim/qpn_state.h"
#include "base/memory/order.h"

/*
 * These are families of random streams, so that a new stream in one family does not change the
 * others.
 */
enum stream {
	STREAM_CHOICE,
	STREAM_SLOT,
	STREAM_QUEUE,
	STREAM_TRANSITION,
};

static void seed_stream(struct rng *r, uint64_t seed, enum stream family, uint32_t index)
{
	rng_stream(r, seed, (uint64_t)family << 32 | index);
}

static void free_queue(struct queue_state *q)
{
	free(q->levels);
	free(q->waiting);
	free(q->serving);
	free(q->jobs);
}

void qpn_sim_free(struct qpn_sim *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; s->queues && i < s->net->nr_queues; i++)
		free_queue(&s->queues[i]);
	for (uint32_t i = 0; s->modes && i < s->nr_modes; i++)
		qpn_origin_release(&s->modes[i]);
	for (uint32_t i = 0; s->transitions && i < s->net->nr_transitions; i++)
		free(s->transitions[i].modes);
	for (uint32_t i = 0; s->levels && i < s->nr_levels; i++)
		free(s->levels[i].items);
	for (uint32_t i = 0; s->residence && i < s->net->nr_slots; i++)
		qhist_release(&s->residence[i]);
	for (uint32_t i = 0; s->times && i < s->net->nr_probes; i++)
		qhist_release(&s->times[i]);
	eventq_release(&s->events);
	free(s->tokens);
	free(s->marks);
	free(s->slots);
	free(s->places);
	free(s->queues);
	free(s->modes);
	free(s->transitions);
	free(s->levels);
	free(s->dirty);
	free(s->clock_owner);
	free(s->watches);
	free(s->routes);
	free(s->sent);
	free(s->taken);
	free(s->kept);
	free(s->residence);
	free(s->times);
	free(s->probes);
	free(s);
}

/* Sorts priorities, the highest first, and removes repetitions. Returns how many are left. */
static uint32_t rank_priorities(uint32_t *p, uint32_t nr)
{
	uint32_t out = 0;

	qsort(p, nr, sizeof(*p), order_u32_falling);
	for (uint32_t i = 0; i < nr; i++)
		if (!out || p[i] != p[out - 1])
			p[out++] = p[i];
	return out;
}

static uint32_t rank_of(const uint32_t *p, uint32_t priority)
{
	uint32_t i = 0;

	while (p[i] != priority)
		i++;
	return i;
}

/* Builds the levels of one queue's slots. scratch has room for all slots. */
static int build_queue(struct qpn_sim *s, uint32_t index, uint64_t seed, uint32_t *scratch)
{
	const struct net *n = s->net;
	const struct net_queue *from = &n->queues[index];
	struct queue_state *q = &s->queues[index];
	bool ranked = from->strategy == NET_PRIORITY || from->strategy == NET_PREEMPTIVE;
	uint32_t nr = 0;

	q->strategy = from->strategy;
	q->servers = from->servers;
	if (q->strategy == NET_IS)
		q->nr_free = UINT32_MAX;
	else if (q->strategy != NET_PS && q->strategy != NET_PREEMPTIVE)
		q->nr_free = q->servers;
	seed_stream(&q->rng, seed, STREAM_QUEUE, index);
	for (uint32_t i = 0; ranked && i < n->nr_slots; i++)
		if (n->places[n->slots[i].place].queue == index)
			scratch[nr++] = n->slots[i].priority;
	q->nr_levels = nr ? rank_priorities(scratch, nr) : 1;
	for (uint32_t i = 0; ranked && i < n->nr_slots; i++)
		if (n->places[n->slots[i].place].queue == index)
			s->slots[i].level = rank_of(scratch, n->slots[i].priority);
	q->levels = calloc(q->nr_levels, sizeof(*q->levels));
	q->serving = calloc(q->strategy == NET_PREEMPTIVE ? q->servers : 1, sizeof(*q->serving));
	if (!q->levels || !q->serving)
		return -ENOMEM;
	for (uint32_t i = 0; i < q->nr_levels; i++)
		q->levels[i].head = NO_TOKEN;
	for (uint32_t i = 0; q->strategy == NET_PREEMPTIVE && i < q->servers; i++)
		q->serving[i] = NO_TOKEN;
	q->clock = s->nr_clocks;
	if (q->strategy == NET_PS)
		s->nr_clocks++;
	else if (q->strategy == NET_PREEMPTIVE)
		s->nr_clocks += q->servers;
	return 0;
}

static bool is_probed(const struct net *n, const struct net_slot *x)
{
	for (uint32_t i = 0; i < n->nr_probes; i++) {
		const struct net_probe *p = &n->probes[i];

		if ((p->from_place == x->place && p->from_colour == x->colour) ||
		    (p->to_place == x->place && p->to_colour == x->colour))
			return true;
	}
	return false;
}

static void build_slots(struct qpn_sim *s, uint64_t seed)
{
	const struct net *n = s->net;

	for (uint32_t i = 0; i < n->nr_slots; i++) {
		const struct net_slot *from = &n->slots[i];
		const struct net_place *p = &n->places[from->place];
		struct slot_state *x = &s->slots[i];

		x->place = from->place;
		x->queue =
			p->queue == NET_NONE || n->queues[p->queue].immediate ? NET_NONE : p->queue;
		x->service = &from->service;
		seed_stream(&x->rng, seed, STREAM_SLOT, i);
		x->fifo = p->fifo;
		x->capped = from->capacity || p->capacity;
		x->probed = is_probed(n, from);
		x->lying.head = NO_TOKEN;
	}
	for (uint32_t i = 0; i < n->nr_places; i++)
		s->places[i].lying.head = NO_TOKEN;
}

static uint32_t count_in(const struct net_arc *arcs, uint32_t nr, uint32_t slot)
{
	for (uint32_t i = 0; i < nr; i++)
		if (arcs[i].slot == slot)
			return arcs[i].count;
	return 0;
}

static int build_modes(struct qpn_sim *s)
{
	const struct net *n = s->net;
	uint32_t k = 0, most = 1;

	for (uint32_t i = 0; i < n->nr_transitions; i++) {
		for (uint32_t m = 0; m < n->transitions[i].nr_modes; m++, k++) {
			struct mode_state *x = &s->modes[k];

			x->transition = i;
			x->net = &n->transitions[i].modes[m];
			x->weight = x->net->weight;
			if (qpn_origin_build(x, n))
				return -ENOMEM;
			x->moves_to = NET_NONE;
			if (x->nr_taken == 1 && x->nr_made == 1 && x->makes[0].origin == 0 &&
			    !x->heir && !x->model)
				x->moves_to = x->makes[0].slot;
			if (x->nr_taken > most)
				most = x->nr_taken;
		}
	}
	s->taken = calloc(most, sizeof(*s->taken));
	s->kept = calloc((size_t)most * n->nr_probes + 1, sizeof(*s->kept));
	return s->taken && s->kept ? 0 : -ENOMEM;
}

static int build_transitions(struct qpn_sim *s, uint64_t seed, uint32_t *scratch)
{
	const struct net *n = s->net;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < n->nr_transitions; i++)
		if (!n->transitions[i].timed)
			scratch[nr++] = n->transitions[i].priority;
	s->nr_levels = rank_priorities(scratch, nr);
	s->levels = calloc(s->nr_levels + 1, sizeof(*s->levels));
	if (!s->levels)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nr_levels; i++) {
		s->levels[i].items = calloc(n->nr_transitions, sizeof(uint32_t));
		if (!s->levels[i].items)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < n->nr_transitions; i++) {
		const struct net_transition *from = &n->transitions[i];
		struct transition_state *t = &s->transitions[i];

		t->modes = calloc(from->nr_modes, sizeof(*t->modes));
		if (!t->modes)
			return -ENOMEM;
		t->timed = from->timed;
		t->weight = from->weight;
		t->time = &from->time;
		if (!t->timed)
			t->level = rank_of(scratch, from->priority);
		else
			t->clock = s->nr_clocks++;
		seed_stream(&t->rng, seed, STREAM_TRANSITION, i);
	}
	return 0;
}

/* Returns whether every mode that takes from this slot takes one token there and nothing else. */
static bool takes_alone(const struct qpn_sim *s, uint32_t slot)
{
	const struct net_transition *first = NULL;

	if (s->slots[slot].fifo)
		return false;
	for (uint32_t m = 0; m < s->nr_modes; m++) {
		const struct mode_state *x = &s->modes[m];
		const struct net_transition *t = &s->net->transitions[x->transition];

		if (!count_in(x->net->take, x->net->nr_take, slot))
			continue;
		if (t->timed || x->nr_taken != 1 || (first && first->priority != t->priority))
			return false;
		first = t;
		for (uint32_t i = 0; i < x->net->nr_put; i++)
			if (s->slots[x->net->put[i].slot].capped)
				return false;
	}
	return first != NULL;
}

/* Returns the sum of the weights of a transition's modes that take from the slot. */
static double mode_weights(const struct qpn_sim *s, uint32_t transition, uint32_t slot)
{
	const struct net_transition *t = &s->net->transitions[transition];
	double sum = 0;

	for (uint32_t i = 0; i < t->nr_modes; i++)
		if (count_in(t->modes[i].take, t->modes[i].nr_take, slot))
			sum += t->modes[i].weight;
	return sum;
}

/* Fills the routes of a slot from *at on. */
static void add_routes(struct qpn_sim *s, uint32_t slot, uint32_t *at)
{
	struct slot_state *x = &s->slots[slot];
	double total = 0, until = 0;

	x->routes = s->routes + *at;
	for (uint32_t i = 0; i < s->net->nr_transitions; i++)
		if (mode_weights(s, i, slot) > 0)
			total += s->transitions[i].weight;
	for (uint32_t m = 0; m < s->nr_modes; m++) {
		const struct mode_state *y = &s->modes[m];

		if (!count_in(y->net->take, y->net->nr_take, slot))
			continue;
		until += s->transitions[y->transition].weight / total * y->weight /
			 mode_weights(s, y->transition, slot);
		s->routes[(*at)++] =
			(struct route){ .until = until, .mode = m, .moves_to = y->moves_to };
		x->nr_routes++;
	}
	/* The last route gets whatever rounding left over. */
	s->routes[*at - 1].until = 2;
}

static int build_routes(struct qpn_sim *s)
{
	uint32_t at = 0;

	s->routes = calloc((size_t)s->nr_modes + 1, sizeof(*s->routes));
	if (!s->routes)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->net->nr_slots; i++)
		if (takes_alone(s, i))
			add_routes(s, i, &at);
	return 0;
}

static void add_watch(struct qpn_sim *s, struct watch_range *r, uint32_t mode, int64_t need)
{
	s->watches[r->end++] = (struct watch){ .mode = mode, .need = need };
}

/* Returns the tokens that a mode adds to a slot or, where slot is NET_NONE, to a place. */
static int64_t qpn_sim_build_gain(const struct qpn_sim *s, const struct net_mode *m, uint32_t slot,
				  uint32_t place)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < m->nr_put; i++)
		if (m->put[i].slot == slot || s->slots[m->put[i].slot].place == place)
			sum += m->put[i].count;
	for (uint32_t i = 0; i < m->nr_take; i++)
		if (m->take[i].slot == slot || s->slots[m->take[i].slot].place == place)
			sum -= m->take[i].count;
	return sum;
}

/* Adds the conditions on the room in one slot (place NET_NONE) or one place (slot NET_NONE). */
static void watch_room(struct qpn_sim *s, struct watch_range *r, uint32_t slot, uint32_t place,
		       uint64_t capacity)
{
	for (uint32_t m = 0; capacity && m < s->nr_modes; m++) {
		int64_t more = qpn_sim_build_gain(s, s->modes[m].net, slot, place);

		if (more <= 0)
			continue;
		add_watch(s, r, m, (int64_t)capacity - more);
		if ((int64_t)capacity < more)
			s->modes[m].missing++;
	}
}

/*
 * Finds what each mode waits for. A mode that takes only from routed slots is never enabled by
 * itself, so it gets a condition that never holds.
 */
static int build_watches(struct qpn_sim *s)
{
	const struct net *n = s->net;
	size_t room = 1;
	uint32_t at = 0;

	for (uint32_t m = 0; m < s->nr_modes; m++)
		room += 3 * ((size_t)s->modes[m].net->nr_take + s->modes[m].net->nr_put);
	s->watches = calloc(room, sizeof(*s->watches));
	if (!s->watches)
		return -ENOMEM;
	for (uint32_t i = 0; i < n->nr_slots; i++) {
		struct slot_state *x = &s->slots[i];

		x->visible.begin = x->visible.end = at;
		for (uint32_t m = 0; m < s->nr_modes; m++) {
			const struct net_mode *y = s->modes[m].net;
			uint32_t count = count_in(y->take, y->nr_take, i);

			if (!count)
				continue;
			s->modes[m].missing++;
			add_watch(s, &x->visible, m, count);
		}
		x->room.begin = x->room.end = x->visible.end;
		watch_room(s, &x->room, i, NET_NONE, n->slots[i].capacity);
		at = x->room.end;
	}
	for (uint32_t i = 0; i < n->nr_places; i++) {
		s->places[i].room.begin = s->places[i].room.end = at;
		watch_room(s, &s->places[i].room, NET_NONE, i, n->places[i].capacity);
		at = s->places[i].room.end;
	}
	return 0;
}

static int qpn_sim_build_allocate(struct qpn_sim *s)
{
	const struct net *n = s->net;

	for (uint32_t i = 0; i < n->nr_transitions; i++)
		s->nr_modes += n->transitions[i].nr_modes;
	s->free_token = NO_TOKEN;
	s->slots = calloc((size_t)n->nr_slots + 1, sizeof(*s->slots));
	s->places = calloc((size_t)n->nr_places + 1, sizeof(*s->places));
	s->queues = calloc((size_t)n->nr_queues + 1, sizeof(*s->queues));
	s->modes = calloc((size_t)s->nr_modes + 1, sizeof(*s->modes));
	s->transitions = calloc((size_t)n->nr_transitions + 1, sizeof(*s->transitions));
	s->dirty = calloc((size_t)n->nr_transitions + 1, sizeof(*s->dirty));
	s->residence = calloc((size_t)n->nr_slots + 1, sizeof(*s->residence));
	s->times = calloc((size_t)n->nr_probes + 1, sizeof(*s->times));
	s->probes = calloc((size_t)n->nr_probes + 1, sizeof(*s->probes));
	return s->slots && s->places && s->queues && s->modes && s->transitions && s->dirty &&
			       s->residence && s->times && s->probes
		       ? 0
		       : -ENOMEM;
}

static int build_clocks(struct qpn_sim *s)
{
	s->clock_owner = calloc((size_t)s->nr_clocks + 1, sizeof(*s->clock_owner));
	if (!s->clock_owner)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->net->nr_queues; i++) {
		uint32_t nr = s->queues[i].strategy == NET_PS		? 1
			      : s->queues[i].strategy == NET_PREEMPTIVE ? s->queues[i].servers
									: 0;

		for (uint32_t c = 0; c < nr; c++)
			s->clock_owner[s->queues[i].clock + c] = i;
	}
	for (uint32_t i = 0; i < s->net->nr_transitions; i++)
		if (s->transitions[i].timed)
			s->clock_owner[s->transitions[i].clock] = s->net->nr_queues + i;
	return eventq_init(&s->events, s->nr_clocks);
}

static int qpn_sim_build_whole(struct qpn_sim *s, uint64_t seed)
{
	const struct net *n = s->net;
	uint32_t nr = n->nr_slots > n->nr_transitions ? n->nr_slots : n->nr_transitions;
	uint32_t *scratch = calloc((size_t)nr + 1, sizeof(*scratch));
	int ret = scratch ? qpn_sim_build_allocate(s) : -ENOMEM;

	if (ret)
		goto out;
	seed_stream(&s->choice, seed, STREAM_CHOICE, 0);
	build_slots(s, seed);
	ret = build_modes(s);
	if (ret)
		goto out;
	for (uint32_t i = 0; i < n->nr_queues; i++) {
		ret = build_queue(s, i, seed, scratch);
		if (ret)
			goto out;
	}
	ret = build_transitions(s, seed, scratch);
	if (ret)
		goto out;
	ret = build_clocks(s);
	if (ret)
		goto out;
	ret = build_routes(s);
	if (ret)
		goto out;
	ret = build_watches(s);
out:
	free(scratch);
	return ret;
}

static int place_tokens(struct qpn_sim *s)
{
	for (uint32_t m = 0; m < s->nr_modes; m++)
		if (!s->modes[m].missing)
			qpn_mode_enable(s, m);
	for (uint32_t i = 0; i < s->net->nr_slots; i++) {
		for (uint64_t c = s->net->slots[i].tokens; c && !s->error; c--) {
			uint32_t t = qpn_token_new(s);

			if (t != NO_TOKEN)
				qpn_enter(s, t, i);
		}
	}
	return s->error;
}

int qpn_sim_new(struct qpn_sim **out, const struct net *n, uint64_t seed, struct err *err)
{
	struct qpn_sim *s = calloc(1, sizeof(*s));
	int ret = -ENOMEM;

	if (s) {
		s->net = n;
		ret = qpn_sim_build_whole(s, seed);
	}
	if (!ret)
		ret = place_tokens(s);
	if (!ret)
		qpn_growth_begin(s);
	if (ret) {
		qpn_sim_free(s);
		return err_set(err, -ret, "%s: %s", n->file, strerror(-ret));
	}
	*out = s;
	return 0;
}
