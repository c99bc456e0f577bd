// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/cli.h"
#include "analyzer/cmd/commands.h"
#include "analyzer/cmd/fit_update.h"
#include "analyzer/cmd/show.h"
#include "analyzer/models/regression/fit_answer.h"
#include "analyzer/cmd/set_table.h"
#include "analyzer/measure/results.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/answer/progress.h"
#include "analyzer/report/model_page.h"
#include "formats/model_file.h"
#include "base/units.h"

#define CANDIDATES_MAX 16

struct options {
	const char *db, *campaign, *update, *response, *weight, *fold_column, *output, *report, *s3,
		*s3_log, *objective, *offset;
	struct word_list predictors, factors, techniques, set;
	bool standard, log;
	const char *quantile;
	uint64_t folds, seed, threads, simplicity;
	double within, budget_s;
};

struct fit {
	const struct cli *cli;
	struct options o;
	char response[256]; /* the column of a quantile */
	struct table table;
	char **names; /* owned: the factors of a measurement store */
	size_t nr_names;
	struct schema schema;
	struct dataset data;
	struct select_config config;
	struct candidate candidates[CANDIDATES_MAX];
	size_t nr;
	bool all; /* techniques were not named: filters may leave some out */
	struct progress progress;
	struct err err;
};

static int bad_option(struct fit *f, const char *option, const char *text)
{
	return err_set(&f->err, EINVAL, "--%s: cannot read '%.80s'", option, text);
}

static int add_technique(struct fit *f, const char *name)
{
	const struct technique *t = technique_find(name);
	char names[256] = "";

	for (size_t i = 0, used = 0; techniques[i]; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 techniques[i]->name);
	if (!t)
		return err_set(&f->err, EINVAL,
			       "--techniques: expected auto or some of %s; got '%s'", names, name);
	for (size_t i = 0; i < f->nr; i++)
		if (f->candidates[i].technique == t)
			return 0;
	f->candidates[f->nr++].technique = t;
	return 0;
}

static int take_techniques(struct fit *f)
{
	const struct word_list *list = &f->o.techniques;
	int ret = 0;

	f->all = !list->nr || (list->nr == 1 && strcmp(list->items[0], "auto") == 0);
	for (size_t i = 0; f->all && techniques[i]; i++)
		if (!techniques[i]->by_name && techniques[i]->simplicity >= (int)f->o.simplicity)
			f->candidates[f->nr++].technique = techniques[i];
	for (size_t i = 0; !f->all && i < list->nr && !ret; i++)
		ret = add_technique(f, list->items[i]);
	if (!ret && !f->nr)
		ret = err_set(&f->err, EINVAL, "--simplicity: no technique is that simple");
	return ret;
}

/* "mars-ia.nnodes=101" */
static int take_set(struct fit *f, const char *text)
{
	const char *dot = strchr(text, '.'), *equals = dot ? strchr(dot, '=') : NULL;
	char *end;
	bool found = false;

	if (!equals)
		return err_set(&f->err, EINVAL,
			       "--set: expected TECHNIQUE.PARAMETER=VALUE, got '%.80s'", text);
	for (size_t i = 0; i < f->nr; i++) {
		struct candidate *c = &f->candidates[i];

		if (strncmp(c->technique->name, text, (size_t)(dot - text)) != 0 ||
		    c->technique->name[dot - text])
			continue;
		for (unsigned int p = 0; p < c->technique->nr_parameters; p++) {
			const char *name = c->technique->parameters[p].name;

			if (strlen(name) != (size_t)(equals - dot - 1) ||
			    strncmp(name, dot + 1, strlen(name)) != 0)
				continue;
			c->parameters[p] = strtod(equals + 1, &end);
			if (end == equals + 1 || *end)
				return bad_option(f, "set", text);
			c->fixed[p] = found = true;
		}
	}
	return found ? 0
		     : err_set(&f->err, EINVAL,
			       "--set: '%.80s' names no parameter of a technique "
			       "that is fitted",
			       text);
}

