// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/models/qpn_verbs.h"

#include <stdio.h>

#include "analyzer/cmd/cli/show.h"
#include "analyzer/cmd/models/run_options.h"
#include "analyzer/learn/net_calibrate.h"
#include "analyzer/learn/net_predict.h"
#include "analyzer/models/num/lsq.h"

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

/* Tells how to ask the model. */
static void qpn_calibrate_tell(const struct cli *cli, const char *output)
{
	if (net_calibration_is_net(output))
		cli_note(cli, "the model is the net %s: ask it with blkcast qpn solve", output);
	else
		cli_note(cli, "ask the model: blkcast qpn predict %s", output);
}

int qpn_calibrate(struct cli *cli)
{
	struct net_calibration task = { .teller = &cli->teller, .rule = STORAGE_NR_RULES };
	const struct cli_option options[] = {
		CLI_STRING("db", 0, "FILE", &task.db,
			   "calibrate from the runs of a measurement store (blkcast measure)"),
		CLI_STRING("campaign", 0, "NAME", &task.campaign, "where the store has several"),
		CLI_LIST("set", 0, "NAME=VALUE", &task.settings,
			 "of --db: what the plan sets and is no factor, such as file_set=1g"),
		CLI_WORD("model", 0, "MODEL", &task.kind,
			 "cache, hardware, mixed, multi-vm or variable", .standard = "cache",
			 .words = storage_kind_names),
		CLI_STRING("output", 'o', "FILE", &task.output,
			   "the calibrated model; of cache a net where it ends in .yaml",
			   .required = true),
		CLI_LIST("where", 0, "COLUMN=VALUE", &task.where, "take only these rows"),
		CLI_DOUBLE("saturated", 0, "CLIENTS", &task.saturated,
			   "service times from runs of as many clients or more (default: the most "
			   "there are)",
			   .from = "0"),
		CLI_WORD("weights", 0, "RULE", &task.rule,
			 "of VMs: algorithm-4, algorithm-5, clients, local or parts (default: "
			 "the best)",
			 .words = storage_rule_names),
		CLI_DOUBLE("precision", 'p', "P", &task.precision, "of every net solved",
			   RUN_PRECISION),
		CLI_U64("seed", 's', "N", &task.seed, "of the random numbers", .standard = "1"),
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
		qpn_calibrate_tell(cli, task.output);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

int qpn_predict(struct cli *cli)
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
		CLI_DOUBLE("precision", 'p', "P", &p.ask.precision,
			   "of every mean response time, relative", RUN_PRECISION),
		CLI_U64("seed", 's', "N", &p.ask.seed, "of the random numbers", .standard = "1"),
		THREADS_OPTION(&p.ask.nr_threads),
		CLI_FLAG("net", 0, &p.net, "print the net of the one configuration instead"),
		CLI_FLAG("strict", 0, &p.strict, "refuse rows outside the training range"),
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
