// SPDX-License-Identifier: Apache-2.0
/* fit learns regression models from a table, and predict asks a saved model. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/shared_options.h"
#include "analyzer/learn/fit_run.h"
#include "analyzer/learn/fit_update.h"
#include "analyzer/learn/predict_ask.h"
#include "analyzer/models/num/lsq.h"

/* Prints one text after the other, or, as JSON, one list of all answers. */
static int cmd_fit_show(const struct cli *cli, struct answer **answers, size_t nr, struct err *err)
{
	json_t *list = nr > 1 && cli->json ? json_array() : NULL;
	int ret;

	for (size_t i = 0; i < nr; i++) {
		struct answer *a = answers[i];

		if (list) {
			cli_show_provenance(cli, a);
			json_array_append_new(list, answer_json(a));
			continue;
		}
		if (i)
			putchar('\n');
		answers[i] = NULL;
		ret = cli_show(cli, a, NULL, err);
		if (ret)
			return ret;
	}
	if (!list)
		return 0;
	if (json_array_size(list) == nr)
		return cli_show_json(list);
	json_decref(list);
	return -ENOMEM;
}

/* path is the path of the table, or NULL. */
static int cmd_fit_update(const struct cli *cli, const struct fit *f, const char *model,
			  const char *path, struct err *err)
{
	struct fit_update u = { .teller = &cli->teller,
				.model = model,
				.table = path,
				.db = f->o.db,
				.campaign = f->o.campaign,
				.weight = f->o.weight,
				.where = f->o.where,
				.output = f->o.output,
				.report = f->o.report };
	int ret = fit_update(&u, err);

	if (ret)
		return ret;
	if (cli->json)
		return cli_show_json(fit_update_json(&u));
	fit_update_print(&u, stdout);
	return 0;
}

static int cmd_fit_learn(const struct cli *cli, struct fit *f, const char *path)
{
	struct answer *answers[WORD_LIST_MAX] = { NULL };
	int ret = f->o.checkpoint
			  ? checkpoint_open(&f->config.checkpoint, f->o.checkpoint, "fit", &f->err)
			  : 0;

	if (ret)
		return ret;
	ret = fit_responses(f, path, answers);
	if (!ret)
		ret = cmd_fit_show(cli, answers, f->o.responses.nr, &f->err);
	for (size_t i = 0; i < f->o.responses.nr; i++)
		answer_free(answers[i]);
	checkpoint_close(f->config.checkpoint);
	return ret;
}

/* These options say what is learned from which data. */
#define FIT_DATA_OPTIONS(o)                                                                         \
	CLI_STRING("db", 0, "FILE", &(o)->db, "learn from a measurement store, not a table",        \
		   .is_input = true),                                                               \
		CLI_STRING("campaign", 0, "NAME", &(o)->campaign,                                   \
			   "of --db, where there are several", .with = "db"),                       \
		CLI_LIST(                                                                           \
			"response", 'r', "Y,...", &(o)->responses,                                  \
			"the column to learn; of several each has a model, and files of its own"),  \
		CLI_STRING("where", 0, "EXPR", &(o)->where,                                         \
			   "rows for which it holds: 'threads <= 8 && pattern == random'"),         \
		CLI_STRING("response-quantile", 0, "Q", &(o)->quantile,                             \
			   "learn that percentile's column: with read_s, 95 is read_p95_s",         \
			   .with = "response"),                                                     \
		CLI_FLAG(                                                                           \
			"log", 0, &(o)->log,                                                        \
			"learn its logarithm: errors count by their ratio; needs numbers above 0"), \
		CLI_STRING("offset", 0, "A*B", &(o)->offset, "--log: what it is proportional to"),  \
		CLI_LIST("predictors", 'p', "A,B,...", &(o)->predictors,                            \
			 "columns to learn from; default all others"),                              \
		CLI_LIST("factors", 0, "B,...", &(o)->factors,                                      \
			 "numeric columns to take as factors; columns of text are")

