// SPDX-License-Identifier: Apache-2.0
/* Checks whether a net is a closed product-form network of queues, and converts it. */
#include <errno.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/solve/mva.h"

#define MAX_SLOTS 2000 /* because the visits need a dense system of this size */
/*
 * Mean service times of an FCFS queue that differ by less than this count as equal, because files
 * have decimals.
 */
#define SAME_MEAN 1e-6

void product_form_release(struct product_form *p)
{
	free(p->population);
	free(p->demand);
	free(p->servers);
	free(p->station_queue);
	free(p->visits);
	free(p->chain);
	free(p->station);
	*p = (struct product_form){ 0 };
}

static int refuse_place(const struct net *n, uint32_t place, struct err *err, const char *why)
{
	return err_set(err, EINVAL, "%s:%u: not product-form: place \"%s\": %s", n->file,
		       n->places[place].line, n->places[place].name, why);
}

static int check_transitions(const struct net *n, struct err *err)
{
	for (uint32_t i = 0; i < n->nr_transitions; i++) {
		const struct net_transition *t = &n->transitions[i];
		const char *why = NULL;
		uint32_t other = NET_NONE;

		if (t->timed)
			why = "it takes time";
		for (uint32_t m = 0; !why && m < t->nr_modes; m++) {
			const struct net_mode *x = &t->modes[m];

			if (x->nr_take != 1 || x->take[0].count != 1)
				why = "it waits for more than one token";
			else if (x->nr_put != 1 || x->put[0].count != 1)
				why = "it does not put exactly one token for the one it takes";
			if (why && x->nr_take)
				other = n->slots[x->take[x->nr_take - 1].slot].place;
		}
		if (t->timed && t->modes[0].nr_put)
			other = n->slots[t->modes[0].put[0].slot].place;
		if (why && other != NET_NONE)
			return err_set(err, EINVAL,
				       "%s:%u: not product-form: transition \"%s\" at place "
				       "\"%s\": %s",
				       n->file, t->line, t->name, n->places[other].name, why);
		if (why)
			return err_set(err, EINVAL,
				       "%s:%u: not product-form: transition \"%s\": %s", n->file,
				       t->line, t->name, why);
	}
	return 0;
}

/*
 * Checks that service times are independent, and that an FCFS queue is exponential and has the same
 * mean for all colours and places.
 */
static int check_queue(const struct net *n, uint32_t slot, struct err *err)
{
	const struct net_slot *s = &n->slots[slot];
	const struct net_queue *q = &n->queues[n->places[s->place].queue];

	if (s->service.kind == DIST_MAP && s->service.nr > 1)
		return refuse_place(n, s->place, err,
				    "its service times depend on each other (map or mmpp)");
	if (q->strategy == NET_PS || q->strategy == NET_IS)
		return 0;
	if (q->strategy == NET_PRIORITY || q->strategy == NET_PREEMPTIVE)
		return refuse_place(n, s->place, err, "its queue has priorities");
	if (s->service.kind != DIST_EXPONENTIAL)
		return refuse_place(n, s->place, err,
				    "first come, first served needs exponential service");
	for (uint32_t i = 0; i < n->nr_slots; i++)
		if (n->places[n->slots[i].place].queue == n->places[s->place].queue &&
		    fabs(n->slots[i].service.mean / s->service.mean - 1) > SAME_MEAN)
			return refuse_place(n, s->place, err,
					    "first come, first served needs the same mean service "
					    "time for all colours");
	return 0;
}

static int check_slots(const struct net *n, struct err *err)
{
	int e = 0;

	if (n->nr_slots > MAX_SLOTS)
		return err_set(err, EINVAL, "%s: %u pairs of place and colour: %d at most for mva",
			       n->file, n->nr_slots, MAX_SLOTS);
	for (uint32_t i = 0; !e && i < n->nr_slots; i++) {
		const struct net_place *p = &n->places[n->slots[i].place];

		if (n->slots[i].capacity || p->capacity)
			e = refuse_place(n, n->slots[i].place, err, "it has a capacity");
		else if (p->queue != NET_NONE && !n->queues[p->queue].immediate)
			e = check_queue(n, i, err);
	}
	return e;
}

/* Returns true if the net has no token there, and never will. */
static bool never_holds(const struct net *n, uint32_t slot)
{
	if (n->slots[slot].tokens)
		return false;
	for (uint32_t i = 0; i < n->nr_transitions; i++)
		for (uint32_t m = 0; m < n->transitions[i].nr_modes; m++)
			if (n->transitions[i].modes[m].put[0].slot == slot)
				return false;
	return true;
}

/*
 * Computes the weights of moves from a slot to each other slot in one firing, which are a row of
 * P.
 */
