// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/cmd/models/qpn_verbs.h"
#include "analyzer/cmd/models/run_options.h"
#include "analyzer/models/net/check.h"
#include "analyzer/models/net/draw.h"
#include "analyzer/models/solve/net_solve.h"
#include "analyzer/models/storage/calibration/calibration_answer.h"

/* Reads the operand and --set for the verbs that only look at a net. */
static bool qpn_open(struct cli *cli, struct net **n)
{
	struct word_list set = { .nr = 0 };
	const struct cli_option options[] = {
		CLI_LIST("set", 0, "NAME=VALUE", &set, "change a parameter of the net"),
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

struct findings {
	const char *file;
	json_t *json; /* NULL: lines for a person */
	size_t nr;
};

static void qpn_on_finding(void *ctx, const struct finding *f)
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

static int qpn_check(struct cli *cli)
{
	struct findings all = { .nr = 0 };
	struct err err = { 0 };
	struct net *n = NULL;
	int ret;

	if (!qpn_open(cli, &n))
		return cli->status;
	all.file = n->file;
	all.json = cli->json ? json_array() : NULL;
	ret = net_check(n, qpn_on_finding, &all);
	if (cli->json && json_array_size(all.json) != all.nr)
		ret = -ENOMEM;
	if (ret)
		goto out;
	if (cli->json)
		ret = cli_show_json(json_pack("{s:s, s:O}", "schema", "blkcast.qpn-check/1",
					      "findings", all.json));
	else if (!all.nr)
		cli_note(cli, "%s: nothing found", n->file);
out:
	json_decref(all.json);
	net_free(n);
	return cli_finish(cli, ret, &err, all.nr ? CLI_FAILED : CLI_DONE);
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
		CLI_LIST("set", 0, "NAME=VALUE", &set, "change a parameter of the net"),
		CLI_DOUBLE("phi-min", 0, "N", &t.phi_min, "least alpha / beta", .standard = "0.01",
			   .above = "0"),
		CLI_DOUBLE("phi-max", 0, "N", &t.phi_max, "largest alpha / beta", .standard = "20"),
		CLI_UINT("digits", 0, "N", &t.digits, "of alpha / beta after the point",
			 .standard = "2", .from = "0", .to = "6"),
		CLI_DOUBLE("max-error", 0, "E", &t.max_error,
			   "mean relative error that is good enough", .standard = "0.005"),
		CLI_DOUBLE("precision", 'p', "P", &t.precision, "of each solution",
			   .standard = "0.01", .above = "0", .below = "1"),
		CLI_U64("seed", 's', "N", &t.seed, "of the random numbers", .standard = "1"),
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
	struct net_solve s = { .teller = &cli->teller };
	const struct cli_option options[] = {
		CLI_LIST("set", 0, "NAME=VALUE", &s.set, "change a parameter of the net"),
		SWEEP_OPTIONS(&s),
		CLI_WORD("method", 'm', "METHOD", &s.method,
			 "batch-means, replications, mva, mva-approximate, bounds or transient",
			 .words = net_methods, .standard = "batch-means"),
		CLI_DOUBLE("precision", 'p', "P", &s.run.precision,
			   "run until every mean is known to P, relative, at 95 %", RUN_PRECISION),
		CLI_LIST("of", 0, "NAME", &s.wanted,
			 "places, PLACE.COLOUR and probes whose precision counts (default: all)"),
		CLI_FLAG("quantiles", 0, &s.run.quantiles,
			 "medians, 95 and 99 % quantiles of times must reach the precision too"),
		CLI_DOUBLE("model-time", 't', "T", &s.run.model_time,
			   "run (each replication) for T of the net's time instead", .from = "0"),
		CLI_UINT("points", 0, "N", &s.nr_points, "transient: intervals of the model time",
			 .standard = "20", .from = "1", .to = "10000"),
		CLI_U64("max-events", 0, "N", &s.run.max_events,
			"stop after N events whatever the precision", .standard = "2000000000",
			.from = "1"),
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
