// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/solve/net_solve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/models/net/check.h"
#include "analyzer/models/solve/mva.h"
#include "base/system/clock.h"
#include "base/text/units.h"

const char *const net_methods[] = { "batch-means", "replications", "mva", "mva-approximate",
				    "bounds",	   "transient",	   NULL };

/* ---- methods that give no steady state: bounds and transient analysis ---- */

static int net_solve_bounds(struct net_solve *o, const struct net *n, struct err *err)
{
	struct product_form p = { 0 };
	struct chain_bounds *b;
	int ret = product_form_make(&p, n, err);

	if (ret)
		return ret;
	b = calloc((size_t)p.nr_chains + 1, sizeof(*b));
	if (!b) {
		ret = -ENOMEM;
		goto out;
	}
	bounds_make(b, &p);
	o->answer = bounds_answer(n, &p, b);
	ret = o->answer ? 0 : -ENOMEM;
out:
	free(b);
	product_form_release(&p);
	return ret;
}

static int net_solve_transient(struct net_solve *o, const struct net *n, struct err *err)
{
	const struct transient_options options = { .model_time = o->run.model_time,
						   .nr_points = o->nr_points,
						   .nr_replications = o->run.nr_replications,
						   .nr_threads = o->run.nr_threads,
						   .seed = o->run.seed };
	struct transient t;
	int ret = transient_run(&t, n, &options, err);

	if (ret)
		return ret;
	o->answer = transient_answer(n, &t, &options);
	transient_release(&t);
	return o->answer ? 0 : -ENOMEM;
}

/* ---- the steady state ---- */

/* Runs that take fewer events than this end soon enough without a word. */
#define NET_SOLVE_LONG_EVENTS 50e6
/* This many values show whether a distribution is the same; its moments show the rest. */
#define NET_SOLVE_RECORD_DRAWS 1000

/* This struct holds the progress of a simulation as it is shown while the simulation runs. */
struct net_watch {
	const struct net_solve *ask;
	struct progress progress;
	bool is_fixed;	    /* the length of the run is given, so that its precision ends nothing */
	double told_needed; /* the estimate that was told last; 0: none yet */
	uint64_t told_events;
};

/*
 * Tells which result makes the run long, and how long the run will be. The message comes again when
 * there are twice as many events and the estimate has changed by half.
 */
static void net_solve_say(struct net_watch *w, const struct solve_progress *now)
{
	double most = (double)w->ask->run.max_events, needed = now->events_needed;
	double end = fmin(needed, most), change = needed / w->told_needed;
	const char *hint;
	char left[UNITS_BYTES];

	if (!now->limit || !(now->precision > w->ask->run.precision) ||
	    needed - (double)now->events < NET_SOLVE_LONG_EVENTS || (double)now->events >= most)
		return;
	if (w->told_needed > 0 &&
	    (now->events < 2 * w->told_events || !(change < 2 / 3.0 || change > 1.5)))
		return;
	w->told_needed = needed;
	w->told_events = now->events;
	hint = w->ask->long_hint ? w->ask->long_hint : "";
	units_time((end / (double)now->events - 1) *
			   (double)(clock_monotonic_ns() - w->progress.begin_ns) / 1e9,
		   left);
	progress_hide(&w->progress);
	if (!isfinite(needed))
		teller_note(
			w->ask->teller,
			"the %s limits the precision: it was observed too rarely in %llu events to "
			"say how many it takes; the run ends after %.2g at the latest, %s from "
			"now%s",
			now->limit, (unsigned long long)now->events, most, left, hint);
	else if (needed > most)
		teller_note(
			w->ask->teller,
			"the %s limits the precision: %.2g after %llu events; %g takes about %.2g, "
			"but the run ends after %.2g, %s from now, at about %.2g%s",
			now->limit, now->precision, (unsigned long long)now->events,
			w->ask->run.precision, needed, most, left,
			w->ask->run.precision * sqrt(needed / most), hint);
	else
		teller_note(
			w->ask->teller,
			"the %s limits the precision: %.2g after %llu events; %g takes about %.2g, "
			"%s from now%s",
			now->limit, now->precision, (unsigned long long)now->events,
			w->ask->run.precision, needed, left, hint);
}

