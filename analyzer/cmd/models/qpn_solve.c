// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/cmd/models/arch_run.h"
#include "analyzer/cmd/models/qpn_sweep.h"
#include "analyzer/cmd/models/qpn_verbs.h"
#include "analyzer/models/net/check.h"
#include "analyzer/models/solve/bounds.h"
#include "analyzer/models/solve/mva.h"
#include "analyzer/models/solve/solution_answer.h"
#include "analyzer/models/solve/solve.h"
#include "analyzer/models/solve/transient.h"
#include "base/system/clock.h"
#include "base/text/units.h"

/* The options of the verb solve. */
struct qpn_ask {
	struct word_list set, sweep, wanted;
	const char *method, *checkpoint;
	struct arch_run_options run; /* those that the verb arch solve has too */
	uint64_t points;
	struct qpn_sweep *sweep_answer; /* NULL: each solution is shown on its own */
};

/* ---- methods that give no steady state: bounds and transient analysis ---- */

static int qpn_bounds(const struct cli *cli, const struct net *n, struct err *err)
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
	ret = cli_show(cli, bounds_answer(n, &p, b), NULL, err);
out:
	free(b);
	product_form_release(&p);
	return ret;
}

static int qpn_transient(const struct cli *cli, const struct net *n, const struct qpn_ask *o,
			 struct err *err)
{
	const struct transient_options options = { .model_time = o->run.model_time,
						   .nr_points = (unsigned)o->points,
						   .nr_replications = (unsigned)o->run.replications,
						   .nr_threads = (unsigned)o->run.threads,
						   .seed = o->run.seed };
	struct transient t;
	int ret = transient_run(&t, n, &options, err);

	if (ret)
		return ret;
	ret = cli_show(cli, transient_answer(n, &t, &options), NULL, err);
	transient_release(&t);
	return ret;
}

/* ---- the steady state ---- */

/* Runs that take fewer events than this end soon enough without a word. */
#define QPN_LONG_EVENTS 50e6
/* So many values show whether a distribution is the same; its moments show the rest. */
#define QPN_RECORD_DRAWS 1000

/* What is shown of a simulation while it runs. */
struct qpn_watch {
	const struct cli *cli;
	const struct qpn_ask *ask;
	struct progress progress;
	bool is_fixed;	    /* the length of the run is given, so that its precision ends nothing */
	double told_needed; /* the estimate that was told last; 0: none yet */
	uint64_t told_events;
};

/*
 * Says which result makes the run long and how long that will be. It is said again when there are
 * twice as many events and the estimate has changed by half.
 */
static void qpn_solve_say(struct qpn_watch *w, const struct solve_progress *now)
{
	double most = (double)w->ask->run.max_events, needed = now->events_needed;
	double end = fmin(needed, most), change = needed / w->told_needed;
	char left[UNITS_BYTES];

	if (!now->limit || !(now->precision > w->ask->run.precision) ||
	    needed - (double)now->events < QPN_LONG_EVENTS || (double)now->events >= most)
		return;
	if (w->told_needed > 0 &&
	    (now->events < 2 * w->told_events || !(change < 2 / 3.0 || change > 1.5)))
		return;
	w->told_needed = needed;
	w->told_events = now->events;
	units_time((end / (double)now->events - 1) *
			   (double)(clock_monotonic_ns() - w->progress.begin_ns) / 1e9,
		   left);
	progress_hide(&w->progress);
	if (!isfinite(needed))
		cli_note(
			w->cli,
			"the %s limits the precision: it was observed too rarely in %llu events to "
			"say how many it takes; --max-events ends the run after %.2g, %s from now; "
			"--of waits for other results alone",
			now->limit, (unsigned long long)now->events, most, left);
	else if (needed > most)
		cli_note(
			w->cli,
			"the %s limits the precision: %.2g after %llu events; %g takes about %.2g, "
			"but --max-events ends the run after %.2g, %s from now, at about %.2g; "
			"--of waits for other results alone",
			now->limit, now->precision, (unsigned long long)now->events,
			w->ask->run.precision, needed, most, left,
			w->ask->run.precision * sqrt(needed / most));
	else
		cli_note(
			w->cli,
			"the %s limits the precision: %.2g after %llu events; %g takes about %.2g, "
			"%s from now; --of waits for other results alone",
			now->limit, now->precision, (unsigned long long)now->events,
			w->ask->run.precision, needed, left);
}

