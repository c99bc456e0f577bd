// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/arch_fit.h"
#include "analyzer/cmd/arch_calibrate.h"
#include "analyzer/cmd/arch_run.h"
#include "analyzer/answer/grid.h"
#include "analyzer/models/num/lsq.h"
#include "base/json.h"
#include "base/units.h"

struct job {
	struct cli *cli;
	const char *path;
	struct arch_run_options run;
	struct word_list set, fit;
	struct table table;
	struct arch_measured_set measured;
	struct arch_errors errors;
	struct arch_fit_parameter parameters[ARCH_FIT_MAX];
	char *names[ARCH_FIT_MAX]; /* owned */
	size_t nr_parameters;
	uint64_t outside, asked;
	struct err err;
};

/* Uses --set first, and then the parameters that are being fitted. */
static int arch_calibrate_settings(struct job *j, const struct arch_fit_parameter *p,
				   struct arch_settings *s, struct err *err)
{
	int ret = arch_settings_read(s, &j->set, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < j->nr_parameters; i++) {
		char value[32];

		snprintf(value, sizeof(value), "%.17g", p[i].value);
		if (arch_settings_add(s, p[i].name, strlen(p[i].name), value))
			ret = err_set(err, ENOMEM, "out of memory");
		if (ret)
			return ret;
	}
	return 0;
}

static int arch_calibrate_predict(void *ctx, const struct arch_fit_parameter *p,
				  struct arch_errors *e, struct err *err)
{
	struct job *j = ctx;
	struct arch_solve_options o = ARCH_SOLVE_DEFAULTS;
	struct arch_settings s = { .nr = 0 };
	struct arch_solution solution = { 0 };
	struct arch_model m = { 0 };
	int ret = arch_calibrate_settings(j, p, &s, err);

	if (!ret)
		ret = arch_open(&m, j->path, &s, err);
	o.through_overload = j->fit.nr > 0;
	o.precision = j->run.precision;
	o.model_time = j->run.model_time;
	o.seed = j->run.seed;
	o.max_events = j->run.max_events;
	o.nr_replications = (unsigned)j->run.replications;
	o.nr_threads = (unsigned)j->run.threads;
	if (ret)
		goto out;
	ret = arch_solve(&solution, &m, &o, err);
	if (ret)
		goto out;
	if (solution.overloaded) {
		char text[256];

		arch_load_describe(&solution.load, &m, text, sizeof(text));
		ret = err_set(err, EOVERFLOW,
			      "%s: no steady state: more work arrives than can be done%s%s",
			      j->path, *text ? ": " : "", text);
	}
	if (ret)
		goto out;
	ret = arch_errors(e, &j->measured, &m, &solution, err);
	if (ret)
		goto out;
	if (!(j->run.model_time > 0))
		j->run.model_time = solution.model_time / (double)solution.nr_replications;
out:
	j->outside = solution.outside;
	j->asked = solution.asked;
	arch_solution_release(&solution);
	arch_release(&m);
	arch_settings_release(&s);
	return ret;
}

static json_t *arch_calibrate_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *times_json(const struct job *j)
{
	json_t *list = json_array();

	for (size_t i = 0; i < j->measured.nr; i++) {
		const struct arch_measured *x = &j->measured.items[i];

		json_array_append_new(
			list, json_pack("{s:s, s:b, s:f, s:f, s:f, s:f}", "time", x->name, "io",
					x->io, "per_round", x->per_round, "measured_s", x->mean_s,
					"predicted_s", x->predicted_s, "relative_error",
					x->predicted_s / x->mean_s - 1));
	}
	return list;
}

static int print_json(struct job *j, const struct arch_fit *f)
{
	json_t *fitted = json_object(), *out;
	int ret = 0;

	for (size_t i = 0; i < j->nr_parameters; i++)
		json_object_set_new(fitted, j->parameters[i].name,
				    json_real(j->parameters[i].value));
	out = json_pack("{s:s, s:I, s:o, s:o, s:o, s:I, s:I}", "schema",
			f ? "blkcast.arch-calibrate/1" : "blkcast.arch-validate/1", "seed",
			(json_int_t)j->run.seed, "times", times_json(j), "error_io",
			arch_calibrate_number(j->errors.io), "error_end_to_end",
			arch_calibrate_number(j->errors.end_to_end), "asked", (json_int_t)j->asked,
			"outside_training", (json_int_t)j->outside);
	if (out && f) {
		json_object_set_new(out, "solutions", json_integer(f->solutions));
		json_object_set_new(out, "rms_log_error", arch_calibrate_number(f->rms));
		json_object_set(out, "set", fitted);
	}
	json_decref(fitted);
	if (!out || json_print(out, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)))
		ret = err_set(&j->err, ENOMEM, "out of memory");
	else
		putchar('\n');
	json_decref(out);
	return ret;
}

