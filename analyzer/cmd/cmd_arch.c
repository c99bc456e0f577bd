// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_answer.h"
#include "analyzer/models/arch/arch_draw.h"
#include "analyzer/cmd/cli.h"
#include "analyzer/cmd/arch_calibrate.h"
#include "analyzer/cmd/show.h"
#include "analyzer/cmd/arch_run.h"
#include "analyzer/cmd/arch_sweep.h"
#include "analyzer/cmd/commands.h"
#include "analyzer/answer/grid.h"
#include "analyzer/models/num/lsq.h"
#include "base/json.h"
#include "base/units.h"

struct job {
	struct cli *cli;
	struct arch_run_options run;
	struct word_list set, sweep;
	bool csv, no_failures;
	const char *storages; /* a side file of a Palladio model */
	bool overloaded;      /* some solution had no steady state */
	struct arch_sweeps sweeps;
	struct err err;
};

static int print_json(json_t *json, struct err *err)
{
	if (!json || json_print(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)))
		err_set(err, ENOMEM, "out of memory");
	else
		putchar('\n');
	json_decref(json);
	return -err->code;
}

/*
 * Opens a model with the settings of the job and of a point, and solves it. The caller releases m
 * and s.
 */
static int solve_one(struct job *j, const char *path, size_t point, struct arch_model *m,
		     struct arch_solution *s, double *seconds)
{
	struct arch_settings settings = { .nr = 0 };
	int ret = arch_settings_read(&settings, &j->set, &j->err);

	settings.without_failures = j->no_failures;
	settings.storages = j->storages;
	if (!ret && arch_sweep_set(&j->sweeps, point, &settings))
		ret = err_set(&j->err, ENOMEM, "out of memory");
	if (!ret)
		ret = arch_open(m, path, &settings, &j->err);
	if (!ret)
		ret = arch_run(s, seconds, m, &j->run, j->cli, &j->err);
	j->overloaded |= !ret && s->overloaded;
	arch_settings_release(&settings);
	return ret;
}

static void cell_time(struct grid *g, double v)
{
	char text[UNITS_BYTES];

	grid_cell(g, "%s", isfinite(v) ? units_measured_time(v, text) : "-");
}

static void cmd_arch_busiest(struct grid *g, const struct arch_model *m,
			     const struct arch_solution *s)
{
	uint32_t best = ARCH_NONE;

	for (uint32_t i = 0; i < m->nr_resources; i++)
		if (m->resources[i].policy != ARCH_DELAY && isfinite(s->resources[i].utilization) &&
		    (best == ARCH_NONE ||
		     s->resources[i].utilization > s->resources[best].utilization))
			best = i;
	if (best == ARCH_NONE)
		grid_cell(g, "-");
	else
		grid_cell(g, "%s%s%s %.1f%%",
			  m->resources[best].container == ARCH_NONE
				  ? ""
				  : m->containers[m->resources[best].container].name,
			  m->resources[best].container == ARCH_NONE ? "" : ".",
			  m->resources[best].name, 100 * s->resources[best].utilization);
}