static int routing_row(const struct net *n, uint32_t slot, int64_t rank, double *row,
		       struct err *err)
{
	double total = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < n->nr_transitions; i++) {
			const struct net_transition *t = &n->transitions[i];
			double modes = 0;

			if (net_is_outranked(t, rank))
				continue;
			for (uint32_t m = 0; m < t->nr_modes; m++)
				if (t->modes[m].take[0].slot == slot)
					modes += t->modes[m].weight;
			if (modes > 0 && !pass)
				total += t->weight;
			for (uint32_t m = 0; pass && m < t->nr_modes; m++)
				if (t->modes[m].take[0].slot == slot)
					row[t->modes[m].put[0].slot] +=
						t->weight / total * t->modes[m].weight / modes;
		}
		if (!(total > 0) && !never_holds(n, slot))
			return refuse_place(n, n->slots[slot].place, err,
					    "its tokens never leave it");
	}
	return 0;
}

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

/* Joins the slots between which tokens can move into chains. Returns the number of chains. */
static uint32_t find_chains(const struct net *n, const int64_t *ranks, uint32_t *chain,
			    uint32_t *parent)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < n->nr_slots; i++)
		parent[i] = i;
	for (uint32_t i = 0; i < n->nr_transitions; i++)
		for (uint32_t m = 0; m < n->transitions[i].nr_modes; m++) {
			const struct net_mode *x = &n->transitions[i].modes[m];

			if (net_is_outranked(&n->transitions[i], ranks[x->take[0].slot]))
				continue;
			parent[root_of(parent, x->take[0].slot)] = root_of(parent, x->put[0].slot);
		}
	for (uint32_t i = 0; i < n->nr_slots; i++)
		if (root_of(parent, i) == i)
			chain[i] = nr++;
	for (uint32_t i = 0; i < n->nr_slots; i++)
		chain[i] = chain[root_of(parent, i)];
	return nr;
}

/*
 * Marks the slots of a chain from which tokens can get to this one. a is P transposed, with the
 * identity taken off. Returns the number of slots that were not marked before.
 */
static uint32_t mark_origins(const double *a, uint32_t nr, uint32_t slot, bool *marked,
			     uint32_t *stack)
{
	uint32_t depth = 0, found = 0;

	if (marked[slot])
		return 0;
	marked[slot] = true;
	stack[depth++] = slot;
	while (depth) {
		uint32_t to = stack[--depth];

		found++;
		for (uint32_t from = 0; from < nr; from++) {
			if (marked[from] || from == to || !(a[(size_t)to * nr + from] > 0))
				continue;
			marked[from] = true;
			stack[depth++] = from;
		}
	}
	return found;
}

/*
 * Returns true if all tokens of a chain end in one and the same cycle of places: then there is a
 * slot to which they can get from every other one. Where there is one, the last slot that was not
 * marked yet by those before it is such a slot.
 */
static bool ends_in_one_cycle(const struct product_form *p, const double *a, uint32_t nr,
			      uint32_t chain, bool *marked, uint32_t *stack)
{
	uint32_t last = 0, size = 0;

	memset(marked, 0, nr * sizeof(*marked));
	for (uint32_t i = 0; i < nr; i++) {
		if (p->chain[i] != chain)
			continue;
		size++;
		if (mark_origins(a, nr, i, marked, stack))
			last = i;
	}
	memset(marked, 0, nr * sizeof(*marked));
	return mark_origins(a, nr, last, marked, stack) == size;
}

static int check_cycles(const struct product_form *p, const struct net *n, const double *a,
			struct err *err)
{
	uint32_t nr = n->nr_slots, *stack = calloc(nr, sizeof(*stack));
	bool *marked = calloc(nr, sizeof(*marked));
	int ret = stack && marked ? 0 : err_set(err, ENOMEM, "%s: out of memory", n->file);

	for (uint32_t c = 0; !ret && c < p->nr_chains; c++)
		if (!ends_in_one_cycle(p, a, nr, c, marked, stack))
			ret = err_set(err, EINVAL,
				      "%s: not product-form: tokens can end in more than one "
				      "cycle of places",
				      n->file);
	free(stack);
	free(marked);
	return ret;
}

/*
 * Solves v = v P within each chain, where the sum of v is 1: the transposed equations, with one
 * equation of each chain replaced.
 */
static int find_visits(struct product_form *p, const struct net *n, const int64_t *ranks,
		       struct err *err)
{
	uint32_t nr = n->nr_slots;
	double *a = calloc((size_t)nr * nr, sizeof(*a)), *row = calloc(nr, sizeof(*row));
	lapack_int *pivots = calloc(nr, sizeof(*pivots));
	int ret = a && row && pivots ? 0 : err_set(err, ENOMEM, "%s: out of memory", n->file);

