// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/sim/output.h"

static const struct interval unknown = { NAN, NAN, NAN };

#define OUTPUT_VALUE(name, value) SAMPLE_GETTER(double, output_##name, qpn_sample, value)
#define OUTPUT_HIST(name, value) \
	SAMPLE_GETTER(const struct qhist *, output_##name, qpn_sample, value)

OUTPUT_VALUE(duration, x->duration)
OUTPUT_VALUE(probe_time, x->probes[index].time)
OUTPUT_VALUE(probe_nr, x->probes[index].nr)
OUTPUT_HIST(probe_hist, &x->times[index])
OUTPUT_HIST(residence_hist, &x->residence[index])
OUTPUT_VALUE(population, x->slots[index].population)
OUTPUT_VALUE(in_queue, x->slots[index].in_queue)
OUTPUT_VALUE(residence, x->slots[index].residence)
OUTPUT_VALUE(left, x->slots[index].left)
OUTPUT_VALUE(queueing, x->slots[index].queueing)
OUTPUT_VALUE(served, x->slots[index].served)
OUTPUT_VALUE(level, x->slots[index].population / x->duration)

static double output_utilization(const struct net *n, const struct qpn_sample *x, size_t nr,
				 uint32_t slot)
{
	uint32_t queue = n->places[n->slots[slot].place].queue;
	double busy = 0, time = 0;

	if (queue == NET_NONE || n->queues[queue].immediate || n->queues[queue].strategy == NET_IS)
		return NAN;
	for (size_t i = 0; i < nr; i++) {
		busy += x[i].slots[slot].busy;
		time += x[i].duration;
	}
	return busy / (time * n->queues[queue].servers);
}

static int estimate_quantiles(struct time_estimate *t, const struct samples *x, sample_hist hist,
			      bool quantiles)
{
	if (quantiles)
		return interval_quantiles(t, x, hist);
	t->p50 = t->p95 = t->p99 = unknown;
	return 0;
}

static int estimate_slot(struct slot_estimate *e, const struct net *n, const struct qpn_sample *x,
			 size_t nr, uint32_t slot, bool quantiles)
{
	uint32_t queue = n->places[n->slots[slot].place].queue;
	struct samples s = { .items = x, .nr = nr, .index = slot };

	e->population = interval_ratio(&s, output_population, output_duration);
	e->throughput = interval_ratio(&s, output_left, output_duration);
	e->residence.mean = interval_ratio(&s, output_residence, output_left);
	e->queue_population = e->queue_time = unknown;
	if (queue != NET_NONE && !n->queues[queue].immediate) {
		e->queue_population = interval_ratio(&s, output_in_queue, output_duration);
		e->queue_time = interval_ratio(&s, output_queueing, output_served);
	}
	e->utilization = output_utilization(n, x, nr, slot);
	for (size_t i = 0; i < nr; i++)
		e->nr_left += x[i].slots[slot].left;
	return estimate_quantiles(&e->residence, &s, output_residence_hist, quantiles);
}

static int estimate_probe(struct probe_estimate *e, const struct qpn_sample *x, size_t nr,
			  uint32_t probe, bool quantiles)
{
	struct samples s = { .items = x, .nr = nr, .index = probe };

	e->time.mean = interval_ratio(&s, output_probe_time, output_probe_nr);
	for (size_t i = 0; i < nr; i++)
		e->nr += x[i].probes[probe].nr;
	return estimate_quantiles(&e->time, &s, output_probe_hist, quantiles);
}

int estimate_make(struct estimate *e, const struct net *n, const struct qpn_sample *x, size_t nr,
		  bool quantiles)
{
	int ret = 0;

	*e = (struct estimate){ .nr_slots = n->nr_slots, .nr_probes = n->nr_probes };
	e->slots = calloc((size_t)n->nr_slots + 1, sizeof(*e->slots));
	e->probes = calloc((size_t)n->nr_probes + 1, sizeof(*e->probes));
	if (!e->slots || !e->probes)
		ret = -ENOMEM;
	if (ret)
		goto out;
	for (uint32_t i = 0; i < n->nr_slots; i++) {
		ret = estimate_slot(&e->slots[i], n, x, nr, i, quantiles);
		if (ret)
			goto out;
	}
	for (uint32_t i = 0; i < n->nr_probes; i++) {
		ret = estimate_probe(&e->probes[i], x, nr, i, quantiles);
		if (ret)
			goto out;
	}
out:
	if (ret)
		estimate_release(e);
	return ret;
}

int estimate_make_unknown(struct estimate *e, const struct net *n)
{
	const struct time_estimate no_time = { unknown, unknown, unknown, unknown };

	*e = (struct estimate){ .nr_slots = n->nr_slots, .nr_probes = n->nr_probes };
	e->slots = calloc((size_t)n->nr_slots + 1, sizeof(*e->slots));
	e->probes = calloc((size_t)n->nr_probes + 1, sizeof(*e->probes));
	if (!e->slots || !e->probes) {
		estimate_release(e);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n->nr_slots; i++)
		e->slots[i] = (struct slot_estimate){ unknown, unknown, unknown, no_time,
						      unknown, NAN,	0 };
	for (uint32_t i = 0; i < n->nr_probes; i++)
		e->probes[i].time = no_time;
	return 0;
}

void estimate_walk(struct estimate *e, struct checkpoint_values *v)
{
	/* Both structs have doubles only. */
	checkpoint_values_put(v, (double *)e->slots,
			      e->nr_slots * (sizeof(*e->slots) / sizeof(double)));
	checkpoint_values_put(v, (double *)e->probes,
			      e->nr_probes * (sizeof(*e->probes) / sizeof(double)));
}

void estimate_release(struct estimate *e)
{
	free(e->slots);
	free(e->probes);
	*e = (struct estimate){ 0 };
}

static bool is_wanted(const char *name, const char *const *wanted, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(name, wanted[i]))
			return true;
	return !nr;
}