/* Adds one line for each scenario of a point. */
static void sweep_lines(struct grid *g, const struct arch_sweeps *w, size_t point,
			const struct arch_model *m, const struct arch_solution *s)
{
	for (uint32_t i = 0; i < m->nr_scenarios; i++) {
		for (size_t k = 0; k < w->nr; k++)
			grid_cell(g, "%.15g", arch_sweep_value(w, k, point));
		grid_cell(g, "%s", m->scenarios[i].name);
		if (s->overloaded)
			grid_cell(g, "no steady state");
		else
			cell_time(g, s->times[i].mean.mean);
		cell_time(g, s->times[i].p95.mean);
		if (isfinite(s->throughput[i].mean))
			grid_cell(g, "%.4g", s->throughput[i].mean);
		else
			grid_cell(g, "-");
		cmd_arch_busiest(g, m, s);
		grid_cell(g, "%s", s->outside ? "outside" : "");
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
	json_t *set;

	if (!j->sweeps.nr)
		return a;
	set = json_object();
	for (size_t k = 0; k < j->sweeps.nr; k++)
		json_object_set_new(set, j->sweeps.items[k].name,
				    json_real(arch_sweep_value(&j->sweeps, k, point)));
	answer_member(a, "set", set);
	return a;
}

/* Prints the names of the parameters that vary, and then the columns of the result. */
static void csv_head(const struct job *j)
{
	for (size_t k = 0; k < j->sweeps.nr; k++)
		printf("%s,", j->sweeps.items[k].name);
	puts(ARCH_RESULT_COLUMNS);
}

static int csv_point(const struct job *j, size_t point, const struct arch_model *m,
		     const struct arch_solution *s)
{
	char prefix[ARCH_SWEEP_MAX * 32];
	size_t len = 0;

	prefix[0] = 0;
	if (!point) /* only now, so that a refused model prints nothing */
		csv_head(j);
	for (size_t k = 0; k < j->sweeps.nr; k++)
		len += (size_t)snprintf(prefix + len, sizeof(prefix) - len, "%.15g,",
					arch_sweep_value(&j->sweeps, k, point));
	return arch_result_csv(m, s, prefix, stdout);
}

/*
 * Adds the solution of a point to points (JSON of a sweep) or to the grid (its table). Where
 * nothing varies, it shows the solution.
 */
static int solve_point(struct job *j, const char *path, size_t point, json_t *points,
		       struct grid *g)
{
	struct arch_model m = { 0 };
	struct arch_solution s = { 0 };
	double seconds;
	int ret = solve_one(j, path, point, &m, &s, &seconds);

	if (ret)
		goto out;
	if (!points && j->csv) {
		ret = csv_point(j, point, &m, &s);
	} else if (!points && g) {
		sweep_lines(g, &j->sweeps, point, &m, &s);
	} else {
		struct answer *a = cmd_arch_answer(j, point, &m, &s, seconds);

		if (!points)
			ret = cli_show(j->cli, a, NULL, &j->err);
		else if (json_array_append_new(points, answer_json(a)))
			ret = -ENOMEM;
		answer_free(a);
	}
	if (ret && !j->err.code)
		err_set(&j->err, -ret, "%s", strerror(-ret));
out:
	arch_solution_release(&s);
	arch_release(&m);
	return ret;
}

static void sweep_head(struct grid *g, const struct arch_sweeps *w)
{
	char head[1024];
	size_t len = 0;

	for (size_t k = 0; k < w->nr; k++)
		len += (size_t)snprintf(head + len, sizeof(head) - len - 100, ">%.100s|",
					w->items[k].name);
	snprintf(head + len, sizeof(head) - len,
		 "scenario|>response time|>p95|>per second|busiest|training");
	grid_init(g, head);
}

static int solve_sweep(struct job *j, const char *path)
{
	json_t *points = j->cli->json ? json_array() : NULL;
	struct grid g;
	int ret = 0;

	sweep_head(&g, &j->sweeps);
	for (size_t i = 0; !ret && i < j->sweeps.nr_points; i++)
		ret = solve_point(j, path, i, points, &g);
	if (!ret && points)
		ret = print_json(json_incref(points), &j->err);
	else if (!ret && !j->csv && grid_print(&g, stdout))
		ret = err_set(&j->err, ENOMEM, "out of memory");
	json_decref(points);
	grid_release(&g);
	return ret;
}

static int solve_all(struct job *j, const char *path)
{
	int ret = arch_sweeps_read(&j->sweeps, &j->sweep, &j->err);

	if (ret)
		return ret;
	return j->sweeps.nr ? solve_sweep(j, path) : solve_point(j, path, 0, NULL, NULL);
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
		CLI_END,
	};
	const char *bad;
	int error;

	if (!cli_parse(cli, options))
		return cli->status;
	bad = arch_run_bad(&j.run);
	if (bad)
		return cli_usage(cli, "%s", bad);
	if (cli->argc != 1)
		return cli_usage(cli, "expected one model, got %d files", cli->argc);
	if (j.csv && cli->json)
		return cli_usage(cli, "--csv and --json: expected one of them");
	error = solve_all(&j, cli->argv[0]);
	arch_sweeps_release(&j.sweeps);
	if (error)
		return cli_fail(cli, &j.err);
	return j.overloaded ? CLI_FAILED : CLI_DONE;
}

/* A time that both models know, by its name. */
struct pair {
	const char *name; /* name of the first model's time; owned elsewhere */
	const struct time_estimate *a, *b;
};

/*
 * Compares two times: where their intervals of 95 % do not overlap, the second model is slower or
 * faster.
 */
static const char *cmd_arch_verdict(const struct pair *p)
{
	if (isnan(p->a->mean.mean) || isnan(p->b->mean.mean))
		return "no steady state";
	if (p->a->mean.high < p->b->mean.low)
		return "slower";
	if (p->b->mean.high < p->a->mean.low)
		return "faster";
	return "cannot tell";
}

static json_t *pair_json(const struct pair *p)
{
	double ratio = p->b->mean.mean / p->a->mean.mean;

	return json_pack("{s:s, s:o, s:o, s:o, s:s}", "name", p->name, "a", arch_time_json(p->a),
			 "b", arch_time_json(p->b), "ratio",
			 isfinite(ratio) ? json_real(ratio) : json_null(), "verdict",
			 cmd_arch_verdict(p));
}

