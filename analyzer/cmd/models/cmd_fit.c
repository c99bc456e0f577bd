// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/answer/provenance.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/cmd/models/fit_state.h"
#include "analyzer/measure/results.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/measure/table_where.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/models/num/ranks.h"
#include "analyzer/models/regression/choice/model_update.h"
#include "analyzer/models/regression/use/fit_answer.h"
#include "analyzer/report/page/model_page.h"
#include "analyzer/whatif/predict/origins.h"
#include "base/data/json.h"
#include "base/system/output_file.h"
#include "base/text/err.h"
#include "formats/model_file.h"

/*
 * fit_update: blkcast fit --update: tests whether new rows fit a saved model, and fits the model to
 * all rows.
 */

struct fit_update {
	const struct cli *cli;
	const char *model; /* path of the model file to read */
	const char *table; /* path of the rows; NULL: the rows of db */
	const char *db, *campaign;
	const char *weight;	     /* column of the weights; may be NULL */
	const char *where;	     /* which rows to take; may be NULL */
	const char *output, *report; /* files to write; may be NULL */
};

static int fit_update_print(const struct fit_update *u, const struct update_facts *facts,
			    const struct model *m)
{
	if (!u->cli->json) {
		printf("%zu rows added, %zu in all; %zu outside the training range\n",
		       facts->nr_rows, m->data.nr_rows, facts->nr_outside);
		if (isfinite(facts->ks_p))
			printf("%s: %.0f %% within the interval of 90 %% (errors alike: p %.2g)\n",
			       facts->drift ? "drift" : "they fit", 100 * facts->inside_ratio,
			       facts->ks_p);
		else
			printf("too few rows to tell a drift\n");
		printf("RMSE on held-out rows %.4g\n", m->quality.cv_rmse);
		return 0;
	}
	return cli_show_json(json_pack(
		"{s:s, s:I, s:I, s:I, s:o, s:o, s:b, s:f, s:o}", "schema", "blkcast.update/1",
		"rows_added", (json_int_t)facts->nr_rows, "rows", (json_int_t)m->data.nr_rows,
		"outside", (json_int_t)facts->nr_outside, "inside_ratio",
		json_number(facts->inside_ratio), "ks_p", json_number(facts->ks_p), "drift",
		facts->drift, "cv_rmse", m->quality.cv_rmse, "provenance",
		provenance_json(&u->cli->teller.maker)));
}

static int fit_update_read(const struct fit_update *u, struct model *m, struct err *err)
{
	const char *kind;
	json_t *root = NULL;
	int ret = model_file_read(u->model, &root, &kind, err);

	if (ret)
		return ret;
	if (strcmp(kind, "regression") != 0) {
		ret = err_set(err, EINVAL, "%s: kind: expected 'regression', got '%.40s'", u->model,
			      kind);
	} else {
		ret = model_from_json(m, root, err);
		if (ret)
			err_prefix(err, "%s", u->model);
	}
	json_decref(root);
	return ret;
}

static int fit_update_write(const struct fit_update *u, const struct model *m, struct err *err)
{
	json_t *root;
	int ret;

	if (!u->output)
		return 0;
	root = model_json(m);
	ret = root ? origins_carry(root, u->model, err) : -ENOMEM;
	if (!ret)
		ret = model_file_write(u->output, root, err);
	json_decref(root);
	return ret;
}

/* Prints what the new rows show. Returns 0, or -errno with a message. */
static int fit_update(const struct fit_update *u, struct err *err)
{
	struct model old = { 0 }, new = { 0 };
	struct update_facts facts;
	struct table table = { 0 };
	struct table_where_facts chosen;
	int ret = fit_update_read(u, &old, err);

	if (ret)
		goto out;
	ret = u->table ? table_read(&table, u->table, err)
		       : results_table(&table, u->db, u->campaign, old.schema.response, NULL, NULL,
				       err);
	if (ret)
		goto out;
	if (u->where) {
		ret = table_where(&table, u->where, &chosen, err);
		if (ret)
			err_prefix(err, "--where '%.80s'", u->where);
	}
	if (ret)
		goto out;
	ret = model_update(&new, &old, &table, u->weight, &facts, err);
	if (ret)
		goto out;
	ret = fit_update_write(u, &new, err);
	if (!ret)
		ret = origins_model(u->cli->teller.maker.origins, u->model, err);
	if (!ret)
		ret = origins_rows(u->cli->teller.maker.origins, u->table, u->db, u->campaign, err);
	if (!ret && u->report)
		ret = model_page_save(&new, u->report, &u->cli->teller.maker, err);
	if (!ret)
		ret = fit_update_print(u, &facts, &new);
out:
	table_release(&table);
	model_release(&old);
	model_release(&new);
	return ret;
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
	progress_begin(&f->progress, t->name, bound, f->cli->teller.quiet);
}

/*
 * Returns whether a technique's search fits the time that is left, by the time of its standard
 * settings and the cost of each further one.
 */
