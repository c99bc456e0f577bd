// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/cmd/models/qpn_verbs.h"
#include "analyzer/models/net/check.h"
#include "analyzer/models/net/draw.h"
#include "analyzer/models/net/expr.h"
#include "analyzer/models/net/qpe_import.h"
#include "analyzer/models/storage/calibration/calibration_answer.h"

int qpn_settings_add(struct qpn_settings *s, const char *name, double value)
{
	for (size_t i = 0; i < s->nr; i++) {
		if (strcmp(s->names[i], name) != 0)
			continue;
		s->items[i].value = value;
		return 0;
	}
	s->names[s->nr] = strdup(name);
	if (!s->names[s->nr])
		return -ENOMEM;
	s->items[s->nr] = (struct net_setting){ s->names[s->nr], value };
	s->nr++;
	return 0;
}

/* A value is an expression without parameters. */
int qpn_settings_read(struct qpn_settings *s, const struct word_list *set, struct err *err)
{
	struct expr_scope none = { .nr = 0 };
	int ret = 0;

	*s = (struct qpn_settings){ .nr = 0 };
	for (size_t i = 0; i < set->nr && !ret; i++) {
		const char *equals = strchr(set->items[i], '=');
		struct err why = { 0 };
		double value;
		char *name;

		if (!equals || equals == set->items[i])
			return err_set(err, EINVAL, "--set: expected NAME=VALUE, got '%s'",
				       set->items[i]);
		name = strndup(set->items[i], (size_t)(equals - set->items[i]));
		if (!name)
			return -ENOMEM;
		if (expr_value(&none, equals + 1, &value, &why))
			ret = err_set(err, EINVAL, "--set: %s: %s", name, why.line);
		else
			ret = qpn_settings_add(s, name, value);
		free(name);
	}
	return ret;
}

void qpn_settings_release(struct qpn_settings *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->names[i]);
	s->nr = 0;
}

int qpn_net(struct net **out, const char *path, const struct qpn_settings *settings,
	    struct err *err)
{
	size_t len = strlen(path);

	return len > 4 && !strcmp(path + len - 4, ".qpe")
		       ? qpe_import_set(out, path, settings->items, settings->nr, err)
		       : net_read(out, path, settings->items, settings->nr, err);
}

/* Reads the operand and --set for the verbs that only look at a net. */
static bool qpn_open(struct cli *cli, struct net **n)
{
	struct word_list set = { .nr = 0 };
	const struct cli_option options[] = {
		CLI_LIST("set", 0, "NAME=VALUE", &set, "change a parameter of the net"),
		CLI_END,
	};
	struct qpn_settings settings;
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return false;
	if (cli->argc != 1) {
		cli->status = cli_usage(cli, "expected one net, got %d files", cli->argc);
		return false;
	}
	ret = qpn_settings_read(&settings, &set, &err);
	if (!ret)
		ret = qpn_net(n, cli->argv[0], &settings, &err);
	qpn_settings_release(&settings);
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

static const char *qpn_weights_bad(const struct weights_task *t, uint64_t digits)
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

static int qpn_weights(struct cli *cli)
{
	struct weights_task t = { .read_probe = "read response",
				  .write_probe = "write response",
				  .phi_min = 0.01,
				  .phi_max = 20,
				  .max_error = 0.005,
				  .precision = 0.01,
				  .seed = 1 };
	struct qpn_settings settings;
	struct weights_found found;
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
	bad = qpn_weights_bad(&t, digits);
	if (bad)
		return cli_usage(cli, "%s", bad);
	if (cli->argc != 1)
		return cli_usage(cli, "expected one net, got %d files", cli->argc);
	t.path = cli->argv[0];
	t.settings = settings.items;
	t.nr_settings = set.nr;
	t.digits = (unsigned)digits;
	ret = qpn_settings_read(&settings, &set, &err);
	if (!ret)
		ret = calibrate_weights(&found, &t, &err);
	if (!ret)
		ret = cli_show(cli, weights_answer(&found, t.seed), NULL, &err);
	qpn_settings_release(&settings);
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
