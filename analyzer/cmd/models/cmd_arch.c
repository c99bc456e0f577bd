// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/cmd/models/arch_run.h"
#include "analyzer/cmd/models/sweep_record.h"
#include "analyzer/models/arch/arch_answer.h"
#include "analyzer/models/arch/arch_draw.h"
#include "analyzer/models/num/lsq.h"
#include "base/data/json.h"

struct job {
	struct cli *cli;
	struct arch_run_options run;
	struct word_list set, sweep;
	bool csv, no_failures;
	const char *storages; /* a side file of a Palladio model */
	bool overloaded;      /* some solution had no steady state */
	struct arch_sweeps sweeps;
	const char *checkpoint;	    /* NULL: nothing is recorded */
	struct sweep_record record; /* of the points of a sweep */
	struct err err;
};

/* Opens a model with the settings of the job and of a point. The caller releases m. */
static int open_point(struct job *j, const char *path, size_t point, struct arch_model *m)
{
	struct arch_settings settings = { .nr = 0 };
	int ret = arch_settings_read(&settings, &j->set, &j->err);

	settings.without_failures = j->no_failures;
	settings.storages = j->storages;
	if (ret)
		goto out;
	ret = arch_sweep_set(&j->sweeps, point, &settings);
	if (ret)
		goto out;
	ret = arch_open(m, path, &settings, &j->err);
out:
	arch_settings_release(&settings);
	return ret;
}

/* Opens a model and solves it. The caller releases m and s. */
static int solve_one(struct job *j, const char *path, size_t point, struct arch_model *m,
		     struct arch_solution *s, double *seconds)
{
	int ret = open_point(j, path, point, m);

	if (ret)
		return ret;
	ret = arch_run(s, seconds, m, &j->run, &j->record, point, j->cli, &j->err);
	j->overloaded |= !ret && s->overloaded;
	return ret;
}

/* Opens the checkpoint of a sweep. Its question is the model with its files, and the options. */
static int record_sweep(struct job *j, const char *path)
{
	struct arch_model m = { 0 };
	int ret = sweep_record_open(&j->record, j->checkpoint, "arch solve", &j->err);

	if (ret || !j->checkpoint)
		return ret;
	ret = open_point(j, path, 0, &m);
	for (uint32_t i = 0; i < m.nr_files && !ret; i++)
		ret = sweep_record_file(&j->record, m.files[i], &j->err);
	for (uint32_t i = 0; i < m.nr_sources && !ret; i++)
		ret = sweep_record_file(&j->record, m.sources[i], &j->err);
	arch_release(&m);
	if (ret)
		return ret;
	sweep_record_words(&j->record, &j->set);
	sweep_record_words(&j->record, &j->sweep);
	sweep_record_run(&j->record, &j->run);
	sweep_record_bytes(&j->record, &j->no_failures, sizeof(j->no_failures));
	return sweep_record_ask(&j->record, &j->err);
}

static void cmd_arch_busiest(struct answer_table *t, const struct arch_model *m,
			     const struct arch_solution *s)
{
	uint32_t best = ARCH_NONE, container;

	for (uint32_t i = 0; i < m->nr_resources; i++)
		if (m->resources[i].policy != ARCH_DELAY && isfinite(s->resources[i].utilization) &&
		    (best == ARCH_NONE ||
		     s->resources[i].utilization > s->resources[best].utilization))
			best = i;
	if (best == ARCH_NONE) {
		answer_words(t, "-");
		return;
	}
	container = m->resources[best].container;
	answer_words(t, "%s%s%s %.1f%%",
		     container == ARCH_NONE ? "" : m->containers[container].name,
		     container == ARCH_NONE ? "" : ".", m->resources[best].name,
		     100 * s->resources[best].utilization);
}

/* Adds one line for each scenario of a point. */
static void cmd_arch_lines(struct answer_table *t, const struct arch_sweeps *w, size_t point,
			   const struct arch_model *m, const struct arch_solution *s)
{
	for (uint32_t i = 0; i < m->nr_scenarios; i++) {
		arch_sweep_cells(w, point, t);
		answer_words(t, "%s", m->scenarios[i].name);
		if (s->overloaded)
			answer_words(t, "no steady state");
		else
			answer_number(t, s->times[i].mean.mean);
		answer_number(t, s->times[i].p95.mean);
		arch_answer_ratio(t, s->throughput[i].mean);
		cmd_arch_busiest(t, m, s);
		answer_words(t, "%s", s->outside ? "outside" : "");
	}
}

/*
 * Makes the answer of one point, including the values of the parameters that vary. Returns NULL
 * where memory ran out.
 */
static struct answer *cmd_arch_answer(const struct job *j, size_t point, const struct arch_model *m,
				      const struct arch_solution *s, double seconds)
{
	struct answer *a = arch_answer(m, s, j->run.seed, seconds);

	if (j->sweeps.nr)
		arch_sweep_member(&j->sweeps, point, a);
	return a;
}