/* Returns whether the name is PLACE.COLOUR of this slot. */
static bool names_slot(const char *name, const struct net *n, uint32_t slot)
{
	const char *place = n->places[n->slots[slot].place].name;
	size_t length = strlen(place);

	return !strncmp(name, place, length) && name[length] == '.' &&
	       !strcmp(name + length + 1, n->colours[n->slots[slot].colour]);
}

static bool is_wanted_slot(const struct net *n, uint32_t slot, const char *const *wanted, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (names_slot(wanted[i], n, slot))
			return true;
	return false;
}

bool estimate_has_name(const struct net *n, const char *name)
{
	for (uint32_t i = 0; i < n->nr_probes; i++)
		if (!strcmp(n->probes[i].name, name))
			return true;
	for (uint32_t i = 0; i < n->nr_slots; i++)
		if (names_slot(name, n, i))
			return true;
	return net_find_place(n, name) != NET_NONE;
}

/* From this many observations on, their own variance counts more than the assumed variance. */
#define LIMIT_FEW 100
/* This is half the width of a 95 % interval in standard deviations, squared. */
#define LIMIT_DEVIATIONS (1.96 * 1.96)
/*
 * This is the squared coefficient of variation of what one token adds to a population: 1 because
 * the token comes at random, and 1 for an exponential time.
 */
#define LIMIT_VARIATION 2

static double limit_expected(double width, double nr)
{
	double supposed = LIMIT_DEVIATIONS * LIMIT_VARIATION / nr;

	if (!isfinite(width))
		return sqrt(supposed);
	return sqrt((nr * width * width + LIMIT_FEW * supposed) / (nr + LIMIT_FEW));
}

/* Keeps the result of the larger width, which nr observations gave. */
static void limit_take(struct estimate_limit *l, double width, double nr,
		       const struct estimate_limit *result)
{
	if (!(width > l->width))
		return;
	*l = *result;
	l->width = width;
	l->expected = limit_expected(width, nr);
}

static void limit_take_slot(struct estimate_limit *l, const struct slot_estimate *s,
			    const struct estimate_limit *result, bool whole, bool quantiles)
{
	struct estimate_limit r = *result;

	r.what = "throughput";
	limit_take(l, interval_width(s->throughput), s->nr_left, &r);
	if (!whole)
		return;
	r.what = "population";
	limit_take(l, interval_width(s->population), s->nr_left, &r);
	r.what = "time";
	limit_take(l, interval_time_width(&s->residence, quantiles), s->nr_left, &r);
}

struct estimate_limit estimate_limit(const struct estimate *e, const struct net *n,
				     const char *const *wanted, size_t nr_wanted, bool quantiles)
{
	struct estimate_limit l = { 0 };

	for (uint32_t i = 0; i < e->nr_slots; i++) {
		const struct slot_estimate *s = &e->slots[i];
		const struct net_place *p = &n->places[n->slots[i].place];
		const struct estimate_limit slot = { .place = p->name,
						     .colour = n->colours[n->slots[i].colour],
						     .what = "throughput" };
		bool named = is_wanted_slot(n, i, wanted, nr_wanted);

		if (!named && !is_wanted(p->name, wanted, nr_wanted))
			continue;
		if (s->throughput.mean > 0)
			limit_take_slot(&l, s, &slot, p->queue != NET_NONE || nr_wanted, quantiles);
		else if (named)
			limit_take(&l, INFINITY, 0, &slot);
	}
	for (uint32_t i = 0; i < e->nr_probes; i++) {
		const struct estimate_limit probe = { .place = n->probes[i].name, .what = "time" };

		if (e->probes[i].nr > 0 && is_wanted(n->probes[i].name, wanted, nr_wanted))
			limit_take(&l, interval_time_width(&e->probes[i].time, quantiles),
				   e->probes[i].nr, &probe);
	}
	return l;
}

struct estimate_limit estimate_limit_of_all(const struct estimate *e, const struct net *n)
{
	struct estimate_limit l = { 0 };
	bool left = false;

	for (uint32_t i = 0; i < e->nr_slots; i++) {
		const struct estimate_limit slot = {
			.place = n->places[n->slots[i].place].name,
			.colour = n->colours[n->slots[i].colour],
		};

		if (!(e->slots[i].throughput.mean > 0))
			continue;
		left = true;
		limit_take_slot(&l, &e->slots[i], &slot, true, false);
	}
	if (!left)
		l.width = INFINITY;
	return l;
}

size_t sample_warm_up(const struct qpn_sample *x, size_t nr)
{
	struct samples s = { .items = x, .nr = nr };
	size_t most = 0;

	for (; nr && s.index < x->nr_slots; s.index++) {
		size_t d = interval_truncation(&s, output_level);

		if (d > most)
			most = d;
	}
	return most;
}

double sample_correlation(const struct qpn_sample *x, size_t nr)
{
	struct samples s = { .items = x, .nr = nr };
	double worst = 0;

	for (; nr >= 4 && s.index < x->nr_slots; s.index++) {
		double c = interval_correlation(&s, output_level);

		if (c > worst)
			worst = c;
	}
	return worst;
}