static void qpn_solve_progress(void *ctx, const struct solve_progress *now)
{
	struct qpn_watch *w = ctx;
	double total = fmin(now->events_needed, (double)w->ask->run.max_events);

	if (!w->is_fixed) {
		w->progress.total = total > (double)now->events ? (uint64_t)total : now->events;
		qpn_solve_say(w, now);
	}
	progress_update(&w->progress, now->events);
}

static int qpn_solve_show(const struct cli *cli, const struct qpn_ask *o, const struct net *n,
			  struct estimate *e, struct solution_facts *f, struct err *err)
{
	if (o->sweep_answer)
		return qpn_sweep_add(o->sweep_answer, n, e, f, err);
	return cli_show(cli, solution_answer(n, e, f), NULL, err);
}

/* What the structure of a net says about its simulation. */
struct prospects {
	struct err unstable; /* a queue grows without bound, so a simulation is pointless */
	struct err end; /* a place is never left, so it is unknown whether a run is long enough */
};

static void qpn_on_prospect(void *ctx, const struct finding *f)
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
static int qpn_look_ahead(const struct cli *cli, const struct net *n, double *model_time,
			  struct err *err)
{
	struct prospects p = { .unstable = { 0 } };

	if (net_check(n, qpn_on_prospect, &p))
		return err_set(err, ENOMEM, "out of memory");
	if (p.unstable.code)
		return err_set(err, p.unstable.code, "%s:%.450s", n->file, p.unstable.line);
	if (!p.end.code || *model_time > 0)
		return 0;
	if (n->run_length > 0) {
		*model_time = n->run_length;
		cli_note(cli,
			 "%s:%.300s: how long a run must be cannot be judged; the file's own run "
			 "length of %g is taken, --model-time gives another",
			 n->file, p.end.line, n->run_length);
	} else {
		cli_note(
			cli,
			"%s:%.300s: how long a run must be cannot be judged; --model-time gives it",
			n->file, p.end.line);
	}
	return 0;
}

/*
 * Prints a net that grows without end: the JSON has null for every number, beside the line with the
 * error.
 */
static void qpn_show_unsteady(const struct cli *cli, const struct net *n, const struct qpn_ask *o)
{
	struct solution_facts facts = { .method = o->method,
					.seed = o->run.seed,
					.no_steady_state = true,
					.seconds = NAN,
					.model_time = NAN,
					.warm_up = NAN,
					.precision = NAN };
	struct estimate e;
	struct err err = { 0 };

	if (!(cli->json || o->sweep_answer) || estimate_make_unknown(&e, n))
		return;
	qpn_solve_show(cli, o, n, &e, &facts, &err);
	estimate_release(&e);
}

