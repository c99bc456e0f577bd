// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/check.h"
#include "analyzer/models/net/check_flows.h"

#define MAX_SLOTS 2000 /* largest dense system; flows of larger nets are not examined */
/*
 * Weights conserve tokens if every firing is balanced up to this, relative to the largest weight.
 */
#define BALANCED   1e-6
#define MAX_SWEEPS 20000

struct checker {
	const struct net *n;
	void (*say)(void *ctx, const struct finding *f);
	void *ctx;
	bool *reachable; /* by slot */
	bool *fires;	 /* by mode, in the order of transitions */
	int64_t *ranks;	 /* by slot: net_ranks() */
	bool *outranked; /* by mode: another one of a higher priority takes its tokens */
	bool *keeps;	 /* by mode: may be part of an endless loop */
	const struct net_mode **modes;
	const struct net_transition **of; /* by mode */
	uint32_t nr_modes;
};

static const char *const finding_names[] = { "unreachable", "dead-mode", "trap",
					     "loop",	    "unstable",	 "unconserved" };

static void check_report(const struct checker *c, enum finding_kind kind, unsigned line,
			 const char *format, const char *a, const char *b)
{
	char text[600];
	struct finding f = { .kind = kind, .line = line, .text = text };

	/* There are at most two names, and the formats are those of this file. */
	snprintf(text, sizeof(text), "%s \"%.200s\"%s%.200s%s", format, a, b ? " (" : "",
		 b ? b : "", b ? ")" : "");
	c->say(c->ctx, &f);
}

static const char *place_name(const struct checker *c, uint32_t slot)
{
	return c->n->places[c->n->slots[slot].place].name;
}

static const char *colour_name(const struct checker *c, uint32_t slot)
{
	return c->n->colours[c->n->slots[slot].colour];
}

static bool check_outranked(const struct checker *c, uint32_t mode)
{
	const struct net_mode *x = c->modes[mode];

	for (uint32_t i = 0; i < x->nr_take; i++)
		if (net_is_outranked(c->of[mode], c->ranks[x->take[i].slot]))
			return true;
	return false;
}

/*
 * Computes a least fixed point: a mode can fire if tokens can reach all slots from which it takes.
 */
static void find_reachable(struct checker *c)
{
	bool more = true;

	for (uint32_t i = 0; i < c->n->nr_slots; i++)
		c->reachable[i] = c->n->slots[i].tokens > 0;
	while (more) {
		more = false;
		for (uint32_t m = 0; m < c->nr_modes; m++) {
			const struct net_mode *x = c->modes[m];
			bool can = !c->fires[m] && !c->outranked[m];

			for (uint32_t i = 0; can && i < x->nr_take; i++)
				can = c->reachable[x->take[i].slot];
			if (!can)
				continue;
			c->fires[m] = more = true;
			for (uint32_t i = 0; i < x->nr_put; i++)
				c->reachable[x->put[i].slot] = true;
		}
	}
}

static void check_reachable(const struct checker *c)
{
	for (uint32_t i = 0; i < c->n->nr_slots; i++)
		if (!c->reachable[i])
			check_report(c, FINDING_UNREACHABLE, c->n->slots[i].line,
				     "no token ever gets to place", place_name(c, i),
				     colour_name(c, i));
	for (uint32_t m = 0; m < c->nr_modes; m++)
		if (!c->fires[m])
			check_report(c, FINDING_DEAD_MODE, c->modes[m]->line,
				     c->outranked[m] ? "one of a higher priority takes its tokens "
						       "first: transition"
						     : "what it takes never comes together: "
						       "transition",
				     c->of[m]->name, c->modes[m]->name);
}

static void check_traps(const struct checker *c)
{
	for (uint32_t i = 0; i < c->n->nr_slots; i++) {
		bool left = !c->reachable[i];

		for (uint32_t m = 0; !left && m < c->nr_modes; m++)
			for (uint32_t k = 0; c->fires[m] && k < c->modes[m]->nr_take; k++)
				left |= c->modes[m]->take[k].slot == i;
		if (!left)
			check_report(c, FINDING_TRAP, c->n->slots[i].line,
				     "tokens that get there never leave: place", place_name(c, i),
				     colour_name(c, i));
	}
}

static bool takes_no_time(const struct checker *c, uint32_t slot)
{
	uint32_t queue = c->n->places[c->n->slots[slot].place].queue;

	return queue == NET_NONE || c->n->queues[queue].immediate;
}

/* Returns true if a mode that may fire endlessly puts tokens into the slot. */
static bool is_fed(const struct checker *c, uint32_t slot)
{
	for (uint32_t m = 0; m < c->nr_modes; m++)
		for (uint32_t i = 0; c->keeps[m] && i < c->modes[m]->nr_put; i++)
			if (c->modes[m]->put[i].slot == slot)
				return true;
	return false;
}

