// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/solve/batch_run.h"
#include "analyzer/models/solve/long_run.h"
#include "analyzer/models/solve/replications.h"
#include "analyzer/models/solve/solve.h"

/* precision is checked after so many batches at first, and then after so many more */
#define FIRST_LOOK 64
#define LOOK_EVERY 16
/* Groups whose correlation is higher would make intervals too short by about 20 %. */
#define MAX_CORRELATION	   0.4
#define REPLICATION_EVENTS 1000000

double solve_events_needed(uint64_t events, double precision, double wanted)
{
	return precision > wanted ? (double)events * pow(precision / wanted, 2) : (double)events;
}

void solution_set_precision(struct solution *out, const struct net *n,
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
static int solve_judge(struct solution *out, const struct batch_run *r,
		       const struct solve_options *o, bool quantiles, struct err *err)
{
	struct qpn_sample groups[BATCH_RUN_MOST];
	size_t from = sample_warm_up(r->batches, r->nr), nr_groups;
	int ret = batch_run_samples(r, from, groups, &nr_groups, &out->correlation, quantiles);

	if (ret)
		return batch_run_out_of_memory(r->n, err);
	estimate_release(&out->estimate);
	ret = estimate_make(&out->estimate, r->n, groups, nr_groups, quantiles);
	out->nr_samples = nr_groups;
	batch_run_release_samples(groups, nr_groups);
	if (ret)
		return batch_run_out_of_memory(r->n, err);
	out->events = r->events;
	out->model_time = qpn_sim_now(r->sim);
	out->warm_up = out->model_time - (double)(r->nr - from) * r->length;
	solution_set_precision(out, r->n, o);
	return 0;
}

/* Tells how far a run is. Returns how many events the precision needs in all. */
static double solve_tell(const struct solution *out, const struct batch_run *r,
			 const struct solve_options *o)
{
	double needed = solve_events_needed(out->events, out->expected, o->precision);

	if (o->progress)
		o->progress(o->ctx, &(struct solve_progress){
					    out->events, out->precision, needed, out->limit,
					    long_run_times_as_fast(r, needed, o) });
	return needed;
}

static bool solve_is_over(const struct solution *out, const struct solve_options *o)
{
	return o->model_time > 0 || out->events >= o->max_events ||
	       (out->precision <= o->precision && out->correlation <= MAX_CORRELATION);
}

/*
 * Runs until the precision is reached. Quantiles cost far more than means, so the looks at a run
 * that goes on make them only where its end depends on them.
 */
static int batch_means_run(struct solution *out, struct batch_run *r, const struct solve_options *o,
			   struct err *err)
{
	for (;;) {
		double needed;
		int ret;

		if (r->nr == BATCH_RUN_MOST && batch_run_halve(r))
			return batch_run_out_of_memory(r->n, err);
		ret = batch_run_add(r, err);
		if (ret)
			return ret;
		if (r->nr < FIRST_LOOK || r->nr % LOOK_EVERY)
			continue;
		ret = solve_judge(out, r, o, o->quantiles, err);
		if (ret)
			return ret;
		needed = solve_tell(out, r, o);
		if (solve_is_over(out, o))
			return o->quantiles ? 0 : solve_judge(out, r, o, true, err);
		if (long_run_is(r, needed, o))
			return long_run_go_on(out, r, o, err);
	}
}

static int batch_means(struct solution *out, const struct net *n, const struct solve_options *o,
		       struct err *err)
{
	struct batch_run *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return batch_run_out_of_memory(n, err);
	ret = batch_run_begin(r, n, o->seed, err);
	if (ret)
		goto out;
	if (o->model_time > 0)
		r->length = o->model_time / BATCH_RUN_FIXED;
	else
		ret = batch_run_pilot(r, err);
	if (!ret)
		ret = batch_means_run(out, r, o, err);
out:
	batch_run_release(r);
	free(r);
	return ret;
}

/* This struct is a solution by replications, from which the runs take the net. */
struct solve_replicated {
	const struct net *n;
	struct solution *out;
};

static int solve_replicate(const struct replications *d, struct replication *out, void *sample,
			   uint64_t seed, struct err *err)
{
	const struct solve_replicated *s = d->ctx;
	const struct batch_run_whole run = { s->n, seed, d->length };

	return batch_run_whole(&run, sample, 1, out, err);
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

static int solve_estimate(struct replications *d)
{
	const struct solve_replicated *s = d->ctx;

	estimate_release(&s->out->estimate);
	if (estimate_make(&s->out->estimate, s->n, d->samples, d->nr, true))
		return -ENOMEM;
	solution_set_precision(s->out, s->n, d->o);
	d->precision = s->out->precision;
	d->expected = s->out->expected;
	d->limit = s->out->limit;
	return 0;
}

/* Chooses the length of a replication if none is given: the time that a number of events takes. */
static int replication_length(const struct net *n, const struct solve_options *o, double *length,
			      struct err *err)
{
	struct batch_run r;
	int ret = batch_run_begin(&r, n, o->seed, err);

	if (ret)
		goto out;
	ret = batch_run_pilot(&r, err);
	if (ret)
		goto out;
	ret = qpn_sim_run(r.sim, INFINITY, REPLICATION_EVENTS, err);
	*length = qpn_sim_now(r.sim);
out:
	batch_run_release(&r);
	return ret;
}

static int solve_replications(struct solution *out, const struct net *n,
			      const struct solve_options *o, struct err *err)
{
	const struct solve_replicated s = { n, out };
	struct replications d = { .ctx = &s,
				  .sample_size = sizeof(struct qpn_sample),
				  .run = solve_replicate,
				  .pieces = solve_pieces,
				  .release = solve_release,
				  .judge = solve_estimate,
				  .length = o->model_time,
				  .most_growth = 2,
				  .o = o };
	int ret = o->model_time > 0 ? 0 : replication_length(n, o, &d.length, err);

	if (ret)
		return ret;
	ret = replications_run(&d, err);
	if (ret == -ENOMEM)
		batch_run_out_of_memory(n, err);
	out->events = d.events;
	out->model_time = d.model_time;
	out->warm_up = d.warm_up;
	out->nr_samples = d.nr;
	out->precision = d.precision;
	replications_release(&d);
	return ret;
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
	ret = o->method == SOLVE_REPLICATIONS ? solve_replications(&s, n, o, err)
					      : batch_means(&s, n, o, err);
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
