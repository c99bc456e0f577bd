// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/cmd/cli.h"
#include "analyzer/cmd/commands.h"
#include "analyzer/cmd/qpn_analysis.h"
#include "analyzer/cmd/show.h"
#include "analyzer/cmd/qpn_calibrate.h"
#include "analyzer/cmd/qpn_model.h"
#include "analyzer/cmd/qpn_weights.h"
#include "analyzer/answer/progress.h"
#include "analyzer/models/net/check.h"
#include "analyzer/models/net/draw.h"
#include "analyzer/models/net/expr.h"
#include "analyzer/models/solve/mva.h"
#include "analyzer/models/net/net.h"
#include "analyzer/models/net/qpe_import.h"
#include "analyzer/models/solve/solution_answer.h"
#include "analyzer/models/solve/solve.h"
#include "base/clock.h"
#include "base/json.h"

struct options {
	struct word_list set, wanted;
	const char *method;
	bool quantiles;
	double precision, model_time;
	uint64_t seed, threads, replications, max_events, points;
};

/* Parses "k=v" of --set, where v is an expression without parameters. The caller owns the names. */
static int read_settings(const struct word_list *set, struct net_setting *settings, char **names,
			 struct err *err)
{
	struct expr_scope none = { .nr = 0 };

	for (size_t i = 0; i < set->nr; i++) {
		const char *equals = strchr(set->items[i], '=');
		struct err why = { 0 };

		if (!equals || equals == set->items[i])
			return err_set(err, EINVAL, "--set: expected NAME=VALUE, got '%s'",
				       set->items[i]);
		names[i] = strndup(set->items[i], (size_t)(equals - set->items[i]));
		if (!names[i])
			return err_set(err, ENOMEM, "out of memory");
		settings[i].name = names[i];
		if (expr_value(&none, equals + 1, &settings[i].value, &why))
			return err_set(err, EINVAL, "--set: %s: %s", names[i], why.line);
	}
	return 0;
}

static int load_net(struct net **out, const char *path, const struct word_list *set,
		    struct err *err)
{
	struct net_setting settings[WORD_LIST_MAX];
	char *names[WORD_LIST_MAX] = { NULL };
	size_t len = strlen(path);
	bool qpe = len > 4 && !strcmp(path + len - 4, ".qpe");
	int ret = read_settings(set, settings, names, err);

	if (!ret && qpe && set->nr)
		ret = err_set(err, EINVAL, "%s: a .qpe has no parameters to --set", path);
	else if (!ret)
		ret = qpe ? qpe_import(out, path, err)
			  : net_read(out, path, settings, set->nr, err);
	for (size_t i = 0; i < set->nr; i++)
		free(names[i]);
	return ret;
}

static void on_progress(void *ctx, uint64_t events, double precision)
{
	(void)precision;
	progress_update(ctx, events);
}

static int cmd_qpn_show(const struct cli *cli, const struct net *n, const struct estimate *e,
			const struct solution_facts *f, struct err *err)
{
	struct answer *a = solution_answer(n, e, f);
	int ret = cli_show(cli, a, NULL, err);

	answer_free(a);
	return ret;
}

/* What the structure of a net says about its simulation. */
struct prospects {
	struct err unstable; /* a queue grows without bound, so a simulation is pointless */
	struct err end; /* a place is never left, so it is unknown whether a run is long enough */
};

static void on_prospect(void *ctx, const struct finding *f)
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
static int look_ahead(const struct cli *cli, const struct net *n, double *model_time,
		      struct err *err)
{
	struct prospects p = { .unstable = { 0 } };