/*
 * Computes a greatest fixed point: the immediate modes all of whose tokens come, without time,
 * from modes of the same set. If a mode remains in the set, it can fire endlessly once it starts.
 */
static void check_loops(struct checker *c)
{
	bool more = true;

	for (uint32_t m = 0; m < c->nr_modes; m++) {
		c->keeps[m] = c->fires[m] && !c->of[m]->timed;
		for (uint32_t i = 0; i < c->modes[m]->nr_take; i++)
			c->keeps[m] &= takes_no_time(c, c->modes[m]->take[i].slot);
	}
	while (more) {
		more = false;
		for (uint32_t m = 0; m < c->nr_modes; m++)
			for (uint32_t i = 0; c->keeps[m] && i < c->modes[m]->nr_take; i++)
				if (!is_fed(c, c->modes[m]->take[i].slot)) {
					c->keeps[m] = false;
					more = true;
				}
	}
	for (uint32_t m = 0; m < c->nr_modes; m++)
		if (c->keeps[m])
			check_report(c, FINDING_LOOP, c->modes[m]->line,
				     "on a cycle where no time passes: transition", c->of[m]->name,
				     c->modes[m]->name);
}

/*
 * Returns the share of a slot's tokens that a mode takes. Valid only if modes take at most one
 * token.
 */
static double check_share(const struct checker *c, uint32_t mode, uint32_t slot)
{
	const struct net_transition *t = c->of[mode];
	double all = 0, own = 0;

	for (uint32_t i = 0; i < c->n->nr_transitions; i++) {
		const struct net_transition *u = &c->n->transitions[i];
		bool takes = false;

		for (uint32_t k = 0; k < u->nr_modes; k++)
			takes |= u->modes[k].nr_take && u->modes[k].take[0].slot == slot;
		all += takes && !net_is_outranked(u, c->ranks[slot]) ? u->weight : 0;
	}
	for (uint32_t k = 0; k < t->nr_modes; k++)
		if (t->modes[k].nr_take && t->modes[k].take[0].slot == slot)
			own += t->modes[k].weight;
	return t->weight / all * c->modes[mode]->weight / own;
}

/*
 * Returns true if the net is open, has no capacities, and every mode that takes tokens takes one
 * and is immediate. Flows are then linear.
 */
static bool is_linear(const struct checker *c)
{
	bool open = false;

	for (uint32_t m = 0; m < c->nr_modes; m++) {
		const struct net_mode *x = c->modes[m];

		if (!x->nr_take) {
			open = true;
			continue;
		}
		if (x->nr_take > 1 || x->take[0].count > 1 || c->of[m]->timed)
			return false;
	}
	for (uint32_t i = 0; i < c->n->nr_slots; i++)
		if (c->n->slots[i].capacity || c->n->places[c->n->slots[i].place].capacity)
			return false;
	return open && c->n->nr_slots <= MAX_SLOTS;
}

static double source_rate(const struct checker *c, uint32_t mode)
{
	double all = 0;

	for (uint32_t k = 0; k < c->of[mode]->nr_modes; k++)
		all += c->of[mode]->modes[k].weight;
	return c->modes[mode]->weight / all / c->of[mode]->time.mean;
}

/* Solves rate = sources + P' rate, that is (I - P') rate = sources. */
static int solve_flows(const struct checker *c, double *a, double *rate, lapack_int *pivots)
{
	lapack_int nr = (lapack_int)c->n->nr_slots;

	for (lapack_int i = 0; i < nr; i++)
		a[i * nr + i] = 1;
	for (uint32_t m = 0; m < c->nr_modes; m++) {
		const struct net_mode *x = c->modes[m];

		for (uint32_t i = 0; !c->outranked[m] && i < x->nr_put; i++) {
			if (!x->nr_take)
				rate[x->put[i].slot] += x->put[i].count * source_rate(c, m);
			else
				a[(lapack_int)x->put[i].slot * nr + x->take[0].slot] -=
					x->put[i].count * check_share(c, m, x->take[0].slot);
		}
	}
	return LAPACKE_dgesv(LAPACK_ROW_MAJOR, nr, 1, a, nr, pivots, rate, 1);
}

