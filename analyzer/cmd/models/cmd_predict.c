// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/learn/predict_ask.h"
#include "analyzer/models/num/lsq.h"

static int cmd_predict_ask(struct cli *cli, struct predict_ask *p)
{
	int ret = predict_ask(p, cli->argv[0], cli->argc == 2 ? cli->argv[1] : NULL);

	if (!ret && p->answer)
		ret = cli_show(cli, p->answer, NULL, &p->err);
	else if (!ret)
		ret = cli_show_text(&p->text);
	predict_ask_release(p);
	return cli_finish(cli, ret, &p->err, p->cannot_tell ? CLI_CANNOT_TELL : CLI_DONE);
}

static int cmd_predict_run(struct cli *cli)
{
	struct predict_ask p = { .teller = &cli->teller, .level = NAN, .out = stdout };
	const struct cli_option options[] = {
		CLI_LIST("set", 0, "K=V", &p.set, "a value of each variable, instead of a table"),
		CLI_STRING("db", 0, "FILE", &p.db, "the runs of a measurement store"),
		CLI_STRING("campaign", 0, "NAME", &p.campaign, "of --db, where there are several"),
		CLI_FLAG("strict", 0, &p.strict, "refuse rows outside the training range"),
		CLI_DOUBLE("interval", 0, "LEVEL", &p.level,
			   "probability of the interval, default 0.9", .above = "0", .below = "1"),
		CLI_FLAG("check", 0, &p.check,
			 "only the errors, against the rows' own column of the response"),
		CLI_STRING("against", 0, "OTHER.json", &p.against,
			   "--check: beside another model, with a paired t-test", .with = "check"),
		CLI_STRING("by", 0, "COLUMN", &p.by,
			   "--check: how far answers about whole applications are off, which the "
			   "column names",
			   .with = "check"),
		CLI_FLAG("show", 0, &p.show, "the model as formula or tree"),
		CLI_FLAG("c", 0, &p.c, "the model as a C function"),
		CLI_STRING("report", 0, "FILE", &p.report, "the model in pictures, an HTML page"),
		CLI_OPERANDS(1, 2, "a model, and a table, --db or --set K=V"),
		CLI_END,
	};

	if (!cli_parse(cli, options))
		return cli->status;
	if (!(p.show || p.c || p.report) && (cli->argc == 2) + (p.set.nr > 0) + (p.db != NULL) != 1)
		return cli_usage(cli, "expected either a table, --db or --set K=V");
	p.level_asked = !isnan(p.level);
	p.level = p.level_asked ? p.level : 0.9;
	p.json = cli->json;
	p.for_person = isatty(STDOUT_FILENO);
	lsq_single_thread();
	return cmd_predict_ask(cli, &p);
}

const struct command command_predict = {
	.name = "predict",
	.summary = "evaluate a saved model",
	.usage = "MODEL.json (TABLE.csv | --db FILE) [--strict] [--json]\n"
		 "MODEL.json --set K=V,... [--strict] [--json]\n"
		 "MODEL.json (TABLE.csv | --db FILE) --check [--against OTHER.json] [--by COLUMN] "
		 "[--json]\n"
		 "MODEL.json (--show | --c | --report FILE.html)",
	.example = "blkcast predict m.json --set request_kb=8,pattern=random,read=70",
	.details =
		"Prints the table with the columns predicted, lower and upper (the interval that "
		"holds 90 %\nof responses like those of training) and outside: 1 where a value "
		"lies beyond the training\nrange, or far from every training row. A model of "
		"blkcast qpn calibrate is asked with the columns of "
		"docs/qpn-tables.md; its\ninterval is that of the simulated mean, at 95 %. "
		"--check takes rows with equal variables for\n"
		"repetitions of a configuration, and tells how far these are from each other.",
	.run = cmd_predict_run,
};
