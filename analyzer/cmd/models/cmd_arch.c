// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/shared_options.h"
#include "analyzer/models/arch/arch_answer.h"
#include "analyzer/models/arch/arch_draw.h"
#include "analyzer/models/arch/ask/arch_ask.h"
#include "analyzer/models/num/lsq.h"

/* Options of all verbs, of those that solve, and of those that hold the model against a table. */
#define ARCH_OPTIONS(q)                                                                     \
	PARAMETER_OPTION(&(q)->set, "model"),                                               \
		CLI_FLAG("no-failures", 0, &(q)->without_failures,                          \
			 "of a Palladio model: leave out failure probabilities, MTTF and "  \
			 "retries instead of refusing them"),                               \
		CLI_STRING("storages", 0, "FILE.yaml", &(q)->storages,                      \
			   "of a Palladio model: the storages of its containers, and what " \
			   "becomes requests to them")
#define ARCH_TIME_OPTION(run)                                    \
	CLI_DURATION("model-time", 't', "T", &(run)->model_time, \
		     "run each replication for T of the system's time instead")
#define ARCH_RUN_OPTIONS(run)                                                                    \
	PRECISION_OPTION(&(run)->precision,                                                      \
			 "run until every mean response time is known to P, relative, at 95 %"), \
		CLI_FLAG("quantiles", 0, &(run)->quantiles,                                      \
			 "medians, 95 and 99 % quantiles must reach the precision too"),         \
		ARCH_TIME_OPTION(run), MAX_EVENTS_OPTION(&(run)->max_events, "1000000000"),      \
		RUN_OPTIONS(run)
#define ARCH_BESIDE_OPTIONS(q)                                                    \
	PARAMETER_OPTION(&(q)->set, "model"),                                     \
		PRECISION_OPTION(&(q)->run.precision, "of every mean, relative"), \
		ARCH_TIME_OPTION(&(q)->run), SEED_OPTION(&(q)->run.seed),         \
		THREADS_OPTION(&(q)->run.nr_threads)

static const struct cli_hint arch_hints[] = { { ENOTSUP, " (--no-failures)" }, { 0 } };

/* Shows what the question found, and releases the question. Returns the exit status. */
static int cmd_arch_end(struct cli *cli, struct arch_ask *q, int ret, struct err *err)
{
	struct answer *a = q->answer;

	if (!ret && q->points) {
		ret = cli_show_json(json_incref(q->points));
	} else if (!ret && q->form == ARCH_FORM_CSV) {
		ret = cli_show_text(&q->csv);
	} else if (!ret) {
		q->answer = NULL;
		ret = cli_show(cli, a, NULL, err);
	}
	arch_ask_release(q);
	ret = cli_hint(ret, arch_hints, err);
	return cli_finish(cli, ret, err, q->overloaded ? CLI_FAILED : CLI_DONE);
}

static int cmd_arch_solve(struct cli *cli)
{
	struct arch_ask q = { .teller = &cli->teller };
	bool csv = false;
	const struct cli_option options[] = {
		ARCH_OPTIONS(&q),
		ARCH_RUN_OPTIONS(&q.run),
		SWEEP_OPTIONS(&q),
		CLI_FLAG("csv", 0, &csv, "every time of every point as a line of CSV",
			 .without = "json"),
		CLI_OPERANDS(1, 1, "one model"),
		CLI_END,
	};
	struct err err = { 0 };

	if (!cli_parse(cli, options))
		return cli->status;
	q.path = cli->argv[0];
	q.form = csv ? ARCH_FORM_CSV : cli->json ? ARCH_FORM_LIST : ARCH_FORM_TEXT;
	return cmd_arch_end(cli, &q, arch_ask_solve(&q, &err), &err);
}

static int cmd_arch_compare(struct cli *cli)
{
	struct arch_ask q = { .teller = &cli->teller };
	const struct cli_option options[] = { ARCH_OPTIONS(&q), ARCH_RUN_OPTIONS(&q.run),
					      CLI_OPERANDS(2, 2, "two models"), CLI_END };
	struct err err = { 0 };

	if (!cli_parse(cli, options))
		return cli->status;
	q.path = cli->argv[0];
	q.sweeps.nr_points = 1;
	return cmd_arch_end(cli, &q, arch_ask_compare(&q, cli->argv[1], &err), &err);
}