/* "splits=4,explorations=5,iterations=10" */
static int take_s3(struct fit *f)
{
	struct select_config *c = &f->config;
	const char *at = f->o.s3;

	while (at && *at) {
		unsigned int value;
		double share;
		int used = 0;

		if (sscanf(at, "splits=%u%n", &value, &used) == 1 && used)
			c->splits = value;
		else if (sscanf(at, "explorations=%u%n", &value, &used) == 1 && used)
			c->explorations = value;
		else if (sscanf(at, "iterations=%u%n", &value, &used) == 1 && used)
			c->iterations = value;
		else if (sscanf(at, "improvement=%lf%n", &share, &used) == 1 && used)
			c->improvement = share;
		if (!used || (at[used] && at[used] != ','))
			return bad_option(f, "s3", f->o.s3);
		at += used + (at[used] == ',');
	}
	if (c->splits > 60 || !c->explorations || c->explorations > 1000 || c->iterations > 1000)
		return err_set(&f->err, EINVAL,
			       "--s3: expected splits up to 60, explorations 1 to "
			       "1000, iterations up to 1000");
	return 0;
}

static int take_objective(struct fit *f)
{
	int used = 0;

	if (!f->o.objective || strcmp(f->o.objective, "folds") == 0)
		return 0;
	if (sscanf(f->o.objective, "bootstrap=%u%n", &f->config.nr_bootstraps, &used) == 1 &&
	    !f->o.objective[used] && f->config.nr_bootstraps >= 2 &&
	    f->config.nr_bootstraps <= 1000)
		return 0;
	return err_set(&f->err, EINVAL,
		       "--objective: expected folds or bootstrap=N (2 to 1000), got '%.40s'",
		       f->o.objective);
}

/* The column of a quantile beside that of the mean: read_s and 99.9 make read_p999_s. */
static int take_quantile(struct fit *f)
{
	const char *q = f->o.quantile, *response = f->o.response;
	size_t len, base, used = 0;
	char digits[16];

	if (!q)
		return 0;
	for (q += *q == 'p'; *q && used + 1 < sizeof(digits); q++)
		if (*q >= '0' && *q <= '9')
			digits[used++] = *q;
		else if (*q != '.')
			break;
	digits[used] = 0;
	len = strlen(response);
	base = len > 2 && strcmp(response + len - 2, "_s") == 0 ? len - 2 : len;
	if (*q || used < 2 ||
	    (size_t)snprintf(f->response, sizeof(f->response), "%.*s_p%s%s", (int)base, response,
			     digits, response + base) >= sizeof(f->response))
		return err_set(&f->err, EINVAL,
			       "--response-quantile: expected one like 95 or 99.9, got '%.40s'",
			       f->o.quantile);
	f->o.response = f->response;
	return 0;
}

static int take_options(struct fit *f)
{
	int ret = take_quantile(f);

	f->config.standard = f->o.standard;
	f->config.nr_threads = (unsigned int)f->o.threads;
	if (!ret)
		ret = take_techniques(f);
	for (size_t i = 0; i < f->o.set.nr && !ret; i++)
		ret = take_set(f, f->o.set.items[i]);
	for (size_t i = 0; i < f->nr && !ret; i++) {
		struct candidate *c = &f->candidates[i];
		double p[PARAMETERS_MAX] = { 0 };

		technique_standard(c->technique, 1, p);
		for (unsigned int k = 0; k < c->technique->nr_parameters; k++)
			p[k] = c->fixed[k] ? c->parameters[k] : p[k];
		ret = technique_check(c->technique, p, &f->err);
	}
	if (!ret)
		ret = take_s3(f);
	return ret ? ret : take_objective(f);
}

/* A measurement store (path NULL): unless told otherwise its factors are the predictors. */
static int read_table(struct fit *f, const char *path)
{
	struct options *o = &f->o;
	int ret;

	if (path)
		return table_read_said(&f->table, path, f->cli, &f->err);
	ret = results_table(&f->table, o->db, o->campaign, o->response, &f->names, &f->nr_names,
			    &f->err);
	if (ret || o->predictors.nr)
		return ret;
	if (f->nr_names > WORD_LIST_MAX)
		return err_set(&f->err, EINVAL, "%s: more than %d factors: name --predictors",
			       o->db, WORD_LIST_MAX);
	for (size_t i = 0; i < f->nr_names; i++)
		o->predictors.items[i] = f->names[i];
	o->predictors.nr = f->nr_names;
	return 0;
}

