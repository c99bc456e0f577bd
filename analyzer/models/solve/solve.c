// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/solve/replications.h"
#include "analyzer/models/solve/solve.h"

/* batches of a run of fixed length, and the number after which precision is checked first */
#define BATCHES	     64
#define MAX_BATCHES  128
#define LOOK_EVERY   16
#define GROUPS	     20
#define PILOT_EVENTS 4096
/* 60 to 128 uncorrelated samples rarely have a higher correlation than this. */
#define FINE_CORRELATION   0.15
#define REPLICATION_EVENTS 1000000
/*
 * Every replication begins with the same tokens in the same places, which a colour forgets only
 * after some stays. With this many left out, stays that begin before the rest of a replication make
 * up for those that end after it, to e^-5 of a stay.
 */
#define WARM_UP_STAYS	5
#define LENGTH_WARM_UPS 4 /* a quarter of the time is left out at most */
/*
 * A long run that needs so many times the events that it has goes on as replications. All that it
 * needs is divided by LONG_REPLICATIONS, so that the precision is reached after some four times as
 * many replications as are made before the first look at it.
 */
#define LONG_FACTOR	  8
#define LONG_REPLICATIONS 64
#define LONG_FIRST	  16

struct run {
	const struct net *n;
	struct qpn_sim *sim;
	struct qpn_sample batches[MAX_BATCHES];
	size_t nr;
	double length; /* length of a batch */
	uint64_t events;
};

static void release_run(struct run *r)
{
	for (size_t i = 0; i < r->nr; i++)
		qpn_sample_release(&r->batches[i]);
	r->nr = 0;
	qpn_sim_free(r->sim);
	r->sim = NULL;
}

static int out_of_memory(const struct net *n, struct err *err)
{
	return err_set(err, ENOMEM, "%s: out of memory", n->file);
}

static int add_batch(struct run *r, struct err *err)
{
	int ret = qpn_sim_run(r->sim, qpn_sim_now(r->sim) + r->length, UINT64_MAX, err);

	if (ret)
		return ret;
	if (qpn_sim_collect(r->sim, &r->batches[r->nr]))
		return out_of_memory(r->n, err);
	r->events += r->batches[r->nr++].events;
	return 0;
}

/*
 * Chooses the length of a batch: the time of the first events, at least some events for every
 * token. What happened until then is discarded.
 */
static int solve_pilot(struct run *r, struct err *err)
{
	uint64_t events = PILOT_EVENTS;
	struct qpn_sample x;
	int ret;

	for (uint32_t i = 0; i < r->n->nr_slots; i++)
		events += 8 * r->n->slots[i].tokens;
	do {
		ret = qpn_sim_run(r->sim, INFINITY, events, err);
		r->events += events;
	} while (!ret && qpn_sim_now(r->sim) <= 0 && r->events < REPLICATION_EVENTS);
	if (ret)
		return ret;
	if (!(qpn_sim_now(r->sim) > 0))
		return err_set(err, ELOOP,
			       "%s: time does not go on: expected a service that takes some",
			       r->n->file);
	r->length = qpn_sim_now(r->sim);
	if (qpn_sim_collect(r->sim, &x))
		return out_of_memory(r->n, err);
	qpn_sample_release(&x);
	return 0;
}

static int solve_halve(struct run *r)
{
	for (size_t i = 0; i < r->nr / 2; i++) {
		if (i) {
			r->batches[i] = r->batches[2 * i];
			r->batches[2 * i] = (struct qpn_sample){ 0 };
		}
		if (qpn_sample_merge(&r->batches[i], &r->batches[2 * i + 1]))
			return -ENOMEM;
		qpn_sample_release(&r->batches[2 * i + 1]);
	}
	r->nr /= 2;
	r->length *= 2;
	return 0;
}

/*
 * Merges the batches from..nr-1 into nr_groups samples of equal size, as far as possible; their
 * histograms only where quantiles are to be made. Frees the samples on failure.
 */
static int solve_group(const struct run *r, size_t from, struct qpn_sample *groups,
		       size_t nr_groups, bool quantiles)
{
	size_t nr = r->nr - from;

	for (size_t g = 0; g < nr_groups; g++) {
		int ret = qpn_sample_init(&groups[g], r->n);

		for (size_t i = from + g * nr / nr_groups;
		     !ret && i < from + (g + 1) * nr / nr_groups; i++) {
			if (quantiles)
				ret = qpn_sample_merge(&groups[g], &r->batches[i]);
			else
				qpn_sample_merge_sums(&groups[g], &r->batches[i]);
		}
		if (!ret)
			continue;
		for (size_t k = 0; k <= g; k++)
			qpn_sample_release(&groups[k]);
		return ret;
	}
	return 0;
}

static void release_samples(struct qpn_sample *x, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		qpn_sample_release(&x[i]);
}