static int cmd_arch_show_measure(struct cli *cli, struct arch_beside *q, struct err *err)
{
	struct answer *a = q->of.answer;
	int ret;

	q->of.answer = NULL;
	for (size_t i = 0; !cli->json && i < q->nr_parameters; i++)
		printf("--set %s=%.6g%s", q->parameters[i].name, q->parameters[i].value,
		       i + 1 < q->nr_parameters ? " " : "\n\n");
	ret = cli_show(cli, a, NULL, err);
	if (ret || cli->json)
		return ret;
	printf("\n");
	if (isfinite(q->errors.io))
		printf("mean error of io %.2f%%, ", 100 * q->errors.io);
	printf("error end to end %.2f%%\n", 100 * q->errors.end_to_end);
	return 0;
}

static int cmd_arch_measure(struct cli *cli, const struct cli_option fit, struct arch_beside *q)
{
	const struct cli_option options[] = {
		fit,
		ARCH_BESIDE_OPTIONS(&q->of),
		CLI_OPERANDS(2, 2, "a model and a table of measurements"),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	q->of.path = cli->argv[0];
	q->table = cli->argv[1];
	ret = arch_beside(q, &err);
	if (!ret)
		ret = cmd_arch_show_measure(cli, q, &err);
	arch_beside_release(q);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

static int cmd_arch_calibrate(struct cli *cli)
{
	struct arch_beside q = { .of = { .teller = &cli->teller, .run = ARCH_SOLVE_DEFAULTS } };
	const struct cli_option fit = CLI_LIST("fit", 0, "NAME=LOW:HIGH", &q.fit,
					       "a parameter to find", .required = true);

	return cmd_arch_measure(cli, fit, &q);
}

static int cmd_arch_validate(struct cli *cli)
{
	struct arch_beside q = { .of = { .teller = &cli->teller, .run = ARCH_SOLVE_DEFAULTS } };
	const struct cli_option none = CLI_CHOICE(0, CLI_ANY, "");

	return cmd_arch_measure(cli, none, &q);
}

/* Reads the model for the verbs that do not solve it. */
static bool cmd_arch_open(struct cli *cli, struct arch_model *m)
{
	struct arch_ask q = { .teller = &cli->teller };
	const struct cli_option options[] = { ARCH_OPTIONS(&q), CLI_OPERANDS(1, 1, "one model"),
					      CLI_END };
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return false;
	q.path = cli->argv[0];
	ret = arch_ask_open(&q, 0, m, &err);
	if (!ret)
		return true;
	cli->status = cli_finish(cli, cli_hint(ret, arch_hints, &err), &err, CLI_DONE);
	arch_release(m);
	return false;
}

static void cmd_arch_print_check(const struct cli *cli, const struct arch_model *m,
				 const struct arch_load *l)
{
	char text[256];

	arch_load_describe(l, m, text, sizeof(text));
	if (*text)
		printf("%s: no steady state: open scenarios bring more work than can be done "
		       "(%s)\n",
		       m->files[0], text);
	else
		cli_note(cli,
			 "%s: %u components, %u instances, %u containers, %u storages, %u "
			 "scenarios: nothing found",
			 m->files[0], m->nr_components, m->nr_instances, m->nr_containers,
			 m->nr_storages, m->nr_scenarios);
}

/*
 * Reading a model checks it. Afterwards the load of its open scenarios is compared with the
 * capacities.
 */
static int cmd_arch_check(struct cli *cli)
{
	struct arch_model m = { 0 };
	struct arch_load l = { 0 };
	struct err err = { 0 };
	bool overloaded;
	int ret;

	if (!cmd_arch_open(cli, &m))
		return cli->status;
	arch_say_left_out(&cli->teller, &m);
	ret = arch_load(&l, &m, 1, &err);
	if (!ret && cli->json)
		ret = cli_show_json(arch_check_json(&m, &l));
	else if (!ret)
		cmd_arch_print_check(cli, &m, &l);
	overloaded = l.overloaded;
	arch_load_release(&l);
	arch_release(&m);
	return cli_finish(cli, ret, &err, overloaded ? CLI_FAILED : CLI_DONE);
}

static void cmd_arch_dot(const void *model, FILE *dot)
{
	arch_draw(model, dot);
}

static int cmd_arch_draw(struct cli *cli)
{
	struct arch_model m = { 0 };

	if (!cmd_arch_open(cli, &m))
		return cli->status;
	cli->status = cli->json ? cli_usage(cli, "a picture has no --json")
				: cli_show_drawing(cli, cmd_arch_dot, &m);
	arch_release(&m);
	return cli->status;
}

static int cmd_arch_run(struct cli *cli)
{
	static const struct cli_verb verbs[] = {
		{ "solve", cmd_arch_solve },
		{ "compare", cmd_arch_compare },
		{ "check", cmd_arch_check },
		{ "draw", cmd_arch_draw },
		{ "calibrate", cmd_arch_calibrate },
		{ "validate", cmd_arch_validate },
		{ NULL, NULL },
	};

	lsq_single_thread();
	return cli_run_verb(cli, verbs);
}

const struct command command_arch = {
	.name = "arch",
	.summary = "predict a software system from its architecture",
	.usage = "solve MODEL [--set NAME=VALUE]... [--sweep NAME=FROM:TO:STEP]... [--csv] "
		 "[--precision P]\ncompare MODEL_A MODEL_B [--set NAME=VALUE]...\n"
		 "calibrate MODEL MEASURED.csv --fit NAME=LOW:HIGH... [--set NAME=VALUE]...\n"
		 "validate MODEL MEASURED.csv [--set NAME=VALUE]...\n"
		 "check MODEL [--set NAME=VALUE]...\n"
		 "draw MODEL [--set NAME=VALUE]... >MODEL.svg",
	.details =
		"A model is a YAML file (docs/arch.schema.json), or a directory with Palladio's "
		"files\n(.repository, .system, .allocation, .usagemodel...): components and what "
		"their operations\ndo, how they are assembled, the containers they run in, "
		"storages with an I/O\nanalysis model inside, and who uses it all. It is "
		"simulated until the mean\nresponse time of every scenario and operation is "
		"known well enough; intervals are\nat 95 %. The model may also be a directory "
		"with the files of a Palladio model, or, where\nthere are several of a kind, "
		"DIR/A.allocation, DIR/U.usagemodel, or both as\nDIR/A.allocation,U.usagemodel.\n"
		"\n"
		"Where requests ask the I/O model for what it was not trained on, a line says so\n"
		"and the result counts them. compare says of each time that both models know\n"
		"whether B is slower or faster. calibrate finds values of parameters that make "
		"the\nmodel's times those measured, a table with the columns time (of an "
		"operation, an io\nor a scenario, as solve names them), mean_s and per_round "
		"(how often in a round,\ndefault 1); validate says how far predictions are from "
		"such a table: mean error of\nio, and of the sum over a round. check reads a "
		"model and says what is wrong with it,\nwith file and line; a resource that open "
		"scenarios ask for more than it can do is\nnamed with load and capacity (exit "
		"status 1). Such a model has no steady state: solve\nsays so in place of times "
		"(null in JSON, empty in CSV) and ends with 1; of a sweep,\nin the rows "
		"concerned alone. draw gives a picture of components, deployment and usage, "
		"as\nSVG by graphviz.",
	.example = "blkcast arch solve docs/examples/shop.yaml\n"
		   "blkcast arch solve docs/examples/shop.yaml --sweep clients=100:500:100\n"
		   "blkcast arch solve docs/examples/shop.yaml --sweep clients=100:200:100 --sweep "
		   "buyers=0.1:0.3:0.2 --csv\nblkcast arch draw docs/examples/shop.yaml >shop.svg",
	.run = cmd_arch_run,
	.rank_verbs = " solve compare validate ",
};