static void pair_line(struct grid *g, const struct pair *p)
{
	grid_cell(g, "%s", p->name);
	cell_time(g, p->a->mean.mean);
	cell_time(g, p->b->mean.mean);
	if (isfinite(p->b->mean.mean / p->a->mean.mean))
		grid_cell(g, "%.4g", p->b->mean.mean / p->a->mean.mean);
	else
		grid_cell(g, "-");
	cell_time(g, p->a->p95.mean);
	cell_time(g, p->b->p95.mean);
	grid_cell(g, "%s", cmd_arch_verdict(p));
}

/* Compares every time of A that B has measured too. */
static int compare_times(struct job *j, struct arch_model m[2], struct arch_solution s[2])
{
	json_t *list = j->cli->json ? json_array() : NULL;
	struct grid g;
	int ret = 0;

	grid_init(&g, "name|>A|>B|>B / A|>p95 A|>p95 B|B is");
	for (uint32_t i = 0; i < m[0].nr_scenarios + m[0].nr_measures; i++) {
		char *name = arch_time_name(&m[0], i);

		for (uint32_t k = 0; name && k < m[1].nr_scenarios + m[1].nr_measures; k++) {
			char *other = arch_time_name(&m[1], k);
			struct pair p = { name, &s[0].times[i], &s[1].times[k] };
			bool same = other && !strcmp(name, other) &&
				    (s[0].overloaded || s[0].nr[i] > 0) &&
				    (s[1].overloaded || s[1].nr[k] > 0);

			free(other);
			if (same && list)
				json_array_append_new(list, pair_json(&p));
			else if (same)
				pair_line(&g, &p);
		}
		free(name);
	}
	if (list)
		ret = print_json(json_pack("{s:s, s:I, s:o}", "schema", "blkcast.arch-compare/1",
					   "seed", (json_int_t)j->run.seed, "times", list),
				 &j->err);
	else if (grid_print(&g, stdout))
		ret = err_set(&j->err, ENOMEM, "out of memory");
	grid_release(&g);
	return ret;
}

static int cmd_arch_compare(struct cli *cli)
{
	struct job j = { .cli = cli, .run = ARCH_RUN_DEFAULTS };
	const struct cli_option options[] = { RUN_OPTIONS(&j), CLI_END };
	struct arch_model m[2] = { 0 };
	struct arch_solution s[2] = { 0 };
	const char *bad;
	double seconds;
	int error = 0;

	if (!cli_parse(cli, options))
		return cli->status;
	bad = arch_run_bad(&j.run);
	if (bad)
		return cli_usage(cli, "%s", bad);
	if (cli->argc != 2)
		return cli_usage(cli, "expected two models, got %d files", cli->argc);
	for (int i = 0; !error && i < 2; i++)
		error = solve_one(&j, cli->argv[i], 0, &m[i], &s[i], &seconds);
	if (!error)
		error = compare_times(&j, m, s);
	for (int i = 0; i < 2; i++) {
		arch_solution_release(&s[i]);
		arch_release(&m[i]);
	}
	if (error)
		return cli_fail(cli, &j.err);
	return j.overloaded ? CLI_FAILED : CLI_DONE;
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
	arch_settings_release(&settings);
	return open;
}

static json_t *check_json(const struct arch_model *m, const struct arch_load *l)
{
	json_t *list = json_array();

	for (uint32_t r = 0; r < m->nr_resources; r++) {
		char *name = l->resources[r].overloaded ? arch_resource_name(m, r) : NULL;

		if (name)
			json_array_append_new(list,
					      json_pack("{s:s, s:f, s:f}", "resource", name,
							"offered_load", l->resources[r].load,
							"capacity", l->resources[r].capacity));
		free(name);
	}
	for (uint32_t p = 0; p < m->nr_passives; p++) {
		uint32_t time = m->nr_scenarios + m->nr_measures + p;
		char *name = l->passives[p].overloaded ? arch_time_name(m, time) : NULL;

		if (name)
			json_array_append_new(list, json_pack("{s:s, s:f, s:f}", "resource", name,
							      "offered_load", l->passives[p].load,
							      "capacity", l->passives[p].capacity));
		free(name);
	}
	return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:o}", "schema",
			 "blkcast.arch-check/1", "file", m->files[0], "components",
			 (int)m->nr_components, "instances", (int)m->nr_instances, "containers",
			 (int)m->nr_containers, "storages", (int)m->nr_storages, "scenarios",
			 (int)m->nr_scenarios, "overloaded", list);
}