/*
 * Makes samples from the batches after the warm-up. It keeps all batches as samples while these
 * are not correlated, and otherwise merges pairs, down to GROUPS samples. Many samples estimate
 * their variance well. With few samples, a run would often end when the variance happens to look
 * small, and intervals would be too short (with 19 degrees of freedom, 90 to 94 % coverage instead
 * of 95 %).
 */
static int make_samples(struct qpn_sample *groups, size_t *nr_groups, const struct run *r,
			size_t from, double *correlation, bool quantiles)
{
	size_t nr = r->nr - from;

	for (;;) {
		int ret = solve_group(r, from, groups, nr, quantiles);

		if (ret)
			return ret;
		*nr_groups = nr;
		*correlation = sample_correlation(groups, nr);
		if (nr == GROUPS || *correlation <= FINE_CORRELATION)
			return 0;
		release_samples(groups, nr);
		nr = nr / 2 >= GROUPS ? nr / 2 : GROUPS;
	}
}

double solve_events_needed(uint64_t events, double precision, double wanted)
{
	return precision > wanted ? (double)events * pow(precision / wanted, 2) : (double)events;
}

/* Sets the precision that was reached, and names the result that limits it. */
static void solve_set_precision(struct solution *out, const struct net *n,
				const struct solve_options *o)
{
	struct estimate_limit l =
		estimate_limit(&out->estimate, n, o->wanted, o->nr_wanted, o->quantiles);

	out->precision = l.width;
	out->expected = l.expected;
	if (l.colour)
		snprintf(out->limit, sizeof(out->limit), "%s of \"%s.%s\"", l.what, l.place,
			 l.colour);
	else if (l.place)
		snprintf(out->limit, sizeof(out->limit), "%s of probe \"%s\"", l.what, l.place);
}

/* Makes the estimates from all batches so far. */
static int solve_judge(struct solution *out, const struct run *r, const struct solve_options *o,
		       bool quantiles, struct err *err)
{
	struct qpn_sample groups[MAX_BATCHES];
	size_t from = sample_warm_up(r->batches, r->nr), nr_groups;
	int ret = make_samples(groups, &nr_groups, r, from, &out->correlation, quantiles);

	if (ret)
		return out_of_memory(r->n, err);
	estimate_release(&out->estimate);
	ret = estimate_make(&out->estimate, r->n, groups, nr_groups, quantiles);
	out->nr_samples = nr_groups;
	release_samples(groups, nr_groups);
	if (ret)
		return out_of_memory(r->n, err);
	out->events = r->events;
	out->model_time = qpn_sim_now(r->sim);
	out->warm_up = out->model_time - (double)(r->nr - from) * r->length;
	solve_set_precision(out, r->n, o);
	return 0;
}

/* This struct is a solution by replications, from which the runs take the net. */
struct solve_replicated {
	const struct net *n;
	struct solution *out;
	double length, warm_up; /* model time of each run, and the part of it that is left out */
};

/*
 * Returns the longest mean time of a colour in a place or of a probe, or between two of them. What
 * never ended is not known.
 */
static double solve_longest_stay(const struct run *r)
{
	double longest = 0, all = (double)r->nr * r->length;

	for (uint32_t slot = 0; slot < r->n->nr_slots; slot++) {
		double population = 0, left = 0;

		for (size_t i = 0; i < r->nr; i++) {
			population += r->batches[i].slots[slot].population;
			left += r->batches[i].slots[slot].left;
		}
		if (left > 0)
			longest = fmax(longest, fmax(population, all) / left);
	}
	for (uint32_t probe = 0; probe < r->n->nr_probes; probe++) {
		double time = 0, ended = 0;

		for (size_t i = 0; i < r->nr; i++) {
			time += r->batches[i].probes[probe].time;
			ended += r->batches[i].probes[probe].nr;
		}
		if (ended > 0)
			longest = fmax(longest, fmax(time, all) / ended);
	}
	return longest;
}

/*
 * Takes the warm-up and, if none is given, the length of replications from a run. Every replication
 * leaves out the same time: if its own course decided, it would be cut where the rest looks calm,
 * which is just after a rare colour has passed.
 */
static void solve_plan(struct solve_replicated *s, const struct run *r, double least, double most)
{
	double now = qpn_sim_now(r->sim), stays = WARM_UP_STAYS * solve_longest_stay(r);

	s->warm_up = now - r->length * (double)(r->nr - sample_warm_up(r->batches, r->nr));
	s->warm_up = fmax(s->warm_up, stays);
	if (!(s->length > 0))
		s->length = fmax(least, fmin(LENGTH_WARM_UPS * s->warm_up, most));
}

/*
 * Returns whether a run is so far from its end that replications are faster, and plans them. They
 * need samples that are not correlated, which shows that the net soon forgets what it began with,
 * and a first round that does not take more events than the run needs or may have.
 */
