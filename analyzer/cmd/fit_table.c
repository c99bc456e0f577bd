// SPDX-License-Identifier: Apache-2.0
/*
 * This file reads the table from which blkcast fit learns, out of a file or a measurement store,
 * and chooses its rows.
 */
#include <errno.h>
#include <string.h>

#include "analyzer/cmd/fit_state.h"
#include "analyzer/cmd/table_where.h"
#include "analyzer/cmd/set_table.h"
#include "analyzer/measure/results_table.h"

/* Where there are several responses, none of them is a predictor of another one. */
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
				       "%s: more than %d columns: name --predictors",
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
		err_prefix(&f->err, "--where '%.80s'", f->o.where);
		return ret;
	}
	cli_note(f->cli, "--where: %zu of %zu rows", facts.nr_kept, facts.nr_rows);
	if (facts.nr_missing)
		cli_note(f->cli, "--where: %zu rows have no value of a column that it names",
			 facts.nr_missing);
	return 0;
}

static int fit_read_file(struct fit *f, const char *path)
{
	int ret = table_read_said(&f->table, path, f->cli, &f->err);

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
		return err_set(&f->err, EINVAL, "%s: more than %d factors: name --predictors",
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