	if (net_check(n, on_prospect, &p))
		return err_set(err, ENOMEM, "out of memory");
	if (p.unstable.code)
		return err_set(err, p.unstable.code, "%s:%.450s", n->file, p.unstable.line);
	if (!p.end.code || *model_time > 0)
		return 0;
	if (n->run_length > 0) {
		*model_time = n->run_length;
		cli_note(
			cli,
			"%s:%.300s: how long a run must be cannot be judged; the file's own run length "
			"of %g is taken, --model-time gives another",
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
static void print_unsteady(const struct cli *cli, const struct net *n, const struct options *o)
{
	struct solution_facts facts = { .method = o->method,
					.seed = o->seed,
					.no_steady_state = true,
					.seconds = NAN,
					.model_time = NAN,
					.warm_up = NAN,
					.precision = NAN };
	struct estimate e;
	struct err err = { 0 };

	if (!cli->json || estimate_make_unknown(&e, n))
		return;
	cmd_qpn_show(cli, n, &e, &facts, &err);
	estimate_release(&e);
}

static int cmd_qpn_simulate(const struct cli *cli, const struct net *n, const struct options *o,
			    struct err *err)
{
	struct solve_options so = SOLVE_DEFAULTS;
	struct solution_facts facts = { .method = o->method, .seed = o->seed };
	struct solution s = { 0 };
	struct progress progress;
	uint64_t begin_ns = clock_monotonic_ns();
	int ret;

	so.method = strcmp(o->method, "replications") ? SOLVE_BATCH_MEANS : SOLVE_REPLICATIONS;
	so.quantiles = o->quantiles;
	so.precision = o->precision;
	so.model_time = o->model_time;
	so.seed = o->seed;
	so.max_events = o->max_events;
	so.nr_replications = (unsigned)o->replications;
	so.nr_threads = (unsigned)o->threads;
	so.wanted = o->wanted.items;
	so.nr_wanted = o->wanted.nr;
	so.progress = on_progress;
	so.ctx = &progress;
	ret = look_ahead(cli, n, &so.model_time, err);
	if (!ret) {
		progress_begin(&progress, "qpn", o->max_events, cli->quiet);
		ret = solve_net(&s, n, &so, err);
		progress_end(&progress);
	}
	if (err->code == EOVERFLOW)
		print_unsteady(cli, n, o);
	if (ret)
		return ret;
	facts.events = s.events;
	facts.seconds = 1e-9 * (double)(clock_monotonic_ns() - begin_ns);
	facts.model_time = s.model_time;
	facts.warm_up = s.warm_up;
	facts.precision = s.precision;
	ret = cmd_qpn_show(cli, n, &s.estimate, &facts, err);
	if (!ret && so.model_time <= 0 && s.precision > o->precision)
		cli_note(cli, "stopped after %llu events at a relative precision of %.3g, not %g",
			 (unsigned long long)s.events, s.precision, o->precision);
	else if (!ret)
		cli_note(cli,
			 "%llu events in %.2f s, %.4g of model time, %.3g of it warm-up, "
			 "relative precision %.3g, seed %llu",
			 (unsigned long long)s.events, facts.seconds, s.model_time, s.warm_up,
			 s.precision, (unsigned long long)o->seed);
	solution_release(&s);
	return ret;
}

static int cmd_qpn_analyse(const struct cli *cli, const struct net *n, const struct options *o,
			   struct err *err)
{
	struct solution_facts facts = { .seed = o->seed, .warm_up = NAN, .precision = NAN };
	bool exact, approximate = !strcmp(o->method, "mva-approximate");
	uint64_t begin_ns = clock_monotonic_ns();
	struct estimate e;
	int ret = mva_solve(&e, &exact, n, approximate, err);

	if (ret)
		return ret;
	if (!exact && !approximate)
		cli_note(cli, "too many tokens for exact mva: approximate");
	facts.method = exact ? "mva" : "mva-approximate";
	facts.seconds = 1e-9 * (double)(clock_monotonic_ns() - begin_ns);
	ret = cmd_qpn_show(cli, n, &e, &facts, err);
	estimate_release(&e);
	return ret;
}

static bool is_analytic(const struct options *o)
{
	return !strcmp(o->method, "mva") || !strcmp(o->method, "mva-approximate");
}

static bool is_transient(const struct options *o)
{
	return !strcmp(o->method, "transient");
}

static int cmd_qpn_transient(const struct cli *cli, const struct net *n, const struct options *o,
			     struct err *err)
{
	struct transient_options t = { .model_time = o->model_time,
				       .nr_points = (unsigned)o->points,
				       .nr_replications = (unsigned)o->replications,
				       .nr_threads = (unsigned)o->threads,
				       .seed = o->seed };

	return qpn_transient(cli, n, &t, err);
}

static const char *bad_options(const struct options *o)
{
	if (strcmp(o->method, "batch-means") && strcmp(o->method, "replications") &&
	    strcmp(o->method, "bounds") && !is_transient(o) && !is_analytic(o))
		return "--method: expected batch-means, replications, mva, mva-approximate, "
		       "bounds or transient";
	if (is_transient(o) && !(o->model_time > 0))
		return "--method transient: expected --model-time, how long to look";
	if (o->points < 1 || o->points > TRANSIENT_MAX_POINTS)
		return "--points: expected 1 to 10000";
	if (!(o->precision > 0 && o->precision < 1))
		return "--precision: expected a number between 0 and 1";
	if (!(o->model_time >= 0))
		return "--model-time: expected a time above 0";
	if (o->replications < 2 || o->replications > 100000)
		return "--replications: expected 2 to 100000";
	if (o->threads > 1024)
		return "--threads: expected 1 to 1024, or 0 for all processors";
	if (o->max_events < 1)
		return "--max-events: expected 1 or more";
	return NULL;
}

static int cmd_qpn_solve(struct cli *cli)
{
	struct options o = { .method = "batch-means",
			     .precision = 0.01,
			     .seed = 1,
			     .replications = 16,
			     .max_events = 2000000000,
			     .points = 20 };
	const struct cli_option options[] = {
		CLI_LIST("set", 0, "NAME=VALUE", &o.set, "change a parameter of the net"),
		CLI_STRING("method", 'm', "METHOD", &o.method,
			   "batch-means (default), replications, mva, mva-approximate, bounds or "
			   "transient"),
		CLI_DOUBLE("precision", 'p', "P", &o.precision,
			   "run until every mean is known to P, relative, at 95 % (default 0.01)"),
		CLI_LIST("of", 0, "NAME", &o.wanted,
			 "places and probes whose precision counts (default: all)"),
		CLI_FLAG("quantiles", 0, &o.quantiles,
			 "medians, 95 and 99 % quantiles of times must reach the precision too"),
		CLI_DOUBLE("model-time", 't', "T", &o.model_time,
			   "run (each replication) for T of the net's time instead"),
		CLI_U64("replications", 0, "N", &o.replications, "at least N (default 16)"),
		CLI_U64("points", 0, "N", &o.points,
			"transient: intervals of the model time (default 20)"),
		CLI_U64("max-events", 0, "N", &o.max_events,
			"stop after N events whatever the precision (default 2e9)"),
		CLI_U64("seed", 's', "N", &o.seed, "of the random numbers (default 1)"),
		CLI_U64("threads", 0, "N", &o.threads,
			"for replications; the result is the same for any number (default: all)"),
		CLI_END,
	};
	struct net *n = NULL;
	struct err err = { 0 };
	const char *bad;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	bad = bad_options(&o);
	if (bad)
		return cli_usage(cli, "%s", bad);
	if (cli->argc != 1)
		return cli_usage(cli, "expected one net, got %d files", cli->argc);
	ret = load_net(&n, cli->argv[0], &o.set, &err);
	if (!ret && is_analytic(&o))
		ret = cmd_qpn_analyse(cli, n, &o, &err);
	else if (!ret && !strcmp(o.method, "bounds"))
		ret = qpn_bounds(cli, n, &err);
	else if (!ret && is_transient(&o))
		ret = cmd_qpn_transient(cli, n, &o, &err);
	else if (!ret)
		ret = cmd_qpn_simulate(cli, n, &o, &err);
	net_free(n);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

/* Reads the operand and --set for the verbs that only look at a net. */
static bool open_net(struct cli *cli, struct net **n)
{
	struct word_list set = { .nr = 0 };
	const struct cli_option options[] = {
		CLI_LIST("set", 0, "NAME=VALUE", &set, "change a parameter of the net"),
		CLI_END,
	};
	struct err err = { 0 };

	if (!cli_parse(cli, options))
		return false;
	if (cli->argc != 1)
		cli->status = cli_usage(cli, "expected one net, got %d files", cli->argc);
	else if (load_net(n, cli->argv[0], &set, &err))
		cli->status = cli_fail(cli, &err);
	else
		return true;
	return false;
}

struct findings {
	const char *file;
	json_t *json; /* NULL: lines for a person */
	size_t nr;
};

static void on_finding(void *ctx, const struct finding *f)
{
	struct findings *all = ctx;

	all->nr++;
	if (all->json)
		json_array_append_new(all->json,
				      json_pack("{s:s, s:i, s:s}", "kind", finding_name(f->kind),
						"line", (int)f->line, "text", f->text));
	else
		printf("%s:%u: %s\n", all->file, f->line, f->text);
}

static int cmd_qpn_check(struct cli *cli)
{
	struct findings all = { .nr = 0 };
	struct err err = { 0 };
	struct net *n = NULL;
	json_t *out = NULL;

	if (!open_net(cli, &n))
		return cli->status;
	all.file = n->file;
	all.json = cli->json ? json_array() : NULL;
	if (net_check(n, on_finding, &all) || (cli->json && json_array_size(all.json) != all.nr))
		err_set(&err, ENOMEM, "out of memory");
	if (!err.code && cli->json) {
		out = json_pack("{s:s, s:O}", "schema", "blkcast.qpn-check/1", "findings",
				all.json);
		if (!out || json_print(out, stdout, JSON_INDENT(2)))
			err_set(&err, ENOMEM, "out of memory");
		putchar('\n');
	} else if (!err.code && !all.nr) {
		cli_note(cli, "%s: nothing found", n->file);
	}
	json_decref(out);
	json_decref(all.json);
	net_free(n);
	if (err.code)
		return cli_fail(cli, &err);
	return all.nr ? CLI_FAILED : CLI_DONE;
}

static int cmd_qpn_draw(struct cli *cli)
{
	struct net *n = NULL;
	FILE *dot;
	int ret;

	if (!open_net(cli, &n))
		return cli->status;
	if (cli->json) {
		net_free(n);
		return cli_usage(cli, "a picture has no --json");
	}
	fflush(stdout);
	dot = popen("dot -Tsvg", "w");
	if (dot)
		net_draw(n, dot);
	net_free(n);
	ret = dot ? pclose(dot) : -1;
	if (!ret)
		return CLI_DONE;
	fprintf(stderr, "blkcast qpn: graphviz' dot failed: is the package graphviz installed?\n");
	return CLI_FAILED;
}

static const char *bad_task(const struct weights_task *t, uint64_t digits)
{
	if (!(t->read_time > 0 && t->write_time > 0))
		return "expected --read and --write, the measured mean response times";
	if (!(t->phi_min > 0 && t->phi_max > t->phi_min))
		return "--phi-min, --phi-max: expected 0 < min < max";
	if (digits > 6)
		return "--digits: expected 0 to 6";
	if (!(t->precision > 0 && t->precision < 1))
		return "--precision: expected a number between 0 and 1";
	return NULL;
}

static int cmd_qpn_weights(struct cli *cli)
{
	struct weights_task t = { .read_probe = "read response",
				  .write_probe = "write response",
				  .phi_min = 0.01,
				  .phi_max = 20,
				  .max_error = 0.005,
				  .precision = 0.01,
				  .seed = 1 };
	struct net_setting settings[WORD_LIST_MAX];
	char *names[WORD_LIST_MAX] = { NULL };
	struct word_list set = { .nr = 0 };
	uint64_t digits = 2;
	const struct cli_option options[] = {
		CLI_DOUBLE("read", 0, "T", &t.read_time, "measured mean response time of reads"),
		CLI_DOUBLE("write", 0, "T", &t.write_time, "the same of writes"),
		CLI_STRING("read-probe", 0, "NAME", &t.read_probe,
			   "the net's probe of reads (default: read response)"),
		CLI_STRING("write-probe", 0, "NAME", &t.write_probe,
			   "the net's probe of writes (default: write response)"),
		CLI_LIST("set", 0, "NAME=VALUE", &set, "change a parameter of the net"),
		CLI_DOUBLE("phi-min", 0, "N", &t.phi_min, "least alpha / beta (default 0.01)"),
		CLI_DOUBLE("phi-max", 0, "N", &t.phi_max, "largest alpha / beta (default 20)"),
		CLI_U64("digits", 0, "N", &digits, "of alpha / beta after the point (default 2)"),
		CLI_DOUBLE("max-error", 0, "E", &t.max_error,
			   "mean relative error that is good enough (default 0.005)"),
		CLI_DOUBLE("precision", 'p', "P", &t.precision, "of each solution (default 0.01)"),
		CLI_U64("seed", 's', "N", &t.seed, "of the random numbers (default 1)"),
		CLI_END,
	};
	struct err err = { 0 };
	const char *bad;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	bad = bad_task(&t, digits);
	if (bad)
		return cli_usage(cli, "%s", bad);
	if (cli->argc != 1)
		return cli_usage(cli, "expected one net, got %d files", cli->argc);
	t.path = cli->argv[0];
	t.settings = settings;
	t.nr_settings = set.nr;
	t.digits = (unsigned)digits;
	ret = read_settings(&set, settings, names, &err) ? cli_fail(cli, &err)
							 : qpn_weights(cli, &t);
	for (size_t i = 0; i < set.nr; i++)
		free(names[i]);
	return ret;
}

static int cmd_qpn_run(struct cli *cli)
{
	static const char *const verbs[] = { "solve",	"check",   "draw", "calibrate",
					     "weights", "predict", NULL };

	switch (cli_verb(cli, verbs)) {
	case 0:
		return cmd_qpn_solve(cli);
	case 1:
		return cmd_qpn_check(cli);
	case 2:
		return cmd_qpn_draw(cli);
	case 3:
		return qpn_calibrate(cli);
	case 4:
		return cmd_qpn_weights(cli);
	case 5:
		return qpn_predict(cli);
	default:
		return cli->status;
	}
}

const struct command command_qpn = {
	.name = "qpn",
	.summary = "solve, check, draw and calibrate queueing Petri nets",
	.usage = "solve NET.(yaml|qpe) [--set NAME=VALUE]... [--precision P | --model-time T]\n"
		 "check NET [--set NAME=VALUE]...\n"
		 "draw NET [--set NAME=VALUE]... >NET.svg\n"
		 "calibrate TABLE.csv -o NET.yaml [--where COLUMN=VALUE]...\n"
		 "calibrate --model MODEL TABLE.csv -o MODEL.json\n"
		 "calibrate --model MODEL --db FILE -o MODEL.json [--set NAME=VALUE]...\n"
		 "predict MODEL.json (TABLE.csv | --set COLUMN=VALUE...) [--net]\n"
		 "weights NET.yaml --read T --write T [--set NAME=VALUE]...",
	.details =
		"Simulates a queueing Petri net (docs/qpn.schema.json, or a .qpe of QPME) until each place's\n"
		"population, residence time and throughput is known well enough, and says how\n"
		"well: intervals are at 95 %. Times are in the net's own unit. A deadlock, an\n"
		"endless loop of immediate transitions and an unstable net are found and named;\n"
		"they exit with 1.\n"
		"\n"
		"mva solves closed product-form nets exactly, and says which place makes a net\n"
		"none; where there are too many tokens for that it approximates and says so.\n"
		"\n"
		"check names what is wrong with a net without running it: places that no token\n"
		"reaches or leaves, cycles without time, queues with more work than they can do,\n"
		"tokens that are not conserved; it exits with 1 where it found something. draw\n"
		"gives a picture, as SVG by graphviz.\n"
		"\n"
		"calibrate makes a model of a storage system from measured response times of\n"
		"clients that do not think (docs/qpn-tables.md says what has to be in the table):\n"
		"cache, all requests hit; hardware, random and sequential reads and writes within\n"
		"the cache and beyond it; mixed, reads and writes of one VM together; multi-vm;\n"
		"variable, of several sizes. It shows every term with its p-value, and how well it\n"
		"fits. predict asks such a model for loads that were not measured; --net prints\n"
		"the net that answers. weights finds how much a storage\n"
		"system prefers reads: the net's parameters alpha and beta, the firing weights of\n"
		"waiting reads and writes, that give the measured mean response times.",
	.example =
		"blkcast qpn solve docs/examples/mm1.yaml\n"
		"blkcast qpn solve docs/examples/closed-storage.yaml --set clients=50 --json\n"
		"blkcast qpn check docs/examples/closed-storage.yaml\n"
		"blkcast qpn calibrate --model hardware docs/examples/storage-runs.csv -o array.json\n"
		"blkcast qpn predict array.json --set "
		"type=write,clients=45,size_bytes=24k,file_set_bytes=100g",
	.run = cmd_qpn_run,
	.rank_verbs = " solve predict calibrate ",
};