static void check_load(const struct checker *c, const double *rate, uint32_t queue)
{
	const struct net_queue *q = &c->n->queues[queue];
	char load[64];
	double work = 0;
	uint32_t first = NET_NONE;

	for (uint32_t i = 0; i < c->n->nr_slots; i++) {
		if (c->n->places[c->n->slots[i].place].queue != queue)
			continue;
		work += rate[i] * c->n->slots[i].service.mean;
		first = first == NET_NONE ? i : first;
	}
	if (first == NET_NONE || q->immediate || q->strategy == NET_IS || work < q->servers)
		return;
	snprintf(load, sizeof(load), "load %.4g on %u server%s", work, q->servers,
		 q->servers == 1 ? "" : "s");
	check_report(c, FINDING_UNSTABLE, c->n->places[c->n->slots[first].place].line,
		     "unstable, more work comes than can be done: place", place_name(c, first),
		     load);
}

static void on_flow(void *ctx, uint32_t slot, double needed, double there, bool pool)
{
	const struct checker *c = ctx;
	char load[64];

	if (pool)
		snprintf(load, sizeof(load), "%.4g of %.4g tokens", needed, there);
	else
		snprintf(load, sizeof(load), "load %.4g on %.4g server%s", needed, there,
			 there == 1 ? "" : "s");
	check_report(c, FINDING_UNSTABLE, c->n->places[c->n->slots[slot].place].line,
		     pool ? "unstable, more tokens are in service than it has: the pool of place"
			  : "unstable, more work comes than can be done: place",
		     place_name(c, slot), load);
}

/* Examines nets whose modes take several tokens, as far as their flows are determined. */
static int check_joins(struct checker *c)
{
	const struct net_transition **of = calloc((size_t)c->nr_modes + 1, sizeof(*of));
	const struct net_mode **modes = calloc((size_t)c->nr_modes + 1, sizeof(*modes));
	uint32_t nr = 0;
	int ret = -ENOMEM;

	for (uint32_t m = 0; of && modes && m < c->nr_modes; m++) {
		if (!c->fires[m])
			continue;
		of[nr] = c->of[m];
		modes[nr++] = c->modes[m];
	}
	if (of && modes)
		ret = check_flows(c->n, modes, of, nr, on_flow, c);
	free(of);
	free(modes);
	return ret;
}

static int check_stability(struct checker *c)
{
	size_t nr = c->n->nr_slots;
	double *a, *rate;
	lapack_int *pivots;
	int ret = -ENOMEM;

	if (!is_linear(c))
		return check_joins(c);
	a = calloc(nr * nr, sizeof(*a));
	rate = calloc(nr, sizeof(*rate));
	pivots = calloc(nr, sizeof(*pivots));
	if (a && rate && pivots) {
		/*
		 * The system is singular: tokens circulate for ever beside the open flow, so that
		 * loads are unknown.
		 */
		ret = 0;
		if (!solve_flows(c, a, rate, pivots))
			for (uint32_t q = 0; q < c->n->nr_queues; q++)
				check_load(c, rate, q);
	}
	free(a);
	free(rate);
	free(pivots);
	return ret;
}

/* Returns the weight of the tokens that a mode puts minus the weight of those that it takes. */
static double check_gain(const struct net_mode *m, const double *weight)
{
	double sum = 0;

	for (uint32_t i = 0; i < m->nr_put; i++)
		sum += m->put[i].count * weight[m->put[i].slot];
	for (uint32_t i = 0; i < m->nr_take; i++)
		sum -= m->take[i].count * weight[m->take[i].slot];
	return sum;
}

static double change_in(const struct net_mode *m, uint32_t slot)
{
	double sum = 0;

	for (uint32_t i = 0; i < m->nr_put; i++)
		sum += m->put[i].slot == slot ? m->put[i].count : 0;
	for (uint32_t i = 0; i < m->nr_take; i++)
		sum -= m->take[i].slot == slot ? m->take[i].count : 0;
	return sum;
}

/*
 * Improves the weights once. A net that conserves its tokens has positive weights under which
 * every firing is balanced. The search is cyclic coordinate descent on the least squares over
 * weights of at least 1, and reaches balance for such a net.
 */
static void check_sweep(const struct checker *c, double *weight)
{
	for (uint32_t s = 0; s < c->n->nr_slots; s++) {
		double slope = 0, curve = 0;

		for (uint32_t m = 0; m < c->nr_modes; m++) {
			double d = c->fires[m] ? change_in(c->modes[m], s) : 0;

			if (d == 0)
				continue;
			slope += d * check_gain(c->modes[m], weight);
			curve += d * d;
		}
		if (curve > 0)
			weight[s] = fmax(1, weight[s] - slope / curve);
	}
}

