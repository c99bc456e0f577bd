// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/parallel.h"
#include "analyzer/models/solve/solve.h"

/* batches of a run of fixed length, and the number after which precision is checked first */
#define BATCHES	     64
#define MAX_BATCHES  128
#define LOOK_EVERY   16
#define GROUPS	     20
#define PILOT_EVENTS 4096
/* Groups whose correlation is higher would make intervals too short by about 20 %. */
#define MAX_CORRELATION 0.4
/* 60 to 128 uncorrelated samples rarely have a higher correlation than this. */
#define FINE_CORRELATION   0.15
#define REPLICATION_EVENTS 1000000

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

/* Makes the estimates from all batches so far. */
static int solve_judge(struct solution *out, const struct run *r, const struct solve_options *o,
		       bool quantiles, struct err *err)
{
	struct qpn_sample groups[MAX_BATCHES];
	size_t from = sample_warm_up(r->batches, r->nr), nr_groups;
	int error = make_samples(groups, &nr_groups, r, from, &out->correlation, quantiles);

	if (!error) {
		estimate_release(&out->estimate);
		error = estimate_make(&out->estimate, r->n, groups, nr_groups, quantiles);
		out->nr_samples = nr_groups;
		release_samples(groups, nr_groups);
	}
	if (error)
		return out_of_memory(r->n, err);
	out->events = r->events;
	out->model_time = qpn_sim_now(r->sim);
	out->warm_up = out->model_time - (double)(r->nr - from) * r->length;
	out->precision =
		estimate_precision(&out->estimate, r->n, o->wanted, o->nr_wanted, o->quantiles);
	return 0;
}

/*
 * Quantiles cost far more than means, so the looks at a run that goes on make them only where its
 * end depends on them.
 */
static int batch_means(struct solution *out, const struct net *n, const struct solve_options *o,
		       struct err *err)
{
	struct run *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return out_of_memory(n, err);
	r->n = n;
	ret = qpn_sim_new(&r->sim, n, o->seed, err);
	if (!ret && o->model_time > 0)
		r->length = o->model_time / BATCHES;
	else if (!ret)
		ret = solve_pilot(r, err);
	while (!ret) {
		if (r->nr == MAX_BATCHES && solve_halve(r))
			ret = out_of_memory(n, err);
		if (!ret)
			ret = add_batch(r, err);
		if (ret || r->nr < BATCHES || r->nr % LOOK_EVERY)
			continue;
		ret = solve_judge(out, r, o, o->quantiles, err);
		if (!ret && o->progress)
			o->progress(o->ctx, out->events, out->precision);
		if (o->model_time > 0 || r->events >= o->max_events)
			break;
		if (out->precision <= o->precision && out->correlation <= MAX_CORRELATION)
			break;
	}
	if (!ret && !o->quantiles)
		ret = solve_judge(out, r, o, true, err);
	release_run(r);
	free(r);
	return ret;
}

/* The runs of one round, which parallel_run() executes. */
struct round {
	const struct net *n;
	const struct solve_options *o;
	double length;
	size_t first; /* number of the round's first replication */
	struct qpn_sample *samples;
	double *warm_ups;
	uint64_t *events;
	struct err *errs;
};

static int solve_replicate(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct round *d = ctx;
	struct run *r = calloc(1, sizeof(*r));
	struct rng seeds;
	size_t from;
	int ret;

	(void)chunk;
	(void)end;
	if (!r)
		return out_of_memory(d->n, &d->errs[begin]);
	r->n = d->n;
	r->length = d->length / BATCHES;
	rng_stream(&seeds, d->o->seed, d->first + begin);
	ret = qpn_sim_new(&r->sim, d->n, rng_u64(&seeds), &d->errs[begin]);
	while (!ret && r->nr < BATCHES)
		ret = add_batch(r, &d->errs[begin]);
	if (ret)
		goto out;
	from = sample_warm_up(r->batches, r->nr);
	d->warm_ups[begin] = (double)from * r->length;
	d->events[begin] = r->events;
	ret = solve_group(r, from, &d->samples[begin], 1, true);
	if (ret)
		out_of_memory(d->n, &d->errs[begin]);
out:
	release_run(r);
	free(r);
	return ret;
}