static int qpn_simulate(const struct cli *cli, const struct net *n, const struct qpn_ask *o,
			double model_time, struct err *err)
{
	struct solve_options so = SOLVE_DEFAULTS;
	struct solution_facts facts = { .method = o->method, .seed = o->run.seed };
	struct solution s = { 0 };
	struct qpn_watch watch = { .cli = cli, .ask = o, .is_fixed = model_time > 0 };
	uint64_t begin_ns = clock_monotonic_ns();
	int ret;

	so.method = strcmp(o->method, "replications") ? SOLVE_BATCH_MEANS : SOLVE_REPLICATIONS;
	so.quantiles = o->run.quantiles;
	so.precision = o->run.precision;
	so.model_time = model_time;
	so.seed = o->run.seed;
	so.max_events = o->run.max_events;
	so.nr_replications = (unsigned)o->run.replications;
	so.nr_threads = (unsigned)o->run.threads;
	so.wanted = o->wanted.items;
	so.nr_wanted = o->wanted.nr;
	so.progress = qpn_solve_progress;
	so.ctx = &watch;
	progress_begin(&watch.progress, "qpn", model_time > 0 ? 0 : o->run.max_events,
		       cli->teller.quiet);
	ret = solve_net(&s, n, &so, err);
	progress_end(&watch.progress);
	if (ret)
		return ret;
	facts.events = s.events;
	facts.seconds = 1e-9 * (double)(clock_monotonic_ns() - begin_ns);
	facts.model_time = s.model_time;
	facts.warm_up = s.warm_up;
	facts.precision = s.precision;
	ret = qpn_solve_show(cli, o, n, &s.estimate, &facts, err);
	if (ret)
		goto out;
	if (so.model_time <= 0 && s.precision > o->run.precision)
		cli_note(cli,
			 "stopped after %llu events at a relative precision of %.3g, not %g; "
			 "the %s limits it",
			 (unsigned long long)s.events, s.precision, o->run.precision, s.limit);
	else
		cli_note(cli,
			 "%llu events in %.2f s, %.4g of model time, %.3g of it warm-up, "
			 "relative precision %.3g, seed %llu",
			 (unsigned long long)s.events, facts.seconds, s.model_time, s.warm_up,
			 s.precision, (unsigned long long)o->run.seed);
out:
	solution_release(&s);
	return ret;
}

/* Simulates where the structure of the net lets it reach a steady state. */
static int qpn_by_simulation(const struct cli *cli, const struct net *n, const struct qpn_ask *o,
			     struct err *err)
{
	double model_time = o->run.model_time;
	int ret = qpn_look_ahead(cli, n, &model_time, err);

	if (!ret)
		ret = qpn_simulate(cli, n, o, model_time, err);
	if (err->code == EOVERFLOW)
		qpn_show_unsteady(cli, n, o);
	return ret;
}

static int qpn_analyse(const struct cli *cli, const struct net *n, const struct qpn_ask *o,
		       struct err *err)
{
	struct solution_facts facts = { .seed = o->run.seed, .warm_up = NAN, .precision = NAN };
	bool exact, approximate = !strcmp(o->method, QPN_MVA_APPROXIMATE);
	uint64_t begin_ns = clock_monotonic_ns();
	struct estimate e;
	int ret = mva_solve(&e, &exact, n, approximate, err);

	if (ret)
		return ret;
	if (!exact && !approximate)
		cli_note(cli, "too many tokens for exact mva: approximate");
	facts.method = exact ? QPN_MVA : QPN_MVA_APPROXIMATE;
	facts.seconds = 1e-9 * (double)(clock_monotonic_ns() - begin_ns);
	ret = qpn_solve_show(cli, o, n, &e, &facts, err);
	estimate_release(&e);
	return ret;
}

static bool qpn_is_analytic(const struct qpn_ask *o)
{
	return !strcmp(o->method, QPN_MVA) || !strcmp(o->method, QPN_MVA_APPROXIMATE);
}

static bool qpn_is_transient(const struct qpn_ask *o)
{
	return !strcmp(o->method, "transient");
}

static const char *qpn_ask_bad(const struct qpn_ask *o)
{
	if (strcmp(o->method, "batch-means") && strcmp(o->method, "replications") &&
	    strcmp(o->method, "bounds") && !qpn_is_transient(o) && !qpn_is_analytic(o))
		return "--method: expected batch-means, replications, mva, mva-approximate, "
		       "bounds or transient";
	if (qpn_is_transient(o) && !(o->run.model_time > 0))
		return "--method transient: expected --model-time, how long to look";
	if (o->points < 1 || o->points > TRANSIENT_MAX_POINTS)
		return "--points: expected 1 to 10000";
	if (o->sweep.nr && (qpn_is_transient(o) || !strcmp(o->method, "bounds")))
		return "--sweep: of steady states; expected another --method";
	if (o->checkpoint && !o->sweep.nr)
		return "--checkpoint: expected --sweep with it";
	return arch_run_bad(&o->run);
}