static bool within_budget(struct fit *f, const struct candidate *c, double spent_s)
{
	struct select_config quick = f->config;
	struct candidate standard = { .technique = c->technique };
	double estimate_s;

	if (!f->all || !f->o.budget_s)
		return true;
	quick.standard = true;
	quick.progress = NULL;
	quick.checkpoint = NULL; /* a recorded evaluation takes no time */
	if (select_candidate(&standard, &quick))
		return true; /* the error will be reported when the technique is fitted */
	estimate_s = standard.seconds * (f->config.standard ? 1 : c->technique->search_ratio);
	candidate_release(&standard);
	/* Every rank has a clock of its own, and all have to decide alike. */
	if (ranks_agree(&estimate_s, sizeof(estimate_s)))
		return true;
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
		bool left_out;

		if (!within_budget(f, c, spent_s))
			continue;
		f->config.known = f->candidates;
		f->config.nr_known = kept;
		ret = select_candidate(c, &f->config);
		progress_end(&f->progress);
		left_out = f->all && (ret == -E2BIG || ret == -EFBIG);
		if (!ret || left_out) {
			int agreed = ranks_agree(&c->seconds, sizeof(c->seconds));

			left_out &= !agreed;
			ret = agreed ? agreed : ret;
		}
		spent_s += c->seconds;
		if (left_out) {
			cli_note(f->cli,
				 ret == -E2BIG ? "%s: left out, it would have more than 4096 terms"
					       : "%s: left out, the table has too many rows for it",
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
	ret = root ? origins_keep(root, f->o.db, f->o.campaign, &f->err) : -ENOMEM;
	if (!ret)
		ret = model_file_write(f->o.output, root, &f->err);
	json_decref(root);
	return ret;
}

static int write_log(struct fit *f)
{
	struct output_file file;
	int ret;

	if (!f->o.s3_log)
		return 0;
	ret = output_file_begin(&file, f->o.s3_log, 0666, &f->err);
	if (ret)
		return ret;
	fit_log(f->candidates, f->nr, file.out);
	return output_file_end(&file, 0, &f->err);
}

/* *out receives the answer, which the caller shows and frees. */
static int cmd_fit_perform(struct fit *f, const char *path, struct answer **out)
{
	struct fit_summary summary = { .candidates = f->candidates };
	struct model m = { 0 };
	int ret = fit_take_options(f);

	if (ret)
		return ret;
	ret = fit_read_data(f, path);
	if (ret)
		return ret;
	f->config.schema = &f->schema;
	f->config.data = &f->data;
	ret = fit_all(f);
	if (ret)
		return ret;
	if (!f->nr)
		return err_set(&f->err, EINVAL, "--budget: no technique fits into it");
	ret = write_log(f);
	if (ret)
		return ret;
	summary.nr = f->nr;
	summary.best = select_best(f->candidates, f->nr, f->o.within);
	summary.schema = &f->schema;
	summary.data = &f->data;
	summary.output = f->o.output;
	ret = make_model(f, summary.best, &m);
	if (!ret)
		ret = origins_rows(f->cli->teller.maker.origins, path, f->o.db, f->o.campaign,
				   &f->err);
	if (!ret && f->o.report)
		ret = model_page_save(&m, f->o.report, &f->cli->teller.maker, &f->err);
	if (!ret)
		*out = fit_answer(&summary, &m);
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
				.where = f->o.where,
				.output = f->o.output,
				.report = f->o.report };

	return fit_update(&u, &f->err);
}

static struct fit *fit_new(const struct cli *cli)
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

/*
 * Makes "models/m-read_s.json" from "models/m.json" for the response read_s. The caller owns the
 * result. Returns NULL where path is NULL.
 */
static char *name_of_response(const char *path, const char *response)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *base = slash ? slash + 1 : path;
	const char *dot = base ? strrchr(base, '.') : NULL;
	int stem = path ? (int)(dot && dot != base ? dot - path : (ptrdiff_t)strlen(path)) : 0;
	char *name = NULL;

	if (!path || asprintf(&name, "%.*s-%s%s", stem, path, response, path + stem) < 0)
		return NULL;
	for (char *at = name + stem + 1; at < name + stem + 1 + strlen(response); at++)
		if (!isalnum((unsigned char)*at) && !strchr("_.-", *at))
			*at = '_';
	return name;
}

/*
 * Fits one of several responses. The names of its files contain the response. The table is then
 * passed on to the next response.
 */
static int fit_one_response(struct fit *all, struct table *table, size_t i, const char *path,
			    struct answer **out)
{
	struct fit *f = fit_new(all->cli);
	char *names[3] = { NULL };
	int ret;

	if (!f)
		return -ENOMEM;
	f->o = all->o;
	f->o.response = f->o.responses.items[i];
	f->config = all->config;
	f->config.ctx = f;
	f->table = *table;
	*table = (struct table){ 0 };
	f->o.output = names[0] = name_of_response(all->o.output, f->o.response);
	f->o.report = names[1] = name_of_response(all->o.report, f->o.response);
	f->o.s3_log = names[2] = name_of_response(all->o.s3_log, f->o.response);
	ret = cmd_fit_perform(f, path, out);
	if (ret && !f->err.code)
		err_set(&f->err, -ret, "%s", strerror(-ret));
	if (ret) {
		all->err = f->err;
		err_prefix(&all->err, "%s", all->o.responses.items[i]);
	}
	if (path) {
		*table = f->table;
		f->table = (struct table){ 0 };
	}
	cmd_fit_release(f);
	for (size_t k = 0; k < 3; k++)
		free(names[k]);
	return ret;
}