static bool solve_is_long(struct solve_replicated *s, const struct run *r,
			  const struct solve_options *o)
{
	const struct solution *now = s->out;
	double needed = solve_events_needed(now->events, now->expected, o->precision);
	double event_time = now->model_time / (double)now->events;
	uint64_t least = o->long_events ? o->long_events : SOLVE_LONG_EVENTS;

	if (o->model_time > 0 || now->events < least || !isfinite(needed) ||
	    now->correlation > FINE_CORRELATION)
		return false;
	needed = fmin(needed, (double)o->max_events - (double)now->events);
	if (needed < LONG_FACTOR * (double)now->events)
		return false;
	s->length = 0;
	solve_plan(s, r, needed / LONG_REPLICATIONS * event_time, INFINITY);
	/* Batches of this length are not correlated. */
	s->warm_up = fmax(s->warm_up, r->length);
	return LONG_FIRST * s->length <= needed * event_time;
}

/*
 * Fills a run, which the caller releases. Quantiles cost far more than means, so the looks at a run
 * that goes on make them only where its end depends on them. *is_long says that it ended early,
 * since replications are faster; these are planned then.
 */
static int batch_means(struct solve_replicated *s, struct run *r, const struct solve_options *o,
		       bool *is_long, struct err *err)
{
	const struct net *n = r->n;
	struct solution *out = s->out;
	int ret = qpn_sim_new(&r->sim, n, o->seed, err);

	*is_long = false;
	if (ret)
		return ret;
	if (o->model_time > 0)
		r->length = o->model_time / BATCHES;
	else
		ret = solve_pilot(r, err);
	while (!ret) {
		if (r->nr == MAX_BATCHES && solve_halve(r))
			return out_of_memory(n, err);
		ret = add_batch(r, err);
		if (ret || r->nr < BATCHES || r->nr % LOOK_EVERY)
			continue;
		ret = solve_judge(out, r, o, o->quantiles, err);
		if (ret)
			return ret;
		if (o->progress)
			o->progress(o->ctx, &(struct solve_progress){
						    out->events, out->precision,
						    solve_events_needed(out->events, out->expected,
									o->precision),
						    out->limit });
		if (o->model_time > 0 || r->events >= o->max_events)
			break;
		if (out->precision <= o->precision && out->correlation <= SOLVE_MAX_CORRELATION)
			break;
		*is_long = solve_is_long(s, r, o);
		if (*is_long)
			return 0;
	}
	if (!ret && !o->quantiles)
		ret = solve_judge(out, r, o, true, err);
	return ret;
}

static int solve_replicate(const struct replications *d, struct replication *out, void *sample,
			   uint64_t seed, struct err *err)
{
	const struct solve_replicated *s = d->ctx;
	struct run *r = calloc(1, sizeof(*r));
	size_t from;
	int ret;

	if (!r)
		return out_of_memory(s->n, err);
	r->n = s->n;
	r->length = d->length / BATCHES;
	ret = qpn_sim_new(&r->sim, s->n, seed, err);
	while (!ret && r->nr < BATCHES)
		ret = add_batch(r, err);
	if (ret)
		goto out;
	from = (size_t)fmin(ceil(s->warm_up / r->length), BATCHES / 2.0);
	out->warm_up = (double)from * r->length;
	out->events = r->events;
	ret = solve_group(r, from, sample, 1, true);
	if (ret)
		out_of_memory(s->n, err);
out:
	release_run(r);
	free(r);
	return ret;
}

static int solve_pieces(const struct replications *d, void *sample, struct parallel_bytes *b)
{
	const struct solve_replicated *s = d->ctx;

	return qpn_sample_pieces(sample, s->n, b);
}

static void solve_release(void *sample)
{
	qpn_sample_release(sample);
}

/*
 * Makes times unknown that are so long that hardly any of them begins and ends in one replication:
 * those that do are the short ones. How long a colour stays is taken from its population and
 * throughput (Little's law), which have no such ends.
 */
static void solve_forget_long_stays(struct estimate *e, double length)
{
	const struct interval unknown = { NAN, NAN, NAN };
	const struct time_estimate no_time = { unknown, unknown, unknown, unknown };
	double most = length / WARM_UP_STAYS;

	for (uint32_t i = 0; i < e->nr_slots; i++) {
		struct slot_estimate *s = &e->slots[i];

		if (s->population.mean > most * s->throughput.mean)
			s->residence = no_time;
	}
	for (uint32_t i = 0; i < e->nr_probes; i++)
		if (e->probes[i].time.mean.mean > most)
			e->probes[i].time = no_time;
}