static int read_data(struct fit *f, const char *path)
{
	int ret = read_table(f, path);
	const struct options *o = &f->o;
	struct dataset_spec spec = { .response = o->response,
				     .predictors = o->predictors.items,
				     .nr_predictors = o->predictors.nr,
				     .factors = o->factors.items,
				     .nr_factors = o->factors.nr,
				     .log = o->log,
				     .offset = o->offset,
				     .weight_column = o->weight,
				     .fold_column = o->fold_column };

	if (!ret)
		ret = dataset_read(&f->data, &f->schema, &f->table, &spec, &f->err);
	if (ret || o->fold_column)
		return ret;
	if (o->folds > f->data.nr_rows)
		return err_set(&f->err, EINVAL, "%s: %zu rows are too few for %llu folds",
			       path ? path : o->db, f->data.nr_rows, (unsigned long long)o->folds);
	return dataset_make_folds(&f->data, (uint32_t)o->folds, o->seed, &f->err);
}

static void on_progress(void *ctx, const struct technique *t, uint64_t done, uint64_t bound)
{
	struct fit *f = ctx;

	if (done) {
		progress_update(&f->progress, done);
		return;
	}
	cli_note(f->cli, "%s: up to %llu settings of its parameters are tried, each on %u %s",
		 t->name, (unsigned long long)bound,
		 f->config.nr_bootstraps ? f->config.nr_bootstraps : f->data.nr_folds,
		 f->config.nr_bootstraps ? "bootstrap samples" : "folds");
	progress_begin(&f->progress, t->name, bound, f->cli->quiet);
}

/* What a technique's search may take: its standard sets' time, and how little each set costs. */
static bool within_budget(struct fit *f, const struct candidate *c, double spent_s)
{
	struct select_config quick = f->config;
	struct candidate standard = { .technique = c->technique };
	double estimate_s;

	if (!f->all || !f->o.budget_s)
		return true;
	quick.standard = true;
	quick.progress = NULL;
	if (select_candidate(&standard, &quick))
		return true; /* the error shows when it is fitted in earnest */
	estimate_s = standard.seconds * (f->config.standard ? 1 : c->technique->search_ratio);
	candidate_release(&standard);
	if (spent_s + estimate_s <= f->o.budget_s)
		return true;
	cli_note(f->cli, "%s: left out, it may take %.0f s of a budget of %.0f s",
		 c->technique->name, estimate_s, f->o.budget_s);
	return false;
}

static void explain_failure(struct fit *f, const struct candidate *c, int ret)
{
	const char *name = c->technique->name;

	if (ret == -EFBIG)
		err_set(&f->err, EINVAL,
			"%s: the table has %zu rows, and this technique learns from at most %zu: "
			"choose rows with --where, or another technique",
			name, f->data.nr_rows, c->technique->most_rows);
	else
		err_set(&f->err, ret == -ERANGE ? EINVAL : -ret, "%s: %s", name,
			ret == -ERANGE	? "the numbers are too large to compute with"
			: ret == -E2BIG ? "more than 4096 terms: fewer variables, or lrm"
					: strerror(-ret));
}

static int fit_all(struct fit *f)
{
	double spent_s = 0;
	size_t kept = 0;
	int ret = 0;

	for (size_t i = 0; i < f->nr && !ret; i++) {
		struct candidate *c = &f->candidates[i];

		if (!within_budget(f, c, spent_s))
			continue;
		f->config.known = f->candidates;
		f->config.nr_known = kept;
		ret = select_candidate(c, &f->config);
		progress_end(&f->progress);
		spent_s += c->seconds;
		if (ret == -E2BIG && f->all) {
			cli_note(f->cli, "%s: left out, it would have more than 4096 terms",
				 c->technique->name);
			candidate_release(c);
			ret = 0;
			continue;
		}
		if (ret && !f->err.code)
			explain_failure(f, c, ret);
		if (kept != i) {
			f->candidates[kept] = *c;
			memset(c, 0, sizeof(*c));
		}
		kept++;
	}
	f->nr = kept;
	return ret;
}