/* Reads the net with the settings of a point. */
static int qpn_solve_open(struct net **out, const struct cli *cli, const struct qpn_ask *o,
			  size_t point, struct err *err)
{
	struct qpn_settings settings;
	int ret = qpn_settings_read(&settings, &o->set, err);

	if (!ret && o->sweep_answer)
		ret = qpn_sweep_set(o->sweep_answer, point, &settings);
	if (!ret)
		ret = qpn_net(out, cli->argv[0], &settings, err);
	qpn_settings_release(&settings);
	return ret;
}

/* Adds a point of a sweep as it was recorded. Returns 1, 0 where it was not, or -errno. */
static int qpn_solve_recall(const struct qpn_ask *o, const struct net *n)
{
	struct solution_facts known = { .method = o->method, .seed = o->run.seed };

	return o->sweep_answer ? qpn_sweep_recall(o->sweep_answer, n, &known) : 0;
}

/* Reads the net with the settings of a point, and solves it. */
static int qpn_solve_point(const struct cli *cli, const struct qpn_ask *o, size_t point,
			   struct err *err)
{
	struct net *n = NULL;
	int ret = qpn_solve_open(&n, cli, o, point, err);

	if (ret)
		return ret;
	ret = qpn_solve_recall(o, n);
	if (ret)
		ret = ret < 0 ? ret : 0;
	else if (qpn_is_analytic(o))
		ret = qpn_analyse(cli, n, o, err);
	else if (!strcmp(o->method, "bounds"))
		ret = qpn_bounds(cli, n, err);
	else if (qpn_is_transient(o))
		ret = qpn_transient(cli, n, o, err);
	else
		ret = qpn_by_simulation(cli, n, o, err);
	net_free(n);
	return ret;
}

/* Adds a distribution, which may come from a file beside the net, to the question of a sweep. */
static void qpn_record_dist(struct sweep_record *r, const struct dist *d)
{
	double drawn[QPN_RECORD_DRAWS];
	uint32_t phase = 0;
	struct rng rng;

	sweep_record_bytes(r, &d->kind, sizeof(d->kind));
	if (d->kind != DIST_VALUES && d->kind != DIST_HISTOGRAM)
		return;
	rng_seed(&rng, 1);
	for (size_t i = 0; i < QPN_RECORD_DRAWS; i++)
		drawn[i] = dist_sample(d, &rng, &phase);
	sweep_record_bytes(r, drawn, sizeof(drawn));
	sweep_record_bytes(r, &d->mean, sizeof(d->mean));
	sweep_record_bytes(r, &d->variance, sizeof(d->variance));
}

/* Opens the checkpoint of a sweep; its question is the net with its files, and the options. */
static int qpn_record_sweep(struct sweep_record *r, const struct cli *cli, const struct qpn_ask *o,
			    struct err *err)
{
	struct net *n = NULL;
	int ret = sweep_record_open(r, o->checkpoint, "qpn solve", err);

	if (ret || !o->checkpoint)
		return ret;
	ret = sweep_record_file(r, cli->argv[0], err);
	if (ret)
		return ret;
	ret = qpn_solve_open(&n, cli, o, 0, err);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < n->nr_slots; i++)
		qpn_record_dist(r, &n->slots[i].service);
	for (uint32_t i = 0; i < n->nr_transitions; i++)
		qpn_record_dist(r, &n->transitions[i].time);
	net_free(n);
	sweep_record_words(r, &o->set);
	sweep_record_words(r, &o->sweep);
	sweep_record_words(r, &o->wanted);
	sweep_record_text(r, o->method);
	sweep_record_run(r, &o->run);
	return sweep_record_ask(r, err);
}