static int print_text(struct job *j)
{
	char text[UNITS_BYTES];
	struct grid g;
	int ret;

	for (size_t i = 0; i < j->nr_parameters; i++)
		printf("--set %s=%.6g%s", j->parameters[i].name, j->parameters[i].value,
		       i + 1 < j->nr_parameters ? " " : "\n\n");
	grid_init(&g, "time|>per round|>measured|>predicted|>error");
	for (size_t i = 0; i < j->measured.nr; i++) {
		const struct arch_measured *x = &j->measured.items[i];

		grid_cell(&g, "%s", x->name);
		grid_cell(&g, "%.4g", x->per_round);
		grid_cell(&g, "%s", units_time(x->mean_s, text));
		grid_cell(&g, "%s", units_time(x->predicted_s, text));
		grid_cell(&g, "%+.2f%%", 100 * (x->predicted_s / x->mean_s - 1));
	}
	ret = grid_print(&g, stdout);
	grid_release(&g);
	if (ret)
		return err_set(&j->err, ENOMEM, "out of memory");
	if (isfinite(j->errors.io))
		printf("\nmean error of io %.2f%%, ", 100 * j->errors.io);
	else
		printf("\n");
	printf("error end to end %.2f%%\n", 100 * j->errors.end_to_end);
	return 0;
}

static int arch_calibrate_print(struct job *j, const struct arch_fit *f)
{
	if (j->outside)
		cli_note(j->cli,
			 "%.3g%% of the requests asked the I/O model for what lies outside its "
			 "training range: extrapolated",
			 100 * (double)j->outside / (double)j->asked);
	return j->cli->json ? print_json(j, f) : print_text(j);
}

/* Parses NAME=LOW:HIGH. */
static int read_parameters(struct job *j)
{
	for (size_t i = 0; i < j->fit.nr; i++) {
		const char *text = j->fit.items[i], *equals = strchr(text, '=');
		struct arch_fit_parameter *p = &j->parameters[i];
		char *end = NULL;

		if (i == ARCH_FIT_MAX)
			return err_set(&j->err, EINVAL, "--fit: more than %d", ARCH_FIT_MAX);
		if (equals && equals != text) {
			p->low = strtod(equals + 1, &end);
			if (end != equals + 1 && *end == ':')
				p->high = strtod(end + 1, &end);
			else
				end = NULL;
		}
		if (!end || *end || !(p->low > 0 && p->high > p->low && isfinite(p->high)))
			return err_set(&j->err, EINVAL,
				       "--fit: expected NAME=LOW:HIGH above 0, as "
				       "open=1e-6:1e-3, got '%s'",
				       text);
		p->value = sqrt(p->low * p->high);
		j->names[i] = strndup(text, (size_t)(equals - text));
		if (!j->names[i])
			return err_set(&j->err, ENOMEM, "out of memory");
		p->name = j->names[i];
		j->nr_parameters++;
	}
	return 0;
}

static int arch_calibrate_work(struct job *j, bool fit)
{
	struct arch_fit f = { .parameters = j->parameters,
			      .nr = j->nr_parameters,
			      .predict = arch_calibrate_predict,
			      .ctx = j,
			      .measured = &j->measured,
			      .max_rounds = 30 };
	int ret;

	if (!fit) {
		ret = arch_calibrate_predict(j, j->parameters, &j->errors, &j->err);
		return ret ? ret : arch_calibrate_print(j, NULL);
	}
	ret = read_parameters(j);
	f.nr = j->nr_parameters;
	if (!ret)
		ret = arch_fit(&f, &j->err);
	/* Predicts once more at the final parameters, because what is printed belongs to them. */
	if (!ret)
		ret = arch_calibrate_predict(j, j->parameters, &j->errors, &j->err);
	return ret ? ret : arch_calibrate_print(j, &f);
}

static int beside_measurements(struct cli *cli, bool fit)
{
	struct job j = { .cli = cli, .run = ARCH_RUN_DEFAULTS };
	const struct cli_option options[] = {
		CLI_LIST("set", 0, "NAME=VALUE", &j.set, "change a parameter of the model"),
		CLI_LIST("fit", 0, "NAME=LOW:HIGH", &j.fit, "calibrate: a parameter to find"),
		CLI_DOUBLE("precision", 'p', "P", &j.run.precision,
			   "of every mean, relative (default 0.01)"),
		CLI_DURATION("model-time", 't', "T", &j.run.model_time,
			     "run each replication for T of the system's time instead"),
		CLI_U64("seed", 's', "N", &j.run.seed, "of the random numbers (default 1)"),
		CLI_U64("threads", 0, "N", &j.run.threads, "default: all processors"),
		CLI_END,
	};
	const char *bad;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	bad = arch_run_bad(&j.run);
	if (bad)
		return cli_usage(cli, "%s", bad);
	if (cli->argc != 2)
		return cli_usage(cli, "expected a model and a table of measurements");
	if (fit != (j.fit.nr > 0))
		return cli_usage(cli, fit ? "expected --fit, what to find" : "--fit: of calibrate");
	j.path = cli->argv[0];
	lsq_single_thread();
	ret = table_read(&j.table, cli->argv[1], &j.err);
	if (!ret)
		ret = arch_measured_read(&j.measured, &j.table, &j.err);
	if (!ret)
		ret = arch_calibrate_work(&j, fit);
	for (size_t i = 0; i < j.nr_parameters; i++)
		free(j.names[i]);
	arch_measured_release(&j.measured);
	table_release(&j.table);
	return ret ? cli_fail(cli, &j.err) : CLI_DONE;
}

int arch_calibrate(struct cli *cli)
{
	return beside_measurements(cli, true);
}

int arch_validate(struct cli *cli)
{
	return beside_measurements(cli, false);
}
