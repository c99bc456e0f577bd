// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/answer/rows_output.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/measure/table_told.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/models/regression/use/predict_rows.h"
#include "analyzer/models/storage/net/storage_rows.h"
#include "analyzer/report/page/model_page.h"
#include "analyzer/whatif/predict/origins.h"
#include "base/data/json.h"
#include "base/text/units.h"
#include "formats/model_file.h"

struct predict {
	const struct cli *cli;
	const char *db, *campaign;
	bool strict, show, c;
	bool check;
	const char *report, *against, *by;
	bool cannot_tell;
	/*
	 * Level of the interval. It is NaN until the user's wish is known, and then has the
	 * default.
	 */
	double level;
	bool level_asked;
	char *texts[WORD_LIST_MAX]; /* owned; the values of --set converted to plain numbers */
	struct word_list set;
	struct model model;
	bool is_storage;
	struct storage_model storage; /* set where the model is a queueing Petri net */
	struct storage_rows rows_of_storage;
	struct table table;
	struct predict_rows rows;
	struct err err;
};

static int cmd_predict_load(struct predict *p, const char *path)
{
	const char *kind;
	json_t *root = NULL;
	int ret = model_file_read(path, &root, &kind, &p->err);

	if (ret)
		return ret;
	p->is_storage = !strcmp(kind, "qpn");
	if (!p->is_storage && strcmp(kind, "regression") != 0) {
		ret = err_set(&p->err, EINVAL,
			      "%s: kind: expected 'regression' or 'qpn', got '%.40s'", path, kind);
		goto out;
	}
	ret = p->is_storage ? storage_model_from_json(&p->storage, root, &p->err)
			    : model_from_json(&p->model, root, &p->err);
	if (ret)
		err_prefix(&p->err, "%s", path);
out:
	json_decref(root);
	return ret;
}

static struct reach_finding cmd_predict_look(const struct predict *p, size_t row)
{
	return model_look(&p->model, p->rows.rows + row * p->model.schema.nr);
}

static int check_ranges(struct predict *p)
{
	size_t nr_outside = 0, nr_far = 0;

	for (size_t i = 0; i < p->table.nr_rows; i++) {
		struct reach_finding found = cmd_predict_look(p, i);
		char why[512];

		if (found.verdict == REACH_INSIDE)
			continue;
		reach_explain(&found, why, sizeof(why));
		if (p->strict)
			return err_set(&p->err, ERANGE, "%s: row %zu: %s", p->table.source, i + 1,
				       why);
		*(found.verdict == REACH_RANGE ? &nr_outside : &nr_far) += 1;
	}
	if (nr_outside)
		cli_note(p->cli, "%zu of %zu rows lie outside the training range: extrapolated",
			 nr_outside, p->table.nr_rows);
	if (nr_far)
		cli_note(p->cli,
			 "%zu of %zu rows lie in a gap that the training rows leave: their "
			 "intervals may be too narrow",
			 nr_far, p->table.nr_rows);
	return 0;
}

static int cmd_predict_evaluate(struct predict *p)
{
	int ret = predict_rows(&p->rows, &p->model, &p->table, &p->err);

	return ret ? ret : check_ranges(p);
}

/*
 * An interval that the user asked for and that cannot be given is an error; for the default
 * interval a note is enough.
 */
static int check_interval(struct predict *p)
{
	size_t nr = p->model.residuals ? p->model.data.nr_rows : 0;

	if (isfinite(model_half_width(&p->model, p->level)))
		return 0;
	if (p->level_asked)
		return err_set(&p->err, EINVAL,
			       "--interval %g: the model knows the errors of %zu rows it was not "
			       "fitted to; expected a lower level, or a model of more rows",
			       p->level, nr);
	cli_note(
		p->cli,
		"no interval: the model knows the errors of %zu rows it was not fitted to, too few "
		"for one of %g %%",
		nr, 100 * p->level);
	return 0;
}

static int cmd_predict_print(const struct predict *p)
{
	static const char *const names[] = { "predicted", "lower", "upper" };
	const size_t nr_rows = p->table.nr_rows;
	const size_t nr = isfinite(model_half_width(&p->model, p->level)) ? 3 : 1;
	double *values = calloc(3 * nr_rows + 1, sizeof(*values));
	bool *outside = calloc(nr_rows + 1, sizeof(*outside));
	int ret = -ENOMEM;

	if (!values || !outside)
		goto out;
	for (size_t i = 0; i < nr_rows; i++) {
		double row[3] = { p->rows.predicted[i] };

		model_interval(&p->model, p->level, p->rows.rows + i * p->model.schema.nr, row[0],
			       &row[1], &row[2]);
		memcpy(values + i * nr, row, nr * sizeof(*values));
		outside[i] = cmd_predict_look(p, i).verdict != REACH_INSIDE;
	}
	ret = rows_output_print(&(struct rows_output){
		.table = &p->table,
		.names = names,
		.nr_names = nr,
		.values = values,
		.outside = outside,
		.digits = isatty(STDOUT_FILENO) ? 6 : 17, /* a person reads the first digits */
		.json = p->cli->json,
		.out = stdout });
out:
	free(values);
	free(outside);
	return ret;
}