	if (ret)
		goto out;
	for (uint32_t i = 0; i < nr; i++) {
		memset(row, 0, nr * sizeof(*row));
		ret = routing_row(n, i, ranks[i], row, err);
		for (uint32_t k = 0; k < nr; k++)
			a[(size_t)k * nr + i] = row[k] - (i == k);
		if (ret)
			goto out;
	}
	ret = check_cycles(p, n, a, err);
	if (ret)
		goto out;
	for (uint32_t c = 0; c < p->nr_chains; c++) {
		uint32_t first = 0;

		while (p->chain[first] != c)
			first++;
		for (uint32_t k = 0; k < nr; k++)
			a[(size_t)first * nr + k] = p->chain[k] == c;
		p->visits[first] = 1;
	}
	if (LAPACKE_dgesv(LAPACK_ROW_MAJOR, (lapack_int)nr, 1, a, (lapack_int)nr, pivots, p->visits,
			  1))
		ret = err_set(err, EINVAL, "%s: the equations of the visits have no solution",
			      n->file);
	for (uint32_t i = 0; !ret && i < nr; i++)
		if (!(p->visits[i] > 0)) /* no token comes back, which rounding makes -0 or less */
			p->visits[i] = 0;
out:
	free(a);
	free(row);
	free(pivots);
	return ret;
}

static int product_form_allocate(struct product_form *p, const struct net *n)
{
	p->visits = calloc(n->nr_slots, sizeof(*p->visits));
	p->chain = calloc(n->nr_slots, sizeof(*p->chain));
	p->station = calloc(n->nr_slots, sizeof(*p->station));
	p->population = calloc(n->nr_slots, sizeof(*p->population));
	p->servers = calloc((size_t)n->nr_queues + 1, sizeof(*p->servers));
	p->station_queue = calloc((size_t)n->nr_queues + 1, sizeof(*p->station_queue));
	p->demand = calloc((size_t)n->nr_slots * ((size_t)n->nr_queues + 1), sizeof(*p->demand));
	return p->visits && p->chain && p->station && p->population && p->servers &&
			       p->station_queue && p->demand
		       ? 0
		       : -ENOMEM;
}

static void fill_stations(struct product_form *p, const struct net *n)
{
	for (uint32_t q = 0; q < n->nr_queues; q++) {
		if (n->queues[q].immediate)
			continue;
		p->station_queue[p->nr_stations] = q;
		p->servers[p->nr_stations++] =
			n->queues[q].strategy == NET_IS ? 0 : n->queues[q].servers;
	}
	for (uint32_t i = 0; i < n->nr_slots; i++) {
		p->station[i] = NET_NONE;
		p->population[p->chain[i]] += n->slots[i].tokens;
		for (uint32_t s = 0; s < p->nr_stations; s++) {
			if (n->places[n->slots[i].place].queue != p->station_queue[s])
				continue;
			p->station[i] = s;
			p->demand[(size_t)p->chain[i] * p->nr_stations + s] +=
				p->visits[i] * n->slots[i].service.mean;
		}
	}
}

/* Refuses a chain that has tokens but no service, because its tokens would need no time. */
static int check_chains(const struct product_form *p, const struct net *n, struct err *err)
{
	for (uint32_t i = 0; i < n->nr_slots; i++) {
		double sum = 0;

		for (uint32_t s = 0; s < p->nr_stations; s++)
			sum += p->demand[(size_t)p->chain[i] * p->nr_stations + s];
		if (p->population[p->chain[i]] && !(sum > 0))
			return refuse_place(n, n->slots[i].place, err,
					    "no time passes on any way from here");
	}
	return 0;
}

int product_form_make(struct product_form *p, const struct net *n, struct err *err)
{
	uint32_t *parent = calloc(n->nr_slots, sizeof(*parent));
	int64_t *ranks = net_ranks(n);
	int ret;

	*p = (struct product_form){ 0 };
	ret = check_transitions(n, err);
	if (ret)
		goto out;
	ret = check_slots(n, err);
	if (ret)
		goto out;
	if (!parent || !ranks || product_form_allocate(p, n))
		ret = err_set(err, ENOMEM, "%s: out of memory", n->file);
	if (ret)
		goto out;
	p->nr_chains = find_chains(n, ranks, p->chain, parent);
	ret = find_visits(p, n, ranks, err);
	if (ret)
		goto out;
	fill_stations(p, n);
	ret = check_chains(p, n, err);
out:
	free(parent);
	free(ranks);
	if (ret)
		product_form_release(p);
	return ret;
}
