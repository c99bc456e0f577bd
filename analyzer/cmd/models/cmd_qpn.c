// SPDX-License-Identifier: Apache-2.0
/* qpn: queueing Petri nets. */
#include <errno.h>
#include <stdio.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/shared_options.h"
#include "analyzer/learn/net_calibrate.h"
#include "analyzer/learn/net_predict.h"
#include "analyzer/models/net/check.h"
#include "analyzer/models/net/draw.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/models/solve/net_solve.h"
#include "analyzer/models/storage/calibration/calibration_answer.h"

/* Reads the operand and --set for the verbs that only look at a net. */
static bool qpn_open(struct cli *cli, struct net **n)
{
	struct word_list set = { .nr = 0 };
	const struct cli_option options[] = {
		PARAMETER_OPTION(&set, "net"),
		CLI_OPERANDS(1, 1, "one net"),
		CLI_END,
	};
	struct net_settings settings;
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return false;
	ret = net_settings_read(&settings, &set, &err);
	if (!ret)
		ret = net_open(n, cli->argv[0], &settings, &err);
	net_settings_release(&settings);
	cli->status = cli_finish(cli, ret, &err, CLI_DONE);
	return !ret;
}

static int qpn_check(struct cli *cli)
{
	struct err err = { 0 };
	struct net *n = NULL;
	json_t *json = NULL;
	size_t nr = 0;
	int ret;

	if (!qpn_open(cli, &n))
		return cli->status;
	ret = cli->json ? net_check_json(n, &json, &nr) : net_check_print(n, stdout, &nr);
	if (!ret && cli->json)
		ret = cli_show_json(json);
	else if (!ret && !nr)
		cli_note(cli, "%s: nothing found", n->file);
	net_free(n);
	return cli_finish(cli, ret, &err, nr ? CLI_FAILED : CLI_DONE);
}

static void qpn_dot(const void *model, FILE *dot)
{
	net_draw(model, dot);
}

static int qpn_draw(struct cli *cli)
{
	struct net *n = NULL;

	if (!qpn_open(cli, &n))
		return cli->status;
	cli->status = cli->json ? cli_usage(cli, "a picture has no --json")
				: cli_show_drawing(cli, qpn_dot, n);
	net_free(n);
	return cli->status;
}

