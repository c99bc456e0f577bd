// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/cli/show.h"
#include "analyzer/cmd/models/arch_run.h"
#include "analyzer/models/arch/arch_fit.h"
#include "analyzer/models/num/lsq.h"
#include "base/text/units.h"

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
	struct solve_options o = ARCH_SOLVE_DEFAULTS;
	struct arch_settings s = { .nr = 0 };
	struct arch_solution solution = { 0 };
	struct arch_model m = { 0 };
	int ret = arch_calibrate_settings(j, p, &s, err);

	if (ret)
		goto out;
	ret = arch_open(&m, j->path, &s, err);
	if (ret)
		goto out;
	o.through_overload = j->fit.nr > 0;
	o.precision = j->run.precision;
	o.model_time = j->run.model_time;
	o.seed = j->run.seed;
	o.max_events = j->run.max_events;
	o.nr_replications = (unsigned)j->run.replications;
	o.nr_threads = (unsigned)j->run.threads;
	ret = arch_solve(&solution, &m, &o, err);
	if (ret)
		goto out;
	if (solution.overloaded) {
		char text[256];

		arch_load_describe(&solution.load, &m, text, sizeof(text));
		ret = err_set(err, EOVERFLOW,
			      "%s: no steady state: more work arrives than can be done%s%s",
			      j->path, *text ? ": " : "", text);
		goto out;
	}
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

static json_t *times_json(const struct job *j)
{
	json_t *list = json_array();

	for (size_t i = 0; i < j->measured.nr; i++) {
		const struct arch_measured *one = &j->measured.items[i];

		json_array_append_new(
			list, json_pack("{s:s, s:b, s:f, s:f, s:f, s:f}", "time", one->name, "io",
					one->io, "per_round", one->per_round, "measured_s",
					one->mean_s, "predicted_s", one->predicted_s,
					"relative_error", one->predicted_s / one->mean_s - 1));
	}
	return list;
}

/* f: NULL where nothing was fitted. */
static struct answer *arch_calibrate_answer(const struct job *j, const struct arch_fit *f)
{
	static const struct answer_column columns[] = {
		{ .title = "time" },
		{ .title = "per round", .right = true },
		{ .title = "measured", .right = true },
		{ .title = "predicted", .right = true },
		{ .title = "error", .right = true },
	};
	struct answer *a =
		answer_new(f ? "blkcast.arch-calibrate/1" : "blkcast.arch-validate/1", j->path);
	struct answer_table *t = answer_table(a, NULL, NULL, NULL, ANSWER_COLUMNS(columns));
	json_t *fitted = json_object();
	char text[UNITS_BYTES];

	for (size_t i = 0; i < j->measured.nr; i++) {
		const struct arch_measured *one = &j->measured.items[i];

		answer_words(t, "%s", one->name);
		answer_words(t, "%.4g", one->per_round);
		answer_words(t, "%s", units_time(one->mean_s, text));
		answer_words(t, "%s", units_time(one->predicted_s, text));
		answer_words(t, "%+.2f%%", 100 * (one->predicted_s / one->mean_s - 1));
	}
	answer_member(a, "seed", json_integer((json_int_t)j->run.seed));
	answer_member(a, "times", times_json(j));
	answer_fact(a, "error_io", NULL, ANSWER_RATIO, j->errors.io);
	answer_fact(a, "error_end_to_end", NULL, ANSWER_RATIO, j->errors.end_to_end);
	answer_fact(a, "asked", NULL, ANSWER_INTEGER, (double)j->asked);
	answer_fact(a, "outside_training", NULL, ANSWER_INTEGER, (double)j->outside);
	if (f) {
		answer_fact(a, "solutions", NULL, ANSWER_INTEGER, (double)f->solutions);
		answer_fact(a, "rms_log_error", NULL, ANSWER_NONE, f->rms);
		for (size_t i = 0; i < j->nr_parameters; i++)
			json_object_set_new(fitted, j->parameters[i].name,
					    json_real(j->parameters[i].value));
		answer_member(a, "set", json_incref(fitted));
	}
	json_decref(fitted);
	return a;
}

static int arch_calibrate_print(struct job *j, const struct arch_fit *f)
{
	bool text = !j->cli->json;
	int ret;

	if (j->outside)
		cli_note(j->cli,
			 "%.3g%% of the requests asked the I/O model for what lies outside its "
			 "training range: extrapolated",
			 100 * (double)j->outside / (double)j->asked);
	for (size_t i = 0; text && i < j->nr_parameters; i++)
		printf("--set %s=%.6g%s", j->parameters[i].name, j->parameters[i].value,
		       i + 1 < j->nr_parameters ? " " : "\n\n");
	ret = cli_show(j->cli, arch_calibrate_answer(j, f), NULL, &j->err);
	if (ret || !text)
		return ret;
	printf("\n");
	if (isfinite(j->errors.io))
		printf("mean error of io %.2f%%, ", 100 * j->errors.io);
	printf("error end to end %.2f%%\n", 100 * j->errors.end_to_end);
	return 0;
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
	if (ret)
		return ret;
	ret = arch_fit(&f, &j->err);
	if (ret)
		return ret;
	/* Predicts once more at the final parameters, because what is printed belongs to them. */
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
	return cli_finish(cli, ret, &j.err, CLI_DONE);
}

int arch_calibrate(struct cli *cli)
{
	return beside_measurements(cli, true);
}

int arch_validate(struct cli *cli)
{
	return beside_measurements(cli, false);
}
