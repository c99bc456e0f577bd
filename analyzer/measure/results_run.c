// SPDX-License-Identifier: Apache-2.0
/* This file stores and finds the configurations and runs of the measurement store. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/measure/results_sql.h"

static int64_t configuration_id(struct results *r, int64_t campaign, size_t number)
{
	char sql[160];

	snprintf(sql, sizeof(sql),
		 "SELECT id FROM configuration WHERE campaign = %lld AND number = %zu",
		 (long long)campaign, number);
	return results_number(r, sql, 0);
}

static int put_level(struct results *r, int64_t id, size_t at, const struct factor *f, double cell,
		     struct err *err)
{
	bool word = f->nr_levels && f->levels[(size_t)cell].word;
	double number = word ? 0.0 / 0.0 : f->nr_levels ? f->levels[(size_t)cell].value : cell;
	struct buf text;
	int ret;

	buf_init(&text);
	ret = factor_cell_text(f, cell, &text);
	if (ret)
		goto out;
	ret = buf_put_u8(&text, 0);
	if (ret)
		goto out;
	ret = results_insert(r, NULL, err, "INSERT INTO level VALUES (?, ?, ?, ?)", "iidt", id,
			     (int64_t)at, number, (char *)text.data);
out:
	buf_release(&text);
	return ret;
}

int results_put_configuration(struct results *r, int64_t campaign, size_t number,
			      const struct factors *f, const double *cells, struct err *err)
{
	int64_t id;
	int ret;

	if (configuration_id(r, campaign, number))
		return 0;
	ret = results_exec(r, "BEGIN IMMEDIATE", err);
	if (ret)
		return ret;
	ret = results_insert(r, &id, err,
			     "INSERT INTO configuration (campaign, number) VALUES (?, ?)", "ii",
			     campaign, (int64_t)number);
	if (ret)
		goto out;
	for (size_t i = 0; i < f->nr; i++) {
		ret = put_level(r, id, i, &f->items[i], cells[i], err);
		if (ret)
			goto out;
	}
out:
	return results_end(r, ret, err);
}

static int take_cell(struct results *r, const struct factor *f, sqlite3_stmt *s, double *cell,
		     struct err *err)
{
	const char *text = (const char *)sqlite3_column_text(s, 2);

	if (!f->nr_levels) {
		*cell = sqlite3_column_double(s, 1);
		return 0;
	}
	for (size_t i = 0; i < f->nr_levels; i++)
		if (text && strcmp(f->levels[i].text, text) == 0) {
			*cell = (double)i;
			return 0;
		}
	return err_set(err, EINVAL, "%s: level '%.40s' of factor '%s' is not in the plan", r->path,
		       text ? text : "", f->name);
}

int results_configurations(struct results *r, int64_t campaign, const struct factors *f,
			   struct configurations *c, struct err *err)
{
	sqlite3_stmt *s = NULL;
	double *cells = calloc(f->nr + 1, sizeof(*cells));
	int ret = cells ? results_prepare(
				  r, &s, err,
				  "SELECT l.position, l.number, l.text FROM configuration c "
				  "JOIN level l ON l.configuration = c.id WHERE c.campaign = ? "
				  "ORDER BY c.number, l.position",
				  "i", campaign)
			: -ENOMEM;

	if (ret)
		goto out;
	while (sqlite3_step(s) == SQLITE_ROW) {
		size_t at = (size_t)sqlite3_column_int64(s, 0);

		if (at >= f->nr) {
			ret = err_set(err, EINVAL, "%s: more factors than the plan has", r->path);
			goto out;
		}
		ret = take_cell(r, &f->items[at], s, &cells[at], err);
		if (ret)
			goto out;
		if (at + 1 == f->nr)
			ret = configurations_add(c, f->nr, cells);
		if (ret)
			goto out;
	}
out:
	sqlite3_finalize(s);
	free(cells);
	return ret;
}

char results_run_status(struct results *r, int64_t campaign, size_t number, unsigned int repetition)
{
	char sql[200];

	snprintf(sql, sizeof(sql),
		 "SELECT unicode(status) FROM run WHERE configuration = %lld AND repetition = %u",
		 (long long)configuration_id(r, campaign, number), repetition);
	return (char)results_number(r, sql, 0);
}

static int put_readings(struct results *r, int64_t run, const struct readings *readings,
			struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < readings->nr; i++) {
		const struct reading *one = &readings->items[i];
		unsigned int nr = 0;
		double rse = one->interval ? 0 : readings_rse(readings, one->name, &nr);

		ret = one->interval
			      ? results_insert(
					r, NULL, err,
					"INSERT OR REPLACE INTO interval VALUES (?, ?, ?, ?)",
					"iitd", run, (int64_t)one->interval, one->name, one->value)
			      : results_insert(
					r, NULL, err,
					"INSERT OR REPLACE INTO metric VALUES (?, ?, ?, ?, ?)",
					"itddi", run, one->name, one->value, rse, (int64_t)nr);
		if (ret)
			return ret;
	}
	return 0;
}

static int put_artifacts(struct results *r, int64_t run, const struct results_run *what,
			 struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < what->nr_artifacts; i++) {
		const struct results_artifact *a = &what->artifacts[i];
		sqlite3_stmt *s;

		ret = results_prepare(r, &s, err,
				      "INSERT OR REPLACE INTO artifact VALUES (?, ?, ?, ?)", "itt",
				      run, a->target, a->kind);
		if (ret)
			break;
		sqlite3_bind_text64(s, 4, a->content ? a->content : "", a->len, SQLITE_STATIC,
				    SQLITE_UTF8);
		ret = results_finish(r, s, err);
		if (ret)
			return ret;
	}
	return 0;
}

static int forget_run(struct results *r, int64_t configuration, unsigned int repetition,
		      struct err *err)
{
	static const char *const tables[] = { "metric", "interval", "artifact" };
	char sql[256];
	int ret = 0;

	for (size_t i = 0; i < 3; i++) {
		snprintf(
			sql, sizeof(sql),
			"DELETE FROM %s WHERE run IN (SELECT id FROM run WHERE configuration = %lld "
			"AND repetition = %u)",
			tables[i], (long long)configuration, repetition);
		ret = results_exec(r, sql, err);
		if (ret)
			return ret;
	}
	snprintf(sql, sizeof(sql), "DELETE FROM run WHERE configuration = %lld AND repetition = %u",
		 (long long)configuration, repetition);
	return results_exec(r, sql, err);
}

int results_put_run(struct results *r, int64_t campaign, const struct results_run *run,
		    struct err *err)
{
	int64_t configuration = configuration_id(r, campaign, run->number), id;
	int ret = results_exec(r, "BEGIN IMMEDIATE", err);

	if (ret)
		return ret;
	ret = forget_run(r, configuration, run->repetition, err);
	if (ret)
		goto out;
	ret = results_insert(r, &id, err,
			     "INSERT INTO run (configuration, repetition, status, error, "
			     "began_s, ended_s, overhead_s, intervals) "
			     "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			     "iittdddi", configuration, (int64_t)run->repetition,
			     run->error ? "failed" : "done", run->error, run->began_s, run->ended_s,
			     run->overhead_s, (int64_t)run->nr_intervals);
	if (ret)
		goto out;
	if (!run->error)
		ret = put_readings(r, id, run->readings, err);
	if (ret)
		goto out;
	ret = put_artifacts(r, id, run, err);
out:
	return results_end(r, ret, err);
}
