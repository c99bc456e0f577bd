// SPDX-License-Identifier: Apache-2.0
#include "analyzer/learn/fit_run.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/measure/results.h"
#include "analyzer/models/num/ranks.h"
#include "analyzer/models/regression/use/fit_answer.h"
#include "analyzer/report/page/model_page.h"
#include "analyzer/whatif/predict/origins.h"
#include "base/system/output_file.h"
#include "formats/model_file.h"

static void fit_progress(void *ctx, const struct technique *t, uint64_t done, uint64_t bound)
{
	struct fit *f = ctx;

	if (done) {
		progress_update(&f->progress, done);
		return;
	}
	teller_note(f->teller,
		    "%s: up to %llu settings of its parameters are tried, each on %zu %s", t->name,
		    (unsigned long long)bound,
		    f->config.nr_bootstraps ? f->config.nr_bootstraps : f->data.nr_folds,
		    f->config.nr_bootstraps ? "bootstrap samples" : "folds");
	progress_begin(&f->progress, t->name, bound, f->teller->quiet);
}

/*
 * Returns whether a technique's search fits the time that is left, by the time of its standard
 * settings and the cost of each further one.
 */
static bool fit_within_budget(struct fit *f, const struct candidate *c, double spent_s)
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
	teller_note(f->teller, "%s: left out, it may take %.0f s of a budget of %.0f s",
		    c->technique->name, estimate_s, f->o.budget_s);
	return false;
}

static void fit_explain(struct fit *f, const struct candidate *c, int ret)
{
	const char *name = c->technique->name;

	if (ret == -EFBIG)
		err_set(&f->err, EINVAL,
			"%s: the table has %zu rows, and this technique learns from at most %zu: "
			"choose rows, or another technique",
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

		if (!fit_within_budget(f, c, spent_s))
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
			teller_note(f->teller,
				    ret == -E2BIG
					    ? "%s: left out, it would have more than 4096 terms"
					    : "%s: left out, the table has too many rows for it",
				    c->technique->name);
			candidate_release(c);
			ret = 0;
			continue;
		}
		if (ret && !f->err.code)
			fit_explain(f, c, ret);
		if (kept != i) {
			f->candidates[kept] = *c;
			memset(c, 0, sizeof(*c));
		}
		kept++;
	}
	f->nr = kept;
	return ret;
}

static int fit_make_model(struct fit *f, size_t best, struct model *m)
{
	struct candidate *c = &f->candidates[best];
	int ret = model_fit(m, c->technique, c->parameters, &f->schema, &f->data);
	json_t *root;

	if (ret)
		return ret;
	candidate_give(c, m);
	if (!f->o.output)
		return 0;
	ret = model_json(m, &root, &f->err);
	if (ret)
		err_prefix(&f->err, "%s", f->o.output);
	else
		ret = origins_keep(root, f->o.db, f->o.campaign, &f->err);
	if (!ret)
		ret = model_file_write(f->o.output, root, &f->err);
	json_decref(root);
	return ret;
}

static int fit_write_log(struct fit *f)
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

/* The parameter out receives the answer, which the caller shows and frees. */
static int fit_one(struct fit *f, const char *path, struct answer **out)
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
		return err_set(&f->err, EINVAL, "budget: no technique fits into it");
	ret = fit_write_log(f);
	if (ret)
		return ret;
	summary.nr = f->nr;
	summary.best = select_best(f->candidates, f->nr, f->o.within);
	summary.schema = &f->schema;
	summary.data = &f->data;
	summary.output = f->o.output;
	ret = fit_make_model(f, summary.best, &m);
	if (!ret)
		ret = origins_rows(f->teller->maker.origins, path, f->o.db, f->o.campaign, &f->err);
	if (!ret && f->o.report)
		ret = model_page_save(&m, f->o.report, &f->teller->maker, &f->err);
	if (!ret)
		*out = fit_answer(&summary, &m);
	model_release(&m);
	return ret;
}

void fit_free(struct fit *f)
{
	for (size_t i = 0; i < f->nr; i++)
		candidate_release(&f->candidates[i]);
	dataset_release(&f->data);
	schema_release(&f->schema);
	table_release(&f->table);
	results_names_free(f->names, f->nr_names);
	free(f);
}

struct fit *fit_new(const struct teller *teller)
{
	struct fit *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->teller = teller;
	f->config = (struct select_config){
		.splits = 4, .explorations = 5, .iterations = 10, .progress = fit_progress, .ctx = f
	};
	return f;
}

/*
 * Makes "models/m-read_s.json" from "models/m.json" for the response read_s. The caller owns the
 * result. Returns NULL where path is NULL.
 */
static char *fit_name_of_response(const char *path, const char *response)
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
	struct fit *f = fit_new(all->teller);
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
	f->o.output = names[0] = fit_name_of_response(all->o.output, f->o.response);
	f->o.report = names[1] = fit_name_of_response(all->o.report, f->o.response);
	f->o.s3_log = names[2] = fit_name_of_response(all->o.s3_log, f->o.response);
	ret = fit_one(f, path, out);
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
	fit_free(f);
	for (size_t k = 0; k < 3; k++)
		free(names[k]);
	return ret;
}

int fit_responses(struct fit *f, const char *path, struct answer **answers)
{
	struct table table = { 0 };
	size_t nr = f->o.responses.nr;
	int ret = 0;

	for (size_t i = 0; i < nr; i++) {
		ret = nr == 1 ? fit_one(f, path, &answers[0])
			      : fit_one_response(f, &table, i, path, &answers[i]);
		if (ret)
			break;
	}
	table_release(&table);
	return ret;
}