static void net_solve_progress(void *ctx, const struct solve_progress *now)
{
	struct net_watch *w = ctx;
	double total = fmin(now->events_needed, (double)w->ask->run.max_events);

	if (!w->is_fixed) {
		w->progress.total = total > (double)now->events ? (uint64_t)total : now->events;
		net_solve_say(w, now);
	}
	progress_update(&w->progress, now->events);
}

/* Takes a steady state into the answer, or into that of a sweep. */
static int net_solve_take(struct net_solve *o, const struct net *n, struct estimate *e,
			  struct solution_facts *f, struct err *err)
{
	if (o->sweep.nr)
		return net_sweep_add(o, n, e, f, err);
	o->answer = solution_answer(n, e, f);
	return o->answer ? 0 : -ENOMEM;
}

/* This struct holds what the structure of a net says about its simulation. */
struct prospects {
	struct err unstable; /* a queue grows without bound, so a simulation is pointless */
	struct err end; /* a place is never left, so it is unknown whether a run is long enough */
};

static void net_solve_on_prospect(void *ctx, const struct finding *f)
{
	struct prospects *p = ctx;

	if (f->kind == FINDING_UNSTABLE && !p->unstable.code)
		err_set(&p->unstable, EOVERFLOW, "%u: %s", f->line, f->text);
	if (f->kind == FINDING_TRAP && !p->end.code)
		err_set(&p->end, EINVAL, "%u: %s", f->line, f->text);
}

/*
 * *model_time receives how long to run where that must be fixed. A closed net then ends in a
 * deadlock.
 */
static int net_solve_look_ahead(const struct net_solve *o, const struct net *n, double *model_time,
				struct err *err)
{
	const char *hint = o->length_hint ? o->length_hint : "";
	struct prospects p = { .unstable = { 0 } };

	if (net_check(n, net_solve_on_prospect, &p))
		return err_set(err, ENOMEM, "out of memory");
	if (p.unstable.code)
		return err_set(err, p.unstable.code, "%s:%.450s", n->file, p.unstable.line);
	if (!p.end.code || *model_time > 0)
		return 0;
	if (n->run_length > 0) {
		*model_time = n->run_length;
		teller_note(
			o->teller,
			"%s:%.300s: how long a run must be cannot be judged; the file's own run "
			"length of %g is taken%s",
			n->file, p.end.line, n->run_length, hint);
	} else {
		teller_note(o->teller, "%s:%.300s: how long a run must be cannot be judged%s",
			    n->file, p.end.line, hint);
	}
	return 0;
}

/*
 * Takes a net that grows without end: the answer has no number, beside the line with the error.
 * Only a program or a table of points has a use for it.
 */
static void net_solve_take_unsteady(struct net_solve *o, const struct net *n)
{
	struct solution_facts facts = { .method = net_methods[o->method],
					.seed = o->run.seed,
					.no_steady_state = true,
					.seconds = NAN,
					.model_time = NAN,
					.warm_up = NAN,
					.precision = NAN };
	struct estimate e;
	struct err err = { 0 };

	if (!(o->as_list || o->sweep.nr) || estimate_make_unknown(&e, n))
		return;
	net_solve_take(o, n, &e, &facts, &err);
	estimate_release(&e);
}

/*
 * Says what the precision of a run does not tell: that samples depend on each other, so that
 * intervals are too narrow, and that results are less precise which did not count.
 */
static void net_solve_warn(const struct net_solve *o, const struct net *n, const struct solution *s)
{
	struct estimate_limit l = estimate_limit_of_all(&s->estimate, n);

	if (isinf(l.width) && !l.place)
		teller_note(o->teller, "no token left any place in this time: nothing is known");
	else if (s->method == SOLVE_BATCH_MEANS && s->correlation > SOLVE_MAX_CORRELATION)
		teller_note(o->teller,
			    "parts of this run depend on each other (correlation %.2g): it is too "
			    "short, and the intervals are too narrow",
			    s->correlation);
	/* Of places without a queue the throughput alone counts (estimate_limit()). */
	if (l.place && !o->wanted.nr && l.width > fmax(s->precision, o->run.precision))
		teller_note(
			o->teller,
			"the %s of \"%s.%s\" is known to a relative precision of %.3g only: of "
			"places without a queue the throughput alone counts; --of %s.%s runs until "
			"it is known",
			l.what, l.place, l.colour, l.width, l.place, l.colour);
}