static void check_print(const struct cli *cli, const struct arch_model *m,
			const struct arch_load *l)
{
	char text[256];

	arch_load_describe(l, m, text, sizeof(text));
	if (*text)
		printf("%s: no steady state: open scenarios bring more work than can be done (%s)\n",
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

	if (!open_model(cli, &m))
		return cli->status;
	arch_say_left_out(cli, &m);
	if (!arch_load(&l, &m, 1, &err)) {
		if (cli->json)
			print_json(check_json(&m, &l), &err);
		else
			check_print(cli, &m, &l);
	}
	overloaded = l.overloaded;
	arch_load_release(&l);
	arch_release(&m);
	if (err.code)
		return cli_fail(cli, &err);
	return overloaded ? CLI_FAILED : CLI_DONE;
}

static int cmd_arch_draw(struct cli *cli)
{
	struct arch_model m = { 0 };
	FILE *dot;
	int ret;

	if (!open_model(cli, &m))
		return cli->status;
	if (cli->json) {
		arch_release(&m);
		return cli_usage(cli, "a picture has no --json");
	}
	fflush(stdout);
	dot = popen("dot -Tsvg", "w");
	if (dot)
		arch_draw(&m, dot);
	arch_release(&m);
	ret = dot ? pclose(dot) : -1;
	if (!ret)
		return CLI_DONE;
	fprintf(stderr, "blkcast arch: graphviz' dot failed: is the package graphviz installed?\n");
	return CLI_FAILED;
}

static int cmd_arch_run(struct cli *cli)
{
	static const char *const verbs[] = { "solve",	  "compare",  "check", "draw",
					     "calibrate", "validate", NULL };

	lsq_single_thread();
	switch (cli_verb(cli, verbs)) {
	case 0:
		return cmd_arch_solve(cli);
	case 1:
		return cmd_arch_compare(cli);
	case 2:
		return cmd_arch_check(cli);
	case 3:
		return cmd_arch_draw(cli);
	case 4:
		return arch_calibrate(cli);
	case 5:
		return arch_validate(cli);
	default:
		return cli->status;
	}
}

const struct command command_arch = {
	.name = "arch",
	.summary = "predict a software system from its architecture",
	.usage =
		"solve MODEL [--set NAME=VALUE]... [--sweep NAME=FROM:TO:STEP]... [--csv] [--precision P]\n"
		"compare MODEL_A MODEL_B [--set NAME=VALUE]...\n"
		"calibrate MODEL MEASURED.csv --fit NAME=LOW:HIGH... [--set NAME=VALUE]...\n"
		"validate MODEL MEASURED.csv [--set NAME=VALUE]...\n"
		"check MODEL [--set NAME=VALUE]...\n"
		"draw MODEL [--set NAME=VALUE]... >MODEL.svg",
	.details =
		"A model is a YAML file (docs/arch.schema.json), or a directory with Palladio's files\n"
		"(.repository, .system, .allocation, .usagemodel...): components and what their operations\n"
		"do, how they are assembled, the containers they run in, storages with an I/O\n"
		"analysis model inside, and who uses it all. It is simulated until the mean\n"
		"response time of every scenario and operation is known well enough; intervals are\n"
		"at 95 %. The model may also be a directory with the files of a Palladio model, or, where\n"
		"there are several of a kind, DIR/A.allocation, DIR/U.usagemodel, or both as\n"
		"DIR/A.allocation,U.usagemodel.\n"
		"\n"
		"Where requests ask the I/O model for what it was not trained on, a line says so\n"
		"and the result counts them. compare says of each time that both models know\n"
		"whether B is slower or faster. calibrate finds values of parameters that make the\n"
		"model's times those measured, a table with the columns time (of an operation, an io\n"
		"or a scenario, as solve names them), mean_s and per_round (how often in a round,\n"
		"default 1); validate says how far predictions are from such a table: mean error of\n"
		"io, and of the sum over a round. check reads a model and says what is wrong with it,\n"
		"with file and line; a resource that open scenarios ask for more than it can do is\n"
		"named with load and capacity (exit status 1). Such a model has no steady state: solve\n"
		"says so in place of times (null in JSON, empty in CSV) and ends with 1; of a sweep,\n"
		"in the rows concerned alone. draw gives a picture of components, deployment and usage, as\n"
		"SVG by graphviz.",
	.example =
		"blkcast arch solve docs/examples/shop.yaml\n"
		"blkcast arch solve docs/examples/shop.yaml --sweep clients=100:500:100\n"
		"blkcast arch solve docs/examples/shop.yaml --sweep clients=100:200:100 --sweep buyers=0.1:0.3:0.2 --csv\n"
		"blkcast arch draw docs/examples/shop.yaml >shop.svg",
	.run = cmd_arch_run,
	.rank_verbs = " solve compare validate ",
};