static int solve_pieces(void *ctx, size_t chunk, struct parallel_bytes *b)
{
	struct round *d = ctx;
	int ret = parallel_piece(b, &d->warm_ups[chunk], sizeof(*d->warm_ups));

	if (!ret)
		ret = parallel_piece(b, &d->events[chunk], sizeof(*d->events));
	return ret ? ret : qpn_sample_pieces(&d->samples[chunk], d->n, b);
}

/* Appends replications first..first+nr-1 to samples, which has room for them. */
static int run_round(struct solution *out, struct round *d, size_t nr, struct err *err)
{
	struct parallel p = { .nr_items = nr,
			      .nr_threads = d->o->nr_threads,
			      .work = solve_replicate,
			      .pieces = solve_pieces,
			      .ctx = d,
			      .err = err };
	int ret = -ENOMEM;

	d->warm_ups = calloc(nr, sizeof(*d->warm_ups));
	d->events = calloc(nr, sizeof(*d->events));
	d->errs = calloc(nr, sizeof(*d->errs));
	p.errs = d->errs;
	if (d->warm_ups && d->events && d->errs)
		ret = parallel_run(&p);
	if (ret == -ENOMEM)
		out_of_memory(d->n, err);
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		out->events += d->events[i];
		out->warm_up += d->warm_ups[i];
		out->model_time += d->length;
	}
out:
	free(d->warm_ups);
	free(d->events);
	free(d->errs);
	return ret;
}

/* Chooses the length of a replication if none is given: the time that a number of events takes. */
static int replication_length(const struct net *n, const struct solve_options *o, double *length,
			      struct err *err)
{
	struct run r = { .n = n };
	int ret = qpn_sim_new(&r.sim, n, o->seed, err);

	if (ret)
		goto out;
	ret = solve_pilot(&r, err);
	if (ret)
		goto out;
	ret = qpn_sim_run(r.sim, INFINITY, REPLICATION_EVENTS, err);
	*length = qpn_sim_now(r.sim);
out:
	qpn_sim_free(r.sim);
	return ret;
}

/*
 * Returns how many more replications the precision requires by the square-root law, at most as
 * many as there are.
 */
static size_t more_needed(const struct solution *s, const struct solve_options *o, size_t nr)
{
	double want = (double)nr * pow(s->precision / o->precision, 2);

	if (!(want < 2.0 * (double)nr))
		return nr;
	return want > (double)nr + 1 ? (size_t)ceil(want) - nr : 1;
}

static int solve_replications(struct solution *out, const struct net *n,
			      const struct solve_options *o, struct err *err)
{
	struct round d = { .n = n, .o = o, .length = o->model_time };
	size_t nr = 0, more = o->nr_replications;
	struct qpn_sample *all = NULL;
	int ret = 0;

	if (!(d.length > 0))
		ret = replication_length(n, o, &d.length, err);
	while (!ret && more) {
		struct qpn_sample *grown = reallocarray(all, nr + more, sizeof(*all));

		if (!grown) {
			ret = out_of_memory(n, err);
			break;
		}
		all = grown;
		memset(all + nr, 0, more * sizeof(*all));
		d.first = nr;
		d.samples = all + nr;
		nr += more;
		ret = run_round(out, &d, more, err);
		if (ret)
			break;
		estimate_release(&out->estimate);
		if (estimate_make(&out->estimate, n, all, nr, true))
			ret = out_of_memory(n, err);
		out->nr_samples = nr;
		out->precision = estimate_precision(&out->estimate, n, o->wanted, o->nr_wanted,
						    o->quantiles);
		if (o->progress)
			o->progress(o->ctx, out->events, out->precision);
		more = 0;
		if (!(o->model_time > 0) && out->precision > o->precision &&
		    out->events < o->max_events)
			more = more_needed(out, o, nr);
	}
	release_samples(all, nr);
	free(all);
	return ret;
}

static bool is_in_net(const struct net *n, const char *name)
{
	for (uint32_t i = 0; i < n->nr_probes; i++)
		if (!strcmp(n->probes[i].name, name))
			return true;
	return net_find_place(n, name) != NET_NONE;
}

int solve_net(struct solution *out, const struct net *n, const struct solve_options *o,
	      struct err *err)
{
	struct solution s = { 0 };
	int ret;

	for (size_t i = 0; i < o->nr_wanted; i++)
		if (!is_in_net(n, o->wanted[i]))
			return err_set(err, EINVAL, "%s: no place or probe \"%s\"", n->file,
				       o->wanted[i]);
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
