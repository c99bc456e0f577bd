// SPDX-License-Identifier: Apache-2.0
/* fit_read: turns what a person chose into techniques, parameters and searches. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/learn/fit_run.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/measure/table_told.h"
#include "analyzer/measure/table_where.h"

static int fit_bad_option(struct fit *f, const char *option, const char *text)
{
	return err_set(&f->err, EINVAL, "%s: cannot read '%.80s'", option, text);
}

static int fit_add_technique(struct fit *f, const char *name)
{
	const struct technique *t = technique_find(name);
	char names[256] = "";

	for (size_t i = 0, used = 0; techniques[i]; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 techniques[i]->name);
	if (!t)
		return err_set(&f->err, EINVAL, "techniques: expected auto or some of %s; got '%s'",
			       names, name);
	for (size_t i = 0; i < f->nr; i++)
		if (f->candidates[i].technique == t)
			return 0;
	f->candidates[f->nr++].technique = t;
	return 0;
}

static int fit_take_techniques(struct fit *f)
{
	const struct word_list *list = &f->o.techniques;
	int ret = 0;

	f->all = !list->nr || (list->nr == 1 && strcmp(list->items[0], "auto") == 0);
	for (size_t i = 0; f->all && techniques[i]; i++)
		if (!techniques[i]->by_name && techniques[i]->simplicity >= (int)f->o.simplicity)
			f->candidates[f->nr++].technique = techniques[i];
	for (size_t i = 0; !f->all && i < list->nr && !ret; i++)
		ret = fit_add_technique(f, list->items[i]);
	if (!ret && !f->nr)
		ret = err_set(&f->err, EINVAL, "simplicity: no technique is that simple");
	return ret;
}

/* Reads a parameter of a technique: "mars-ia.nnodes=101". */
static int fit_take_set(struct fit *f, const char *text)
{
	const char *dot = strchr(text, '.'), *equals = dot ? strchr(dot, '=') : NULL;
	char *end;
	bool found = false;

	if (!equals)
		return err_set(&f->err, EINVAL,
			       "set: expected TECHNIQUE.PARAMETER=VALUE, got '%.80s'", text);
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
				return fit_bad_option(f, "set", text);
			c->fixed[p] = found = true;
		}
	}
	return found ? 0
		     : err_set(&f->err, EINVAL,
			       "set: '%.80s' names no parameter of a technique "
			       "that is fitted",
			       text);
}

/* Reads the settings of the search S3: "splits=4,explorations=5,iterations=10". */
static int fit_take_s3(struct fit *f)
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
			return fit_bad_option(f, "s3", f->o.s3);
		at += used + (at[used] == ',');
	}
	if (c->splits > 60 || !c->explorations || c->explorations > 1000 || c->iterations > 1000)
		return err_set(&f->err, EINVAL,
			       "s3: expected splits up to 60, explorations 1 to "
			       "1000, iterations up to 1000");
	return 0;
}

static int fit_take_objective(struct fit *f)
{
	int used = 0;

	if (!f->o.objective || strcmp(f->o.objective, "folds") == 0)
		return 0;
	if (sscanf(f->o.objective, "bootstrap=%u%n", &f->config.nr_bootstraps, &used) == 1 &&
	    !f->o.objective[used] && f->config.nr_bootstraps >= 2 &&
	    f->config.nr_bootstraps <= 1000)
		return 0;
	return err_set(&f->err, EINVAL,
		       "objective: expected folds or bootstrap=N (2 to 1000), got '%.40s'",
		       f->o.objective);
}

/*
 * Names the column of a quantile, which stands beside that of the mean: read_s and 99.9 make
 * read_p999_s.
 */
static int fit_take_quantile(struct fit *f)
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
			       "response-quantile: expected one like 95 or 99.9, got '%.40s'",
			       f->o.quantile);
	f->o.response = f->response;
	return 0;
}