/* Returns the mode that is furthest from balance, or nr_modes if all modes are balanced. */
static uint32_t worst_mode(const struct checker *c, const double *weight)
{
	double most = 0, worst = 0;
	uint32_t mode = c->nr_modes;

	for (uint32_t s = 0; s < c->n->nr_slots; s++)
		most = fmax(most, weight[s]);
	for (uint32_t m = 0; m < c->nr_modes; m++) {
		double g = c->fires[m] ? fabs(check_gain(c->modes[m], weight)) : 0;

		if (g > BALANCED * most && g > worst) {
			worst = g;
			mode = m;
		}
	}
	return mode;
}

static int check_conserved(const struct checker *c)
{
	double *weight;
	uint32_t worst = 0;

	for (uint32_t m = 0; m < c->nr_modes; m++)
		if (c->fires[m] && (!c->modes[m]->nr_take || !c->modes[m]->nr_put))
			return 0; /* the net is open */
	if (c->n->nr_slots > MAX_SLOTS / 10)
		return 0;
	weight = calloc((size_t)c->n->nr_slots + 1, sizeof(*weight));
	if (!weight)
		return -ENOMEM;
	for (uint32_t s = 0; s < c->n->nr_slots; s++)
		weight[s] = 1;
	for (int i = 0; i < MAX_SWEEPS && worst < c->nr_modes; i++) {
		check_sweep(c, weight);
		worst = worst_mode(c, weight);
	}
	free(weight);
	if (worst < c->nr_modes)
		check_report(c, FINDING_UNCONSERVED, c->modes[worst]->line,
			     "tokens are not conserved, under no weights: transition",
			     c->of[worst]->name, c->modes[worst]->name);
	return 0;
}

int net_check(const struct net *n, void (*say)(void *ctx, const struct finding *f), void *ctx)
{
	struct checker c = { .n = n, .say = say, .ctx = ctx };
	uint32_t nr = 0;
	int ret = -ENOMEM;

	for (uint32_t i = 0; i < n->nr_transitions; i++)
		nr += n->transitions[i].nr_modes;
	c.reachable = calloc((size_t)n->nr_slots + 1, sizeof(*c.reachable));
	c.fires = calloc((size_t)nr + 1, sizeof(*c.fires));
	c.ranks = net_ranks(n);
	c.outranked = calloc((size_t)nr + 1, sizeof(*c.outranked));
	c.keeps = calloc((size_t)nr + 1, sizeof(*c.keeps));
	c.modes = calloc((size_t)nr + 1, sizeof(*c.modes));
	c.of = calloc((size_t)nr + 1, sizeof(*c.of));
	if (c.reachable && c.fires && c.ranks && c.outranked && c.keeps && c.modes && c.of) {
		for (uint32_t i = 0; i < n->nr_transitions; i++)
			for (uint32_t m = 0; m < n->transitions[i].nr_modes; m++) {
				c.of[c.nr_modes] = &n->transitions[i];
				c.modes[c.nr_modes++] = &n->transitions[i].modes[m];
			}
		for (uint32_t m = 0; m < c.nr_modes; m++)
			c.outranked[m] = check_outranked(&c, m);
		find_reachable(&c);
		check_reachable(&c);
		check_traps(&c);
		check_loops(&c);
		ret = check_stability(&c);
		ret = ret ? ret : check_conserved(&c);
	}
	free(c.reachable);
	free(c.fires);
	free(c.ranks);
	free(c.outranked);
	free(c.keeps);
	free(c.modes);
	free(c.of);
	return ret;
}

struct check_shown {
	const char *file;
	FILE *out;
	json_t *list;
	size_t nr;
};

static void check_print_one(void *ctx, const struct finding *f)
{
	struct check_shown *s = ctx;

	s->nr++;
	fprintf(s->out, "%s:%u: %s\n", s->file, f->line, f->text);
}

static void check_add_one(void *ctx, const struct finding *f)
{
	struct check_shown *s = ctx;

	s->nr++;
	json_array_append_new(s->list, json_pack("{s:s, s:i, s:s}", "kind", finding_names[f->kind],
						 "line", (int)f->line, "text", f->text));
}

int net_check_print(const struct net *n, FILE *out, size_t *nr)
{
	struct check_shown s = { .file = n->file, .out = out };
	int ret = net_check(n, check_print_one, &s);

	*nr = s.nr;
	return ret;
}

int net_check_json(const struct net *n, json_t **json, size_t *nr)
{
	struct check_shown s = { .list = json_array() };
	int ret = net_check(n, check_add_one, &s);

	*nr = s.nr;
	*json = NULL;
	if (!ret && json_array_size(s.list) == s.nr)
		*json = json_pack("{s:s, s:O}", "schema", "blkcast.qpn-check/1", "findings",
				  s.list);
	json_decref(s.list);
	return !ret && !*json ? -ENOMEM : ret;
}