static int solve_estimate(struct replications *d)
{
	const struct solve_replicated *s = d->ctx;

	estimate_release(&s->out->estimate);
	if (estimate_make(&s->out->estimate, s->n, d->samples, d->nr, true))
		return -ENOMEM;
	solve_forget_long_stays(&s->out->estimate, d->length);
	solve_set_precision(s->out, s->n, d->o);
	d->precision = s->out->precision;
	d->expected = s->out->expected;
	d->limit = s->out->limit;
	return 0;
}

/* Adds batches until there are enough of them, and of events, to plan replications by. */
static int solve_look_on(struct run *r, struct err *err)
{
	int ret = solve_pilot(r, err);

	while (!ret && (r->nr < BATCHES || r->events < REPLICATION_EVENTS)) {
		if (r->nr == MAX_BATCHES && solve_halve(r))
			ret = out_of_memory(r->n, err);
		else
			ret = add_batch(r, err);
	}
	return ret;
}

/*
 * Looks at some events, to plan replications by them, or at one replication of a given length if
 * that has fewer: what comes after its end does not matter, and may be no more than a deadlock.
 */
static int solve_look(struct solve_replicated *s, const struct solve_options *o, struct err *err)
{
	double most = (double)o->max_events / REPLICATION_EVENTS / fmax(2, o->nr_replications);
	struct run *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return out_of_memory(s->n, err);
	r->n = s->n;
	r->length = s->length / BATCHES;
	ret = qpn_sim_new(&r->sim, s->n, o->seed, err);
	while (!ret && s->length > 0 && r->nr < BATCHES && r->events < REPLICATION_EVENTS)
		ret = add_batch(r, err);
	if (!ret && r->nr < BATCHES) {
		release_run(r);
		*r = (struct run){ .n = s->n };
		ret = qpn_sim_new(&r->sim, s->n, o->seed, err);
		ret = ret ? ret : solve_look_on(r, err);
	}
	if (!ret)
		solve_plan(s, r, qpn_sim_now(r->sim), most * qpn_sim_now(r->sim));
	release_run(r);
	free(r);
	return ret;
}

static int solve_replications(struct solve_replicated *s, const struct solve_options *o,
			      struct err *err)
{
	struct replications d = { .ctx = s,
				  .sample_size = sizeof(struct qpn_sample),
				  .run = solve_replicate,
				  .pieces = solve_pieces,
				  .release = solve_release,
				  .judge = solve_estimate,
				  .length = s->length,
				  .most_growth = 2,
				  .o = o };
	struct solution *out = s->out;
	int ret = replications_run(&d, err);

	if (ret == -ENOMEM)
		out_of_memory(s->n, err);
	out->method = SOLVE_REPLICATIONS;
	out->events += d.events;
	out->model_time += d.model_time;
	out->warm_up += d.warm_up;
	out->nr_samples = d.nr;
	out->precision = d.precision;
	replications_release(&d);
	return ret;
}

/* Goes on with a long run as replications. What it has simulated so far counts as warm-up. */
static int solve_long(struct solve_replicated *s, const struct solve_options *o, struct err *err)
{
	struct solve_options rest = *o;

	rest.max_events -= s->out->events;
	rest.nr_replications = LONG_FIRST;
	s->out->warm_up = s->out->model_time;
	return solve_replications(s, &rest, err);
}

static int solve_by_batch_means(struct solution *out, const struct net *n,
				const struct solve_options *o, struct err *err)
{
	struct solve_replicated s = { .n = n, .out = out };
	struct run *r = calloc(1, sizeof(*r));
	bool is_long;
	int ret;

	if (!r)
		return out_of_memory(n, err);
	r->n = n;
	ret = batch_means(&s, r, o, &is_long, err);
	release_run(r);
	free(r);
	return !ret && is_long ? solve_long(&s, o, err) : ret;
}

static int solve_by_replications(struct solution *out, const struct net *n,
				 const struct solve_options *o, struct err *err)
{
	struct solve_replicated s = { .n = n, .out = out, .length = o->model_time };
	int ret = solve_look(&s, o, err);

	return ret ? ret : solve_replications(&s, o, err);
}

int solve_net(struct solution *out, const struct net *n, const struct solve_options *o,
	      struct err *err)
{
	struct solution s = { 0 };
	int ret;

	for (size_t i = 0; i < o->nr_wanted; i++)
		if (!estimate_has_name(n, o->wanted[i]))
			return err_set(err, EINVAL, "%s: no place, place.colour or probe \"%s\"",
				       n->file, o->wanted[i]);
	ret = o->method == SOLVE_REPLICATIONS ? solve_by_replications(&s, n, o, err)
					      : solve_by_batch_means(&s, n, o, err);
	if (ret)
		solution_release(&s);
	else
		*out = s;
	return ret;
}

void solution_release(struct solution *s)
{
	estimate_release(&s->estimate);
}