static int net_solve_simulate(struct net_solve *o, const struct net *n, double model_time,
			      struct err *err)
{
	struct solve_options so = o->run;
	struct solution_facts facts = { .method = net_methods[o->method], .seed = o->run.seed };
	struct solution s = { 0 };
	struct net_watch watch = { .ask = o, .is_fixed = model_time > 0 };
	uint64_t begin_ns = clock_monotonic_ns();
	int ret;

	so.method = o->method == NET_REPLICATIONS ? SOLVE_REPLICATIONS : SOLVE_BATCH_MEANS;
	so.model_time = model_time;
	so.wanted = o->wanted.items;
	so.nr_wanted = o->wanted.nr;
	so.progress = net_solve_progress;
	so.ctx = &watch;
	progress_begin(&watch.progress, "qpn", model_time > 0 ? 0 : o->run.max_events,
		       o->teller->quiet);
	ret = solve_net(&s, n, &so, err);
	progress_end(&watch.progress);
	if (ret)
		return ret;
	if (s.method == SOLVE_REPLICATIONS)
		facts.method = net_methods[NET_REPLICATIONS];
	facts.events = s.events;
	facts.seconds = 1e-9 * (double)(clock_monotonic_ns() - begin_ns);
	facts.model_time = s.model_time;
	facts.warm_up = s.warm_up;
	facts.precision = s.precision;
	ret = net_solve_take(o, n, &s.estimate, &facts, err);
	if (ret)
		goto out;
	if (so.model_time <= 0 && s.precision > o->run.precision)
		teller_note(o->teller,
			    "stopped after %llu events at a relative precision of %.3g, not %g; "
			    "the %s limits it",
			    (unsigned long long)s.events, s.precision, o->run.precision, s.limit);
	else
		teller_note(o->teller,
			    "%llu events in %.2f s, %.4g of model time, %.3g of it warm-up, "
			    "relative precision %.3g, seed %llu",
			    (unsigned long long)s.events, facts.seconds, s.model_time, s.warm_up,
			    s.precision, (unsigned long long)o->run.seed);
	net_solve_warn(o, n, &s);
	if (so.model_time > 0 && isinf(s.precision) && *s.limit)
		teller_note(o->teller, "the %s is not known: expected a model time of more than %g",
			    s.limit, so.model_time);
out:
	solution_release(&s);
	return ret;
}

/* Simulates the net if its structure lets it reach a steady state. */
static int net_solve_by_simulation(struct net_solve *o, const struct net *n, struct err *err)
{
	double model_time = o->run.model_time;
	int ret = net_solve_look_ahead(o, n, &model_time, err);

	if (!ret)
		ret = net_solve_simulate(o, n, model_time, err);
	if (err->code == EOVERFLOW)
		net_solve_take_unsteady(o, n);
	return ret;
}

static int net_solve_analyse(struct net_solve *o, const struct net *n, struct err *err)
{
	struct solution_facts facts = { .seed = o->run.seed, .warm_up = NAN, .precision = NAN };
	bool exact, approximate = o->method == NET_MVA_APPROXIMATE;
	uint64_t begin_ns = clock_monotonic_ns();
	struct estimate e;
	int ret = mva_solve(&e, &exact, n, approximate, err);

	if (ret)
		return ret;
	if (!exact && !approximate)
		teller_note(o->teller, "too many tokens for exact mva: approximate");
	facts.method = net_methods[exact ? NET_MVA : NET_MVA_APPROXIMATE];
	facts.seconds = 1e-9 * (double)(clock_monotonic_ns() - begin_ns);
	ret = net_solve_take(o, n, &e, &facts, err);
	estimate_release(&e);
	return ret;
}

/* Reads the net with the settings of a point. */
static int net_solve_open(struct net **out, const struct net_solve *o, size_t point,
			  struct err *err)
{
	struct net_settings settings;
	int ret = net_settings_read(&settings, &o->set, err);

	if (!ret)
		ret = net_sweep_set(o, point, &settings);
	if (!ret)
		ret = net_open(out, o->path, &settings, err);
	net_settings_release(&settings);
	return ret;
}