/* Prints the names of the parameters that vary, and then the columns of the result. */
static int csv_point(const struct job *j, size_t point, const struct arch_model *m,
		     const struct arch_solution *s)
{
	char prefix[ARCH_SWEEP_MAX * 32];
	size_t len = 0;
	struct buf out;
	int ret;

	buf_init(&out);
	prefix[0] = 0;
	for (size_t k = 0; k < j->sweeps.nr; k++) {
		if (!point) /* only now, so that a refused model prints nothing */
			buf_printf(&out, "%s,", j->sweeps.items[k].name);
		len += (size_t)snprintf(prefix + len, sizeof(prefix) - len, "%.15g,",
					arch_sweep_value(&j->sweeps, k, point));
	}
	if (!point)
		buf_printf(&out, "%s\n", ARCH_RESULT_COLUMNS);
	ret = arch_result_csv(m, s, prefix, &out);
	if (!ret)
		return cli_show_text(&out);
	buf_release(&out);
	return ret;
}

/* Where the solutions of a sweep go: JSON, a table, or, where both are NULL, standard output. */
struct sweep_output {
	json_t *points;
	struct answer_table *table;
};

static int solve_point(struct job *j, const char *path, size_t point,
		       const struct sweep_output *out)
{
	struct arch_model m = { 0 };
	struct arch_solution s = { 0 };
	struct answer *a;
	double seconds;
	int ret = solve_one(j, path, point, &m, &s, &seconds);

	if (ret)
		goto out;
	if (j->csv) {
		ret = csv_point(j, point, &m, &s);
	} else if (out->points) {
		a = cmd_arch_answer(j, point, &m, &s, seconds);
		ret = json_array_append_new(out->points, answer_json(a)) ? -ENOMEM : 0;
		answer_free(a);
	} else if (out->table) {
		cmd_arch_lines(out->table, &j->sweeps, point, &m, &s);
	} else {
		ret = cli_show(j->cli, cmd_arch_answer(j, point, &m, &s, seconds), NULL, &j->err);
	}
out:
	arch_solution_release(&s);
	arch_release(&m);
	return ret;
}

/* The columns of the parameters that vary, and then those of the result. */
static struct answer_table *cmd_arch_table(struct answer *a, const struct arch_sweeps *w)
{
	static const struct answer_column results[] = {
		{ .title = "scenario" },
		{ .title = "response time", .unit = ANSWER_SECONDS, .right = true },
		{ .title = "p95", .unit = ANSWER_SECONDS },
		{ .title = "per second", .right = true },
		{ .title = "busiest" },
		{ .title = "training" },
	};

	return arch_sweep_table(w, a, NULL, results, sizeof(results) / sizeof(*results));
}

static int solve_sweep(struct job *j, const char *path)
{
	struct answer *a = answer_new("blkcast.arch-sweep/1", path);
	struct sweep_output out = { .table = cmd_arch_table(a, &j->sweeps) };
	int ret = 0;

	if (j->cli->json)
		out.points = json_array();
	for (size_t i = 0; i < j->sweeps.nr_points; i++) {
		ret = solve_point(j, path, i, &out);
		if (ret)
			goto out;
	}
	if (out.points) {
		ret = cli_show_json(json_incref(out.points));
	} else if (!j->csv) {
		ret = cli_show(j->cli, a, NULL, &j->err);
		a = NULL;
	}
out:
	json_decref(out.points);
	answer_free(a);
	return ret;
}

static int solve_all(struct job *j, const char *path)
{
	int ret = arch_sweeps_read(&j->sweeps, &j->sweep, &j->err);

	if (ret)
		return ret;
	ret = record_sweep(j, path);
	if (ret)
		return ret;
	return j->sweeps.nr ? solve_sweep(j, path)
			    : solve_point(j, path, 0, &(struct sweep_output){ NULL, NULL });
}

#define NO_FAILURES(out)                                                           \
	CLI_FLAG("no-failures", 0, out,                                            \
		 "of a Palladio model: leave out failure probabilities, MTTF and " \
		 "retries instead of refusing them")

#define STORAGES(out)                                                               \
	CLI_STRING("storages", 0, "FILE.yaml", out,                                 \
		   "of a Palladio model: the storages of its containers, and what " \
		   "becomes requests to them")