/* Prints one text after the other, or, as JSON, one list of all answers. */
static int fit_show(struct fit *f, struct answer **answers, size_t nr)
{
	json_t *list = nr > 1 && f->cli->json ? json_array() : NULL;
	int ret;

	for (size_t i = 0; i < nr; i++) {
		struct answer *a = answers[i];

		if (list) {
			cli_show_provenance(f->cli, a);
			json_array_append_new(list, answer_json(a));
			continue;
		}
		if (i)
			putchar('\n');
		answers[i] = NULL;
		ret = cli_show(f->cli, a, NULL, &f->err);
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

static int fit_responses(struct fit *f, const char *path)
{
	struct answer *answers[WORD_LIST_MAX] = { NULL };
	struct table table = { 0 };
	size_t nr = f->o.responses.nr;
	int ret = 0;

	for (size_t i = 0; i < nr; i++) {
		ret = nr == 1 ? cmd_fit_perform(f, path, &answers[0])
			      : fit_one_response(f, &table, i, path, &answers[i]);
		if (ret)
			goto out;
	}
	ret = fit_show(f, answers, nr);
out:
	for (size_t i = 0; i < nr; i++)
		answer_free(answers[i]);
	table_release(&table);
	return ret;
}

static int check_usage(struct cli *cli, const struct fit_options *o)
{
	if (cli->argc != (o->db ? 0 : 1))
		return cli_usage(cli, "expected one table, CSV, or --db");
	if (o->campaign && !o->db)
		return cli_usage(cli, "--campaign is of --db");
	if (o->update && o->response)
		return cli_usage(cli, "--update: the model knows its response");
	if (!o->response && !o->update)
		return cli_usage(cli, "--response: expected the column to learn");
	if (o->quantile && o->responses.nr > 1)
		return cli_usage(cli, "--response-quantile: name one --response");
	if (o->quantile && !o->response)
		return cli_usage(cli, "--response-quantile: of which --response?");
	if (o->standard && o->s3)
		return cli_usage(cli, "--standard does not search: --s3 has no meaning with it");
	if (o->folds < 2 || o->folds > 1000000)
		return cli_usage(cli, "--folds: expected 2 to 1000000");
	if (!(o->within >= 0) || !(o->budget_s >= 0))
		return cli_usage(cli, "--select-within, --budget: expected 0 or more");
	if (o->checkpoint && (o->update || o->budget_s > 0))
		return cli_usage(cli, "--checkpoint: has no meaning with %s",
				 o->update ? "--update, which does not search"
					   : "--budget, whose answer depends on the time it took");
	if (o->threads > 1024)
		return cli_usage(cli, "--threads: expected at most 1024");
	return CLI_DONE;
}

/* path is the path of the table, or NULL. Returns the exit status. */
static int fit_and_show(struct fit *f, const char *path)
{
	int ret;

	lsq_single_thread();
	ret = f->o.checkpoint
		      ? checkpoint_open(&f->config.checkpoint, f->o.checkpoint, "fit", &f->err)
		      : 0;
	if (ret)
		return cli_finish(f->cli, ret, &f->err, CLI_DONE);
	ret = f->o.update ? cmd_fit_update(f, path) : fit_responses(f, path);
	checkpoint_close(f->config.checkpoint);
	return cli_finish(f->cli, ret, &f->err, CLI_DONE);
}

static int cmd_fit_run(struct cli *cli)
{
	struct fit *f = fit_new(cli);
	struct fit_options *o = f ? &f->o : NULL;
	int ret;

	if (!f)
		return CLI_FAILED;
	const struct cli_option options[] = {
		CLI_STRING("db", 0, "FILE", &o->db, "learn from a measurement store, not a table"),
		CLI_STRING("campaign", 0, "NAME", &o->campaign, "of --db, where there are several"),
		CLI_LIST("response", 'r', "Y,...", &o->responses,
			 "the column to learn; of several each has a model, and files of its own"),
		CLI_STRING("where", 0, "EXPR", &o->where,
			   "rows for which it holds: 'threads <= 8 && pattern == random'"),
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
			 "lrm lrm-ia mars mars-ia cart m5 cubist ensemble gp stack, or auto, the "
			 "default: all of these; mars-bag by name only"),
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
		CLI_STRING("checkpoint", 0, "FILE", &o->checkpoint,
			   "keep what was evaluated there, and go on from it after a kill"),
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
	o->response = o->responses.nr ? o->responses.items[0] : NULL;
	ret = check_usage(cli, o);
	if (!ret)
		ret = fit_and_show(f, o->db ? NULL : cli->argv[0]);
	cmd_fit_release(f);
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