static int print_model(struct predict *p)
{
	struct buf out;
	int ret = 0;

	buf_init(&out);
	if (p->c)
		ret = model_export_c(&p->model, "predict", &out);
	else
		model_print(&p->model, &out);
	if (!ret)
		return cli_show_text(&out);
	buf_release(&out);
	return ret;
}

/*
 * --check: compares predictions with the table's own column of the response, and with another
 * model.
 */
static int cmd_predict_check(struct predict *p)
{
	struct predict other = { 0 };
	struct predict_check ask = { .model = &p->model,
				     .other = p->against ? &other.model : NULL,
				     .level = p->level,
				     .by = p->by };
	struct answer *a = NULL;
	bool told = true;
	int ret = p->against ? cmd_predict_load(&other, p->against) : 0;

	if (!ret && other.is_storage)
		ret = err_set(&other.err, EINVAL, "%s: expected a regression model", p->against);
	if (ret) {
		p->err = other.err;
		goto out;
	}
	if (p->against && strcmp(other.model.schema.response, p->model.schema.response)) {
		ret = err_set(&p->err, EINVAL, "--against: a model of '%s', expected one of '%s'",
			      other.model.schema.response, p->model.schema.response);
		goto out;
	}
	ret = predict_check(&a, &ask, &p->rows, &p->table, &told, &p->err);
	if (!ret)
		ret = cli_show(p->cli, a, NULL, &p->err);
out:
	p->cannot_tell = !told;
	model_release(&other.model);
	storage_model_release(&other.storage);
	return ret;
}

static const struct variable *find_variable(const struct schema *s, const char *name, size_t len)
{
	for (size_t v = 0; v < s->nr; v++)
		if (strlen(s->variables[v].name) == len &&
		    strncmp(s->variables[v].name, name, len) == 0)
			return &s->variables[v];
	return NULL;
}

static int unknown_variable(struct predict *p, const char *item, size_t len)
{
	const struct schema *s = &p->model.schema;
	const char *names[DATASET_VARIABLES_MAX], *near;
	char name[256];

	snprintf(name, sizeof(name), "%.*s", (int)len, item);
	for (size_t v = 0; v < s->nr; v++)
		names[v] = s->variables[v].name;
	near = cli_nearest(name, names, s->nr);
	if (near)
		return err_set(&p->err, EINVAL,
			       "--set %s: the model has no such variable; did you mean %s?", name,
			       near);
	return err_set(&p->err, EINVAL,
		       "--set %s: the model has no such variable; --show lists those it has", name);
}

/*
 * Converts "32k" to 32768 and "10ms" to 0.01, as everywhere on the command line. This is not done
 * where the variable's name ends in a unit, because such a number would have another meaning there.
 */
static int plain_value(struct predict *p, size_t i, const char *value, size_t len)
{
	const char *item = p->set.items[i], *unit = memrchr(item, '_', len);
	bool own_unit = false;
	uint64_t parsed;
	double number;
	char *end;

	strtod(value, &end);
	if (end != value && !*end)
		return 0;
	for (size_t k = 0; unit && k < 10; k++) {
		static const char *const units[] = { "_kb",  "_kib", "_mb", "_mib", "_gb",
						     "_gib", "_ms",  "_us", "_ns",  "_min" };

		own_unit |= strlen(units[k]) == len - (size_t)(unit - item) &&
			    strncasecmp(unit, units[k], strlen(units[k])) == 0;
	}
	if (own_unit)
		return err_set(&p->err, EINVAL,
			       "--set %s: expected a plain number, in the unit that the column's "
			       "name says",
			       item);
	if (!units_parse_bytes(value, &parsed, NULL))
		number = (double)parsed;
	else if (!units_parse_time(value, &parsed, NULL))
		number = (double)parsed / 1e9;
	else
		return err_set(&p->err, EINVAL,
			       "--set %s: expected a number, a size as 32k or a time as 10ms",
			       item);
	if (asprintf(&p->texts[i], "%.*s=%.17g", (int)len, item, number) < 0) {
		p->texts[i] = NULL;
		return -ENOMEM;
	}
	p->set.items[i] = p->texts[i];
	return 0;
}

/* Checks that every --set names a variable of the model. */
static int check_set(struct predict *p)
{
	int ret = 0;

	for (size_t i = 0; i < p->set.nr && !ret; i++) {
		const char *item = p->set.items[i], *equals = strchr(item, '=');
		const struct variable *v;

		if (!equals)
			continue; /* table_of_settings() reports what is wrong */
		v = find_variable(&p->model.schema, item, (size_t)(equals - item));
		if (!v)
			ret = unknown_variable(p, item, (size_t)(equals - item));
		else if (!v->factor)
			ret = plain_value(p, i, equals + 1, (size_t)(equals - item));
	}
	return ret;
}