#define RUN_OPTIONS(j)                                                                          \
	NO_FAILURES(&(j)->no_failures), STORAGES(&(j)->storages),                               \
		CLI_LIST("set", 0, "NAME=VALUE", &(j)->set, "change a parameter of the model"), \
		CLI_DOUBLE("precision", 'p', "P", &(j)->run.precision,                          \
			   "run until every mean response time is known to P, relative, at "    \
			   "95 % (default 0.01)"),                                              \
		CLI_FLAG("quantiles", 0, &(j)->run.quantiles,                                   \
			 "medians, 95 and 99 % quantiles must reach the precision too"),        \
		CLI_DURATION("model-time", 't', "T", &(j)->run.model_time,                      \
			     "run each replication for T of the system's time instead"),        \
		CLI_U64("replications", 0, "N", &(j)->run.replications,                         \
			"at least N (default 16)"),                                             \
		CLI_U64("max-events", 0, "N", &(j)->run.max_events,                             \
			"stop after N events whatever the precision (default 1e9)"),            \
		CLI_U64("seed", 's', "N", &(j)->run.seed, "of the random numbers (default 1)"), \
		CLI_U64("threads", 0, "N", &(j)->run.threads,                                   \
			"the result is the same for any number (default: all)")

static int cmd_arch_solve(struct cli *cli)
{
	struct job j = { .cli = cli, .run = ARCH_RUN_DEFAULTS };
	const struct cli_option options[] = {
		RUN_OPTIONS(&j),
		CLI_LIST("sweep", 0, "NAME=FROM:TO:STEP", &j.sweep,
			 "solve for each value of a parameter; of several, every combination"),
		CLI_FLAG("csv", 0, &j.csv, "every time of every point as a line of CSV"),
		CLI_STRING("checkpoint", 0, "FILE", &j.checkpoint,
			   "of --sweep: keep every solved point there, and go on after a kill"),
		CLI_END,
	};
	const char *bad;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	bad = arch_run_bad(&j.run);
	if (bad)
		return cli_usage(cli, "%s", bad);
	if (cli->argc != 1)
		return cli_usage(cli, "expected one model, got %d files", cli->argc);
	if (j.csv && cli->json)
		return cli_usage(cli, "--csv and --json: expected one of them");
	if (j.checkpoint && !j.sweep.nr)
		return cli_usage(cli, "--checkpoint: expected --sweep with it");
	ret = solve_all(&j, cli->argv[0]);
	sweep_record_release(&j.record);
	arch_sweeps_release(&j.sweeps);
	return cli_finish(cli, ret, &j.err, j.overloaded ? CLI_FAILED : CLI_DONE);
}

static int cmd_arch_compare(struct cli *cli)
{
	struct job j = { .cli = cli, .run = ARCH_RUN_DEFAULTS };
	const struct cli_option options[] = { RUN_OPTIONS(&j), CLI_END };
	struct arch_model m[2] = { 0 };
	struct arch_solution s[2] = { 0 };
	const char *bad;
	double seconds;
	int ret = 0;

	if (!cli_parse(cli, options))
		return cli->status;
	bad = arch_run_bad(&j.run);
	if (bad)
		return cli_usage(cli, "%s", bad);
	if (cli->argc != 2)
		return cli_usage(cli, "expected two models, got %d files", cli->argc);
	for (int i = 0; i < 2; i++) {
		ret = solve_one(&j, cli->argv[i], 0, &m[i], &s[i], &seconds);
		if (ret)
			goto out;
	}
	ret = cli_show(cli, arch_compare_answer(m, s, j.run.seed), NULL, &j.err);
out:
	for (int i = 0; i < 2; i++) {
		arch_solution_release(&s[i]);
		arch_release(&m[i]);
	}
	return cli_finish(cli, ret, &j.err, j.overloaded ? CLI_FAILED : CLI_DONE);
}

/* Reads the operand and --set for the verbs that do not solve the model. */
static bool open_model(struct cli *cli, struct arch_model *m)
{
	struct word_list set = { .nr = 0 };
	bool no_failures = false;
	const char *storages = NULL;
	const struct cli_option options[] = {
		CLI_LIST("set", 0, "NAME=VALUE", &set, "change a parameter of the model"),
		NO_FAILURES(&no_failures),
		STORAGES(&storages),
		CLI_END,
	};
	struct arch_settings settings = { .nr = 0 };
	struct err err = { 0 };
	bool open = false;

	if (!cli_parse(cli, options))
		return false;
	settings.without_failures = no_failures;
	settings.storages = storages;
	if (cli->argc != 1)
		cli->status = cli_usage(cli, "expected one model, got %d files", cli->argc);
	else if (arch_settings_read(&settings, &set, &err) ||
		 arch_open(m, cli->argv[0], &settings, &err))
		cli->status = cli_fail(cli, &err);
	else
		open = true;
	if (!open)
		arch_release(m);
	arch_settings_release(&settings);
	return open;
}

static void check_print(const struct cli *cli, const struct arch_model *m,
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

	if (!open_model(cli, &m))
		return cli->status;
	arch_say_left_out(cli, &m);
	ret = arch_load(&l, &m, 1, &err);
	if (!ret && cli->json)
		ret = cli_show_json(arch_check_json(&m, &l));
	else if (!ret)
		check_print(cli, &m, &l);
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

	if (!open_model(cli, &m))
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
		{ "calibrate", arch_calibrate },
		{ "validate", arch_validate },
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