/*
 * Solves the net for every point. A point without a steady state is a line without numbers, and
 * the sweep goes on.
 */
static int qpn_solve_sweep(struct cli *cli, struct qpn_ask *o, bool *unsteady, struct err *err)
{
	struct qpn_sweep sweep = { .values = { .nr = 0 } };
	int ret = arch_sweeps_read(&sweep.values, &o->sweep, err);

	if (!ret)
		ret = qpn_sweep_begin(&sweep, cli->argv[0], cli->json);
	o->sweep_answer = &sweep;
	if (!ret)
		ret = qpn_record_sweep(&sweep.record, cli, o, err);
	for (size_t i = 0; i < sweep.values.nr_points && !ret; i++) {
		struct err why = { 0 };

		sweep.point = i;
		ret = qpn_solve_point(cli, o, i, &why);
		if (ret && why.code == EOVERFLOW) {
			cli_note(cli, "%s", why.line);
			*unsteady = true;
			ret = 0;
		} else if (ret) {
			*err = why;
		}
	}
	if (!ret)
		ret = qpn_sweep_show(&sweep, cli, err);
	qpn_sweep_release(&sweep);
	return ret;
}

int qpn_solve(struct cli *cli)
{
	struct qpn_ask o = { .method = "batch-means",
			     .run = { .precision = 0.01,
				      .seed = 1,
				      .replications = 16,
				      .max_events = 2000000000 },
			     .points = 20 };
	const struct cli_option options[] = {
		CLI_LIST("set", 0, "NAME=VALUE", &o.set, "change a parameter of the net"),
		CLI_LIST("sweep", 0, "NAME=FROM:TO:STEP", &o.sweep,
			 "solve for each value of a parameter; of several, every combination"),
		CLI_STRING("checkpoint", 0, "FILE", &o.checkpoint,
			   "of --sweep: keep every solved point there, and go on after a kill"),
		CLI_STRING("method", 'm', "METHOD", &o.method,
			   "batch-means (default), replications, mva, mva-approximate, bounds or "
			   "transient"),
		CLI_DOUBLE("precision", 'p', "P", &o.run.precision,
			   "run until every mean is known to P, relative, at 95 % (default 0.01)"),
		CLI_LIST("of", 0, "NAME", &o.wanted,
			 "places, PLACE.COLOUR and probes whose precision counts (default: all)"),
		CLI_FLAG("quantiles", 0, &o.run.quantiles,
			 "medians, 95 and 99 % quantiles of times must reach the precision too"),
		CLI_DOUBLE("model-time", 't', "T", &o.run.model_time,
			   "run (each replication) for T of the net's time instead"),
		CLI_U64("replications", 0, "N", &o.run.replications, "at least N (default 16)"),
		CLI_U64("points", 0, "N", &o.points,
			"transient: intervals of the model time (default 20)"),
		CLI_U64("max-events", 0, "N", &o.run.max_events,
			"stop after N events whatever the precision (default 2e9)"),
		CLI_U64("seed", 's', "N", &o.run.seed, "of the random numbers (default 1)"),
		CLI_U64("threads", 0, "N", &o.run.threads,
			"for replications; the result is the same for any number (default: all)"),
		CLI_END,
	};
	struct err err = { 0 };
	bool unsteady = false;
	const char *bad;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	bad = qpn_ask_bad(&o);
	if (bad)
		return cli_usage(cli, "%s", bad);
	if (cli->argc != 1)
		return cli_usage(cli, "expected one net, got %d files", cli->argc);
	ret = o.sweep.nr ? qpn_solve_sweep(cli, &o, &unsteady, &err)
			 : qpn_solve_point(cli, &o, 0, &err);
	return cli_finish(cli, ret, &err, unsteady ? CLI_FAILED : CLI_DONE);
}