static int qpn_weights(struct cli *cli)
{
	struct weights_task t = { .nr_settings = 0 };
	struct net_settings settings;
	struct weights_found found;
	struct word_list set = { .nr = 0 };
	const struct cli_option options[] = {
		CLI_DOUBLE("read", 0, "T", &t.read_time, "measured mean response time of reads",
			   .required = true, .above = "0"),
		CLI_DOUBLE("write", 0, "T", &t.write_time, "the same of writes", .required = true,
			   .above = "0"),
		CLI_STRING("read-probe", 0, "NAME", &t.read_probe, "the net's probe of reads",
			   .standard = "read response"),
		CLI_STRING("write-probe", 0, "NAME", &t.write_probe, "the net's probe of writes",
			   .standard = "write response"),
		PARAMETER_OPTION(&set, "net"),
		CLI_DOUBLE("phi-min", 0, "N", &t.phi_min, "least alpha / beta", .standard = "0.01",
			   .above = "0"),
		CLI_DOUBLE("phi-max", 0, "N", &t.phi_max, "largest alpha / beta", .standard = "20"),
		CLI_UINT("digits", 0, "N", &t.digits, "of alpha / beta after the point",
			 .standard = "2", .from = "0", .to = "6"),
		CLI_DOUBLE("max-error", 0, "E", &t.max_error,
			   "mean relative error that is good enough", .standard = "0.005"),
		PRECISION_OPTION(&t.precision, "of each solution"),
		SEED_OPTION(&t.seed),
		CLI_OPERANDS(1, 1, "one net"),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (!(t.phi_max > t.phi_min))
		return cli_usage(cli, "--phi-min, --phi-max: expected 0 < min < max");
	t.path = cli->argv[0];
	t.settings = settings.items;
	ret = net_settings_read(&settings, &set, &err);
	t.nr_settings = settings.nr; /* fewer than words where a name is set twice */
	if (!ret)
		ret = calibrate_weights(&found, &t, &err);
	if (!ret)
		ret = cli_show(cli, weights_answer(&found, t.seed), NULL, &err);
	net_settings_release(&settings);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

/* Shows the answer, also that of a net that has no steady state, and the list of a sweep. */
static int qpn_solve_show(struct cli *cli, struct net_solve *s, int ret, struct err *err)
{
	struct err unshown = { 0 };
	int shown = 0;

	if (s->points && !ret)
		ret = cli_show_json(json_incref(s->points));
	if (s->answer && (!ret || err->code == EOVERFLOW))
		shown = cli_show(cli, s->answer, NULL, &unshown);
	else
		answer_free(s->answer);
	s->answer = NULL;
	if (!ret && shown)
		*err = unshown;
	return cli_finish(cli, ret ? ret : shown, err, s->unsteady ? CLI_FAILED : CLI_DONE);
}

static int qpn_solve(struct cli *cli)
{
	struct net_solve s = { .teller = &cli->teller,
			       .long_hint = "; --of waits for other results alone, --max-events "
					    "sets the end",
			       .length_hint = "; --model-time gives it" };
	const struct cli_option options[] = {
		PARAMETER_OPTION(&s.set, "net"),
		SWEEP_OPTIONS(&s),
		CLI_WORD("method", 'm', "METHOD", &s.method,
			 "batch-means, replications, mva, mva-approximate, bounds or transient",
			 .words = net_methods, .standard = "batch-means"),
		PRECISION_OPTION(&s.run.precision,
				 "run until every mean is known to P, relative, at 95 %"),
		CLI_LIST("of", 0, "NAME", &s.wanted,
			 "places, PLACE.COLOUR and probes whose precision counts (default: all)"),
		CLI_FLAG("quantiles", 0, &s.run.quantiles,
			 "medians, 95 and 99 % quantiles of times must reach the precision too"),
		CLI_DOUBLE("model-time", 't', "T", &s.run.model_time,
			   "run (each replication) for T of the net's time instead", .from = "0"),
		CLI_UINT("points", 0, "N", &s.nr_points, "transient: intervals of the model time",
			 .standard = "20", .from = "1", .to = "10000"),
		MAX_EVENTS_OPTION(&s.run.max_events, "2000000000"),
		RUN_OPTIONS(&s.run),
		CLI_OPERANDS(1, 1, "one net"),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (s.method == NET_TRANSIENT && !(s.run.model_time > 0))
		return cli_usage(cli, "--method transient: expected --model-time, how long to "
				      "look");
	if (s.sweep.nr && (s.method == NET_TRANSIENT || s.method == NET_BOUNDS))
		return cli_usage(cli, "--sweep: of steady states; expected another --method");
	s.path = cli->argv[0];
	s.as_list = cli->json;
	ret = qpn_solve_show(cli, &s, net_solve(&s, &err), &err);
	net_solve_release(&s);
	return ret;
}

/* JSON shows the model as it is stored. */
static int qpn_calibrate_show(const struct cli *cli, const struct net_calibration *task,
			      struct err *err)
{
	int ret;

	if (cli->json && task->root) {
		answer_free(task->answer);
		return cli_show_json(task->root);
	}
	json_decref(task->root);
	ret = cli_show(cli, task->answer, NULL, err);
	if (ret)
		return ret;
	if (task->is_long)
		putchar('\n');
	return 0;
}

static int qpn_calibrate(struct cli *cli)
{
	struct net_calibration task = { .teller = &cli->teller, .rule = STORAGE_NR_RULES };
	const struct cli_option options[] = {
		CLI_STRING("db", 0, "FILE", &task.db,
			   "calibrate from the runs of a measurement store (blkcast measure)",
			   .is_input = true),
		CAMPAIGN_OPTION(&task.campaign),
		CLI_LIST("set", 0, "NAME=VALUE", &task.settings,
			 "of --db: what the plan sets and is no factor, such as file_set=1g"),
		CLI_WORD("model", 0, "MODEL", &task.kind,
			 "cache, hardware, mixed, multi-vm or variable", .standard = "cache",
			 .words = storage_kind_names),
		CLI_STRING("output", 'o', "FILE", &task.output,
			   "the calibrated model; of cache a net where it ends in .yaml",
			   .required = true, .is_output = true),
		CLI_LIST("where", 0, "COLUMN=VALUE", &task.where, "take only these rows"),
		CLI_DOUBLE("saturated", 0, "CLIENTS", &task.saturated,
			   "service times from runs of as many clients or more (default: the most "
			   "there are)",
			   .from = "0"),
		CLI_WORD("weights", 0, "RULE", &task.rule,
			 "of VMs: algorithm-4, algorithm-5, clients, local or parts (default: "
			 "the best)",
			 .words = storage_rule_names),
		PRECISION_OPTION(&task.precision, "of every net solved"),
		SEED_OPTION(&task.seed),
		THREADS_OPTION(&task.nr_threads),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (task.kind != STORAGE_CACHE && net_calibration_is_net(task.output))
		return cli_usage(cli, "--output: a net in YAML is for --model cache alone: name a "
				      ".json");
	if (cli->argc + (task.db != NULL) != 1)
		return cli_usage(cli, "expected one measurement table or --db, got %d",
				 cli->argc + (task.db != NULL));
	task.table = cli->argc ? cli->argv[0] : NULL;
	ret = net_calibrate(&task, &err);
	if (!ret)
		ret = qpn_calibrate_show(cli, &task, &err);
	if (!ret)
		cli_note(cli,
			 net_calibration_is_net(task.output)
				 ? "the model is the net %s: ask it with blkcast qpn solve"
				 : "ask the model: blkcast qpn predict %s",
			 task.output);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

static int qpn_predict(struct cli *cli)
{
	struct net_predict p = { .teller = &cli->teller,
				 .ask = STORAGE_ASK_DEFAULTS,
				 .set_name = "--set",
				 .out = stdout };
	const struct cli_option options[] = {
		CLI_LIST("set", 0, "COLUMN=VALUE", &p.set, "one row, instead of a table"),
		CLI_DURATION("think", 0, "T", &p.ask.think_s,
			     "of a client between an answer and its next request (default 1 ns)",
			     .above = "0"),
		PRECISION_OPTION(&p.ask.precision, "of every mean response time, relative"),
		SEED_OPTION(&p.ask.seed),
		THREADS_OPTION(&p.ask.nr_threads),
		CLI_FLAG("net", 0, &p.net, "print the net of the one configuration instead"),
		STRICT_OPTION(&p.strict),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (cli->argc < 1 || cli->argc > 2 || (cli->argc == 2) == (p.set.nr > 0))
		return cli_usage(cli, "expected a model, and a table or --set COLUMN=VALUE");
	lsq_single_thread();
	p.json = cli->json;
	ret = net_predict(&p, cli->argv[0], cli->argc == 2 ? cli->argv[1] : NULL, &err);
	if (!ret && p.net)
		ret = cli_show_text(&p.text);
	net_predict_release(&p);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

static int cmd_qpn_run(struct cli *cli)
{
	static const struct cli_verb verbs[] = {
		{ "solve", qpn_solve },
		{ "check", qpn_check },
		{ "draw", qpn_draw },
		{ "calibrate", qpn_calibrate },
		{ "weights", qpn_weights },
		{ "predict", qpn_predict },
		{ NULL, NULL },
	};

	return cli_run_verb(cli, verbs);
}

const struct command command_qpn = {
	.name = "qpn",
	.summary = "solve, check, draw and calibrate queueing Petri nets",
	.usage = "solve NET.(yaml|qpe) [--set NAME=VALUE]... [--sweep NAME=FROM:TO:STEP]... "
		 "[--precision P]\n"
		 "check NET [--set NAME=VALUE]...\n"
		 "draw NET [--set NAME=VALUE]... >NET.svg\n"
		 "calibrate TABLE.csv -o NET.yaml [--where COLUMN=VALUE]...\n"
		 "calibrate --model MODEL TABLE.csv -o MODEL.json\n"
		 "calibrate --model MODEL --db FILE -o MODEL.json [--set NAME=VALUE]...\n"
		 "predict MODEL.json (TABLE.csv | --set COLUMN=VALUE...) [--net]\n"
		 "weights NET.yaml --read T --write T [--set NAME=VALUE]...",
	.details =
		"Simulates a queueing Petri net (docs/qpn.schema.json, or a .qpe of QPME) until "
		"each place's\n"
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
		"variable, of several sizes. It shows every term with its p-value, and how well "
		"it\n"
		"fits. predict asks such a model for loads that were not measured; --net prints\n"
		"the net that answers. weights finds how much a storage\n"
		"system prefers reads: the net's parameters alpha and beta, the firing weights of\n"
		"waiting reads and writes, that give the measured mean response times.",
	.example = "blkcast qpn solve docs/examples/mm1.yaml\n"
		   "blkcast qpn solve docs/examples/closed-storage.yaml --set clients=50 --json\n"
		   "blkcast qpn solve docs/examples/closed-storage.yaml --sweep clients=10:50:10\n"
		   "blkcast qpn check docs/examples/closed-storage.yaml\n"
		   "blkcast qpn calibrate --model hardware docs/examples/storage-runs.csv -o "
		   "array.json\n"
		   "blkcast qpn predict array.json --set "
		   "type=write,clients=45,size_bytes=24k,file_set_bytes=100g",
	.run = cmd_qpn_run,
	.rank_verbs = " solve predict calibrate ",
};