static int make_model(struct fit *f, size_t best, struct model *m)
{
	struct candidate *c = &f->candidates[best];
	int ret = model_fit(m, c->technique, c->parameters, &f->schema, &f->data);
	json_t *root;

	if (ret)
		return ret;
	candidate_give(c, m);
	if (!f->o.output)
		return 0;
	root = model_json(m);
	ret = root ? model_file_write(f->o.output, root, &f->err) : -ENOMEM;
	json_decref(root);
	return ret;
}

static int write_log(struct fit *f)
{
	FILE *out = f->o.s3_log ? fopen(f->o.s3_log, "w") : NULL;
	int bad;

	if (!f->o.s3_log)
		return 0;
	if (!out)
		return err_set(&f->err, errno, "%s: %s", f->o.s3_log, strerror(errno));
	fit_log(f->candidates, f->nr, out);
	bad = ferror(out) | fclose(out);
	return bad ? err_set(&f->err, EIO, "%s: cannot be written in full", f->o.s3_log) : 0;
}

static int cmd_fit_perform(struct fit *f, const char *path)
{
	struct fit_summary summary = { .candidates = f->candidates };
	struct answer *a = NULL;
	struct model m = { 0 };
	int ret = take_options(f);

	if (!ret)
		ret = read_data(f, path);
	f->config.schema = &f->schema;
	f->config.data = &f->data;
	if (!ret)
		ret = fit_all(f);
	if (!ret && !f->nr)
		ret = err_set(&f->err, EINVAL, "--budget: no technique fits into it");
	if (!ret)
		ret = write_log(f);
	if (ret)
		return ret;
	summary.nr = f->nr;
	summary.best = select_best(f->candidates, f->nr, f->o.within);
	summary.schema = &f->schema;
	summary.data = &f->data;
	summary.output = f->o.output;
	ret = make_model(f, summary.best, &m);
	if (!ret && f->o.report)
		ret = model_page_save(&m, f->o.report, &f->err);
	if (!ret) {
		a = fit_answer(&summary, &m);
		ret = cli_show(f->cli, a, NULL, &f->err);
	}
	answer_free(a);
	model_release(&m);
	return ret;
}

static void cmd_fit_release(struct fit *f)
{
	for (size_t i = 0; i < f->nr; i++)
		candidate_release(&f->candidates[i]);
	dataset_release(&f->data);
	schema_release(&f->schema);
	table_release(&f->table);
	results_names_free(f->names, f->nr_names);
	free(f);
}

static int cmd_fit_update(struct fit *f, const char *path)
{
	struct fit_update u = { .cli = f->cli,
				.model = f->o.update,
				.table = path,
				.db = f->o.db,
				.campaign = f->o.campaign,
				.weight = f->o.weight,
				.output = f->o.output,
				.report = f->o.report };

	return fit_update(&u, &f->err);
}

static struct fit *fit_new(struct cli *cli)
{
	struct fit *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->cli = cli;
	f->o.folds = 10;
	f->o.seed = 1;
	f->o.within = 0.02;
	f->config = (struct select_config){
		.splits = 4, .explorations = 5, .iterations = 10, .progress = on_progress, .ctx = f
	};
	return f;
}

static int check_usage(struct cli *cli, const struct options *o)
{
	if (cli->argc != (o->db ? 0 : 1))
		return cli_usage(cli, "expected one table, CSV, or --db");
	if (o->campaign && !o->db)
		return cli_usage(cli, "--campaign is of --db");
	if (o->update && o->response)
		return cli_usage(cli, "--update: the model knows its response");
	if (!o->response && !o->update)
		return cli_usage(cli, "--response: expected the column to learn");
	if (o->quantile && !o->response)
		return cli_usage(cli, "--response-quantile: of which --response?");
	if (o->standard && o->s3)
		return cli_usage(cli, "--standard does not search: --s3 has no meaning with it");
	if (o->folds < 2 || o->folds > 1000000)
		return cli_usage(cli, "--folds: expected 2 to 1000000");
	if (!(o->within >= 0) || !(o->budget_s >= 0))
		return cli_usage(cli, "--select-within, --budget: expected 0 or more");
	if (o->threads > 1024)
		return cli_usage(cli, "--threads: expected at most 1024");
	return CLI_DONE;
}