/* Reads the rows to predict: from a measurement store, a table, or --set. */
static int read_rows(struct predict *p, const char *path, struct table *out)
{
	if (p->db)
		return results_table(out, p->db, p->campaign,
				     p->check ? p->model.schema.response : NULL, NULL, NULL,
				     &p->err);
	return path ? table_read_told(out, path, &p->cli->teller, &p->err)
		    : table_of_settings(out, "--set", &p->set, &p->err);
}

/* Predicts by a storage model, which is simulated; its intervals are those of the simulation. */
static int predict_storage(struct predict *p, const char *table)
{
	struct storage_rows *rows = &p->rows_of_storage;
	struct storage_ask ask = STORAGE_ASK_DEFAULTS;
	int ret;

	if (p->show || p->c || p->report || p->check)
		return err_set(
			&p->err, EINVAL,
			"--show, --c, --report, --check: a storage model is a net: blkcast qpn "
			"predict --net");
	ret = read_rows(p, table, &rows->table);
	if (ret)
		return ret;
	ret = storage_table_make(&rows->storage, &rows->table, NULL, 0, &p->err);
	if (ret)
		return ret;
	ret = storage_rows_predict(rows, &p->storage, &ask, &p->err);
	if (ret)
		return ret;
	ret = storage_rows_check(rows, &p->cli->teller, p->strict, &p->err);
	if (ret)
		return ret;
	return storage_rows_print(rows, false, p->cli->json, stdout);
}

static int cmd_predict_perform(struct predict *p, const char *model, const char *table)
{
	int ret = cmd_predict_load(p, model);

	if (ret)
		return ret;
	if (p->is_storage)
		return predict_storage(p, table);
	if (p->report)
		ret = origins_model(p->cli->teller.maker.origins, model, &p->err);
	if (ret)
		return ret;
	if (p->report)
		return model_page_save(&p->model, p->report, &p->cli->teller.maker, &p->err);
	if (p->show || p->c)
		return print_model(p);
	ret = check_set(p);
	if (!ret && !p->check)
		ret = check_interval(p);
	if (!ret)
		ret = read_rows(p, table, &p->table);
	if (!ret)
		ret = cmd_predict_evaluate(p);
	if (ret)
		return ret;
	if (p->check)
		return cmd_predict_check(p);
	return cmd_predict_print(p);
}

static int cmd_predict_run(struct cli *cli)
{
	struct predict p = { .cli = cli, .level = NAN };
	const struct cli_option options[] = {
		CLI_LIST("set", 0, "K=V", &p.set, "a value of each variable, instead of a table"),
		CLI_STRING("db", 0, "FILE", &p.db, "the runs of a measurement store"),
		CLI_STRING("campaign", 0, "NAME", &p.campaign, "of --db, where there are several"),
		CLI_FLAG("strict", 0, &p.strict, "refuse rows outside the training range"),
		CLI_DOUBLE("interval", 0, "LEVEL", &p.level,
			   "probability of the interval, default 0.9"),
		CLI_FLAG("check", 0, &p.check,
			 "only the errors, against the rows' own column of the response"),
		CLI_STRING("against", 0, "OTHER.json", &p.against,
			   "--check: beside another model, with a paired t-test"),
		CLI_STRING("by", 0, "COLUMN", &p.by,
			   "--check: how far answers about whole applications are off, which the "
			   "column names"),
		CLI_FLAG("show", 0, &p.show, "the model as formula or tree"),
		CLI_FLAG("c", 0, &p.c, "the model as a C function"),
		CLI_STRING("report", 0, "FILE", &p.report, "the model in pictures, an HTML page"),
		CLI_END,
	};
	bool print;
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	p.level_asked = !isnan(p.level);
	p.level = p.level_asked ? p.level : 0.9;
	print = p.show || p.c || p.report;
	if (cli->argc < 1 || cli->argc > 2)
		return cli_usage(cli, "expected a model, and a table, --db or --set K=V");
	if (!print && (cli->argc == 2) + (p.set.nr > 0) + (p.db != NULL) != 1)
		return cli_usage(cli, "expected either a table, --db or --set K=V");
	if (p.against && !p.check)
		return cli_usage(cli, "--against is of --check");
	if (p.by && !p.check)
		return cli_usage(cli, "--by is of --check");
	if (!(p.level > 0 && p.level < 1))
		return cli_usage(cli, "--interval: expected a probability between 0 and 1");
	lsq_single_thread();
	ret = cmd_predict_perform(&p, cli->argv[0], cli->argc == 2 ? cli->argv[1] : NULL);
	for (size_t i = 0; i < WORD_LIST_MAX; i++)
		free(p.texts[i]);
	predict_rows_release(&p.rows);
	table_release(&p.table);
	model_release(&p.model);
	storage_rows_release(&p.rows_of_storage);
	storage_model_release(&p.storage);
	return cli_finish(cli, ret, &p.err, p.cannot_tell ? CLI_CANNOT_TELL : CLI_DONE);
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