static int cmd_fit_ask(struct cli *cli, struct fit *f)
{
	static const struct cli_hint hints[] = { { EDOM, " (--predictors, --factors)" }, { 0 } };
	struct fit_options *o = &f->o;
	const char *update = NULL, *path;
	const struct cli_option options[] = {
		FIT_DATA_OPTIONS(o),
		CLI_LIST("techniques", 't', "T,...", &o->techniques,
			 "lrm lrm-ia mars mars-ia cart m5 cubist ensemble gp stack, or auto, the "
			 "default: all of these; mars-bag by name only"),
		CLI_FLAG("standard", 0, &o->standard, "standard parameters, no search",
			 .without = "s3"),
		CLI_STRING("s3", 0, "K=V,...", &o->s3,
			   "splits=4,explorations=5,iterations=10[,improvement=0.001]"),
		CLI_LIST("set", 0, "T.P=V", &o->set, "fix a parameter: mars-ia.nnodes=101"),
		CLI_U64("folds", 0, "K", &o->folds, "of the cross-validation", .standard = "10",
			.from = "2", .to = "1000000"),
		CLI_U64("seed", 0, "N", &o->seed, "of the folds", .standard = "1"),
		CLI_STRING("fold-column", 0, "NAME", &o->fold_column, "folds 1..k from the table"),
		CLI_STRING("weight-column", 0, "NAME", &o->weight, "weights of the rows, above 0"),
		CLI_STRING("objective", 0, "O", &o->objective, "folds, or bootstrap=N samples"),
		CLI_DOUBLE("select-within", 0, "SHARE", &o->within,
			   "take the simplest technique this near to the best", .standard = "0.02",
			   .from = "0"),
		CLI_UINT("simplicity", 0, "1..5", &o->simplicity,
			 "with auto: at least this simple"),
		CLI_DURATION("budget", 0, "T", &o->budget_s,
			     "with auto: leave out techniques that may take longer"),
		CLI_STRING("s3-log", 0, "FILE", &o->s3_log, "every set evaluated, as CSV",
			   .is_output = true),
		CLI_STRING("checkpoint", 0, "FILE", &o->checkpoint,
			   "keep what was evaluated there, and go on from it after a kill",
			   .without = "update"),
		THREADS_OPTION(&o->threads),
		CLI_STRING("update", 0, "MODEL", &update, "add the rows to a saved model",
			   .without = "response"),
		CLI_STRING("output", 'o', "FILE", &o->output, "the model to write",
			   .is_output = true),
		REPORT_OPTION(&o->report, "the model in pictures, an HTML page"),
		CLI_CHOICE(1, 1, "response update"),
		CLI_END,
	};
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (cli->argc != (o->db ? 0 : 1))
		return cli_usage(cli, "expected one table, CSV, or --db");
	if (o->quantile && o->responses.nr > 1)
		return cli_usage(cli, "--response-quantile: name one --response");
	if (o->checkpoint && o->budget_s > 0)
		return cli_usage(cli, "--checkpoint: has no meaning with --budget, whose answer "
				      "depends on the time it took");
	if (o->offset && !o->log && !update)
		return cli_usage(cli, "--offset: expected --log beside it");
	o->response = o->responses.nr ? o->responses.items[0] : NULL;
	path = o->db ? NULL : cli->argv[0];
	lsq_single_thread();
	ret = update ? cmd_fit_update(cli, f, update, path, &f->err) : cmd_fit_learn(cli, f, path);
	return cli_finish(cli, cli_hint(ret, hints, &f->err), &f->err, CLI_DONE);
}

static int cmd_fit_run(struct cli *cli)
{
	struct fit *f = fit_new(&cli->teller);
	int ret;

	if (!f)
		return cli_no_memory(cli);
	ret = cmd_fit_ask(cli, f);
	fit_free(f);
	return ret;
}

const struct command command_fit = {
	.name = "fit",
	.summary = "regression models of a measurement table: optimize, select, save",
	.usage = "(TABLE.csv | --db FILE) --response Y [-o model.json]\n"
		 "(TABLE.csv | --db FILE) --update MODEL.json [-o new.json]",
	.example = "blkcast fit measurements.csv --response read_s --techniques mars-ia,cart -o "
		   "m.json",
	.details =
		"Each technique's parameters are searched with S3 on the same folds; the simplest "
		"technique\nwithin --select-within of the best is fitted to all rows and written. "
		"--response takes any\ncolumn: one of means, or of a percentile. Of several, none "
		"is a predictor of another,\nand -o m.json writes m-RESPONSE.json for each.",
	.run = cmd_fit_run,
	.rank_verbs = "",
};

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
		CLI_STRING("db", 0, "FILE", &p.db, "the runs of a measurement store",
			   .is_input = true),
		CLI_STRING("campaign", 0, "NAME", &p.campaign, "of --db, where there are several"),
		STRICT_OPTION(&p.strict),
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
		REPORT_OPTION(&p.report, "the model in pictures, an HTML page"),
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