/* Adds a point of a sweep as it was recorded. Returns 1, 0 where it was not, or -errno. */
static int net_solve_recall(struct net_solve *o, const struct net *n)
{
	struct solution_facts known = { .method = net_methods[o->method], .seed = o->run.seed };

	return o->sweep.nr ? net_sweep_recall(o, n, &known) : 0;
}

/* Reads the net with the settings of a point, and solves it. */
static int net_solve_point(struct net_solve *o, size_t point, struct err *err)
{
	struct net *n = NULL;
	int ret = net_solve_open(&n, o, point, err);

	if (ret)
		return ret;
	ret = net_solve_recall(o, n);
	if (ret)
		ret = ret < 0 ? ret : 0;
	else if (o->method == NET_MVA || o->method == NET_MVA_APPROXIMATE)
		ret = net_solve_analyse(o, n, err);
	else if (o->method == NET_BOUNDS)
		ret = net_solve_bounds(o, n, err);
	else if (o->method == NET_TRANSIENT)
		ret = net_solve_transient(o, n, err);
	else
		ret = net_solve_by_simulation(o, n, err);
	net_free(n);
	return ret;
}

/* Adds a distribution, which may come from a file beside the net, to the question of a sweep. */
static void net_solve_record_dist(struct sweep_record *r, const struct dist *d)
{
	double drawn[NET_SOLVE_RECORD_DRAWS];
	uint32_t phase = 0;
	struct rng rng;

	sweep_record_bytes(r, &d->kind, sizeof(d->kind));
	if (d->kind != DIST_VALUES && d->kind != DIST_HISTOGRAM)
		return;
	rng_seed(&rng, 1);
	for (size_t i = 0; i < NET_SOLVE_RECORD_DRAWS; i++)
		drawn[i] = dist_sample(d, &rng, &phase);
	sweep_record_bytes(r, drawn, sizeof(drawn));
	sweep_record_bytes(r, &d->mean, sizeof(d->mean));
	sweep_record_bytes(r, &d->variance, sizeof(d->variance));
}

/* Opens the checkpoint of a sweep; its question is the net with its files, and the options. */
static int net_solve_record(struct net_solve *o, struct err *err)
{
	struct sweep_record *r = &o->record;
	struct net *n = NULL;
	int ret = sweep_record_open(r, o->checkpoint, "qpn solve", err);

	if (ret || !o->checkpoint)
		return ret;
	ret = sweep_record_file(r, o->path, err);
	if (ret)
		return ret;
	ret = net_solve_open(&n, o, 0, err);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < n->nr_slots; i++)
		net_solve_record_dist(r, &n->slots[i].service);
	for (uint32_t i = 0; i < n->nr_transitions; i++)
		net_solve_record_dist(r, &n->transitions[i].time);
	net_free(n);
	sweep_record_words(r, &o->set);
	sweep_record_words(r, &o->sweep);
	sweep_record_words(r, &o->wanted);
	sweep_record_text(r, net_methods[o->method]);
	sweep_record_run(r, &o->run);
	return sweep_record_ask(r, err);
}

/*
 * Solves the net for every point. A point without a steady state is a line without numbers, and
 * the sweep goes on.
 */
static int net_solve_sweep(struct net_solve *o, struct err *err)
{
	int ret = net_sweep_begin(o);

	if (!ret)
		ret = net_solve_record(o, err);
	for (; o->point < o->values.nr_points && !ret; o->point++) {
		struct err why = { 0 };

		ret = net_solve_point(o, o->point, &why);
		if (ret && why.code == EOVERFLOW) {
			teller_note(o->teller, "%s", why.line);
			o->unsteady = true;
			ret = 0;
		} else if (ret) {
			*err = why;
		}
	}
	return ret;
}

int net_solve(struct net_solve *o, struct err *err)
{
	int ret = sweeps_read(&o->values, &o->sweep, &o->set, err);

	if (ret) {
		err_prefix(err, "sweep");
		return ret;
	}
	return o->sweep.nr ? net_solve_sweep(o, err) : net_solve_point(o, 0, err);
}

void net_solve_release(struct net_solve *o)
{
	json_decref(o->points);
	answer_free(o->answer);
	sweeps_release(&o->values);
	sweep_record_release(&o->record);
}