int fit_take_options(struct fit *f)
{
	int ret = fit_take_quantile(f);

	f->config.standard = f->o.standard;
	f->config.nr_threads = f->o.threads;
	if (!ret)
		ret = fit_take_techniques(f);
	for (size_t i = 0; i < f->o.set.nr && !ret; i++)
		ret = fit_take_set(f, f->o.set.items[i]);
	for (size_t i = 0; i < f->nr && !ret; i++) {
		struct candidate *c = &f->candidates[i];
		double p[PARAMETERS_MAX] = { 0 };

		technique_standard(c->technique, 1, p);
		for (unsigned int k = 0; k < c->technique->nr_parameters; k++)
			p[k] = c->fixed[k] ? c->parameters[k] : p[k];
		ret = technique_check(c->technique, p, &f->err);
	}
	if (!ret)
		ret = fit_take_s3(f);
	return ret ? ret : fit_take_objective(f);
}

/*
 * The functions below read the table from which blkcast fit learns, out of a file or a measurement
 * store, and choose its rows.
 */

/* If there are several responses, none of them is a predictor of another one. */
static int fit_take_predictors(struct fit *f)
{
	struct fit_options *o = &f->o;

	if (o->responses.nr < 2 || o->predictors.nr)
		return 0;
	for (size_t c = 0; c < f->table.nr_columns; c++) {
		const char *name = f->table.columns[c].name;
		bool other = (o->weight && !strcmp(o->weight, name)) ||
			     (o->fold_column && !strcmp(o->fold_column, name)) ||
			     !strcmp(o->response, name);

		for (size_t i = 0; i < o->responses.nr; i++)
			other = other || !strcmp(o->responses.items[i], name);
		if (other)
			continue;
		if (o->predictors.nr == WORD_LIST_MAX)
			return err_set(&f->err, EINVAL,
				       "%s: more than %d columns: name the predictors",
				       f->table.source, WORD_LIST_MAX);
		o->predictors.items[o->predictors.nr++] = name;
	}
	return 0;
}

static int fit_choose_rows(struct fit *f)
{
	struct table_where_facts facts;
	int ret;

	if (!f->o.where)
		return 0;
	ret = table_where(&f->table, f->o.where, &facts, &f->err);
	if (ret) {
		err_prefix(&f->err, "where '%.80s'", f->o.where);
		return ret;
	}
	teller_note(f->teller, "where: %zu of %zu rows", facts.nr_kept, facts.nr_rows);
	if (facts.nr_missing)
		teller_note(f->teller, "where: %zu rows have no value of a column that it names",
			    facts.nr_missing);
	return 0;
}

static int fit_read_file(struct fit *f, const char *path)
{
	int ret = table_read_told(&f->table, path, f->teller, &f->err);

	return ret ? ret : fit_choose_rows(f);
}

/*
 * Reads the table, or a measurement store where path is NULL. The factors of a store are the
 * predictors unless the options name others.
 */
static int fit_read_table(struct fit *f, const char *path)
{
	struct fit_options *o = &f->o;
	int ret;

	if (path) {
		ret = f->table.source ? 0 : fit_read_file(f, path);
		return ret ? ret : fit_take_predictors(f);
	}
	ret = results_table(&f->table, o->db, o->campaign, o->response, &f->names, &f->nr_names,
			    &f->err);
	if (!ret)
		ret = fit_choose_rows(f);
	if (ret || o->predictors.nr)
		return ret;
	if (f->nr_names > WORD_LIST_MAX)
		return err_set(&f->err, EINVAL, "%s: more than %d factors: name the predictors",
			       o->db, WORD_LIST_MAX);
	for (size_t i = 0; i < f->nr_names; i++)
		o->predictors.items[i] = f->names[i];
	o->predictors.nr = f->nr_names;
	return 0;
}

int fit_read_data(struct fit *f, const char *path)
{
	int ret = fit_read_table(f, path);
	const struct fit_options *o = &f->o;
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