static int cmd_fit_run(struct cli *cli)
{
	struct fit *f = fit_new(cli);
	struct options *o = f ? &f->o : NULL;
	int ret;

	if (!f)
		return CLI_FAILED;
	const struct cli_option options[] = {
		CLI_STRING("db", 0, "FILE", &o->db, "learn from a measurement store, not a table"),
		CLI_STRING("campaign", 0, "NAME", &o->campaign, "of --db, where there are several"),
		CLI_STRING("response", 'r', "Y", &o->response, "the column to learn"),
		CLI_STRING("response-quantile", 0, "Q", &o->quantile,
			   "learn that percentile's column: with read_s, 95 is read_p95_s"),
		CLI_FLAG("log", 0, &o->log,
			 "learn its logarithm: errors count by their ratio; needs numbers above 0"),
		CLI_STRING("offset", 0, "A*B", &o->offset, "--log: what it is proportional to"),
		CLI_LIST("predictors", 'p', "A,B,...", &o->predictors,
			 "columns to learn from; default all others"),
		CLI_LIST("factors", 0, "B,...", &o->factors,
			 "numeric columns to take as factors; columns of text are"),
		CLI_LIST("techniques", 't', "T,...", &o->techniques,
			 "lrm lrm-ia mars mars-ia cart m5 cubist ensemble, or auto, the default: all of "
			 "these; mars-bag and gp by name only"),
		CLI_FLAG("standard", 0, &o->standard, "standard parameters, no search"),
		CLI_STRING("s3", 0, "K=V,...", &o->s3,
			   "splits=4,explorations=5,iterations=10[,improvement=0.001]"),
		CLI_LIST("set", 0, "T.P=V", &o->set, "fix a parameter: mars-ia.nnodes=101"),
		CLI_U64("folds", 0, "K", &o->folds, "of the cross-validation, default 10"),
		CLI_U64("seed", 0, "N", &o->seed, "of the folds, default 1"),
		CLI_STRING("fold-column", 0, "NAME", &o->fold_column, "folds 1..k from the table"),
		CLI_STRING("weight-column", 0, "NAME", &o->weight, "weights of the rows, above 0"),
		CLI_STRING("objective", 0, "O", &o->objective, "folds, or bootstrap=N samples"),
		CLI_DOUBLE("select-within", 0, "SHARE", &o->within,
			   "take the simplest technique this near to the best, default 0.02"),
		CLI_U64("simplicity", 0, "1..5", &o->simplicity, "with auto: at least this simple"),
		CLI_DURATION("budget", 0, "T", &o->budget_s,
			     "with auto: leave out techniques that may take longer"),
		CLI_STRING("s3-log", 0, "FILE", &o->s3_log, "every set evaluated, as CSV"),
		CLI_U64("threads", 0, "N", &o->threads, "default one per processor"),
		CLI_STRING("update", 0, "MODEL", &o->update, "add the rows to a saved model"),
		CLI_STRING("output", 'o', "FILE", &o->output, "the model to write"),
		CLI_STRING("report", 0, "FILE", &o->report, "the model in pictures, an HTML page"),
		CLI_END,
	};

	if (!cli_parse(cli, options)) {
		free(f);
		return cli->status;
	}
	ret = check_usage(cli, o);
	if (!ret) {
		lsq_single_thread();
		ret = o->update ? cmd_fit_update(f, o->db ? NULL : cli->argv[0])
				: cmd_fit_perform(f, o->db ? NULL : cli->argv[0]);
		ret = cli_finish(cli, ret, &f->err, CLI_DONE);
	}
	cmd_fit_release(f);
	return ret;
}

const struct command command_fit = {
	.name = "fit",
	.summary = "regression models of a measurement table: optimize, select, save",
	.usage = "(TABLE.csv | --db FILE) --response Y [-o model.json]\n"
		 "(TABLE.csv | --db FILE) --update MODEL.json [-o new.json]",
	.example =
		"blkcast fit measurements.csv --response read_s --techniques mars-ia,cart -o m.json",
	.details =
		"Each technique's parameters are searched with S3 on the same folds; the simplest "
		"technique\nwithin --select-within of the best is fitted to all rows and written. "
		"--response takes any\ncolumn: one of means, or of a percentile.",
	.run = cmd_fit_run,
};
