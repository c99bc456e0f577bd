// SPDX-License-Identifier: Apache-2.0
/* This file turns the measurement store into a table. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/measure/results_sql.h"
#include "base/data/table.h"

void results_names_free(char **names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(names[i]);
	free(names);
}

/* Returns the first column of every row as owned texts. */
static int take_names(struct results *r, sqlite3_stmt *s, char ***names, size_t *nr)
{
	int code;

	*names = NULL;
	*nr = 0;
	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		char **grown = reallocarray(*names, *nr + 1, sizeof(*grown));

		if (!grown)
			break;
		*names = grown;
		grown[*nr] = strdup((const char *)sqlite3_column_text(s, 0));
		if (!grown[(*nr)++])
			break;
	}
	sqlite3_finalize(s);
	if (code == SQLITE_DONE)
		return 0;
	results_names_free(*names, *nr);
	(void)r;
	return code == SQLITE_ROW ? -ENOMEM : -EIO;
}

int results_factors(struct results *r, int64_t campaign, char ***names, size_t *nr, struct err *err)
{
	sqlite3_stmt *s;
	int ret = results_prepare(r, &s, err,
				  "SELECT name FROM factor WHERE campaign = ? ORDER BY position",
				  "i", campaign);

	return ret ? ret : take_names(r, s, names, nr);
}

static void join_names(char **names, size_t nr, char *out, size_t size)
{
	size_t used = 0;

	out[0] = 0;
	for (size_t i = 0; i < nr && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", names[i]);
}

int results_find(struct results *r, const char *name, int64_t *id, struct err *err)
{
	sqlite3_stmt *s;
	char **names = NULL, list[256];
	size_t nr = 0;
	int ret = results_prepare(r, &s, err, "SELECT name FROM campaign ORDER BY id", "");

	if (ret)
		return ret;
	ret = take_names(r, s, &names, &nr);
	if (ret)
		return ret;
	join_names(names, nr, list, sizeof(list));
	if (!nr)
		ret = err_set(err, EINVAL, "%s: no campaign in it", r->path);
	else if (!name && nr > 1)
		ret = err_set(err, EINVAL, "%s: campaign: expected one of %s", r->path, list);
	if (ret)
		goto out;
	ret = results_prepare(r, &s, err, "SELECT id FROM campaign WHERE name = ?", "t",
			      name ? name : names[0]);
	if (ret)
		goto out;
	*id = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
	sqlite3_finalize(s);
	if (!*id)
		ret = err_set(err, EINVAL, "%s: no campaign '%.60s'; there are %s", r->path, name,
			      list);
out:
	results_names_free(names, nr);
	return ret;
}

#define DONE_RUNS                                               \
	"run JOIN configuration c ON c.id = run.configuration " \
	"WHERE c.campaign = ?1 AND run.status = 'done' "

/*
 * A metric NAME becomes the column NAME and, where any run has its standard error, the column
 * NAME_rse.
 */
static int metric_columns(struct results *r, int64_t campaign, const char *response, char ***names,
			  size_t *nr, struct err *err)
{
	char list[300];
	sqlite3_stmt *s;
	int ret = results_prepare(
		r, &s, err,
		"SELECT DISTINCT metric.name FROM metric JOIN run ON run.id = metric.run "
		"JOIN configuration c ON c.id = run.configuration "
		"WHERE c.campaign = ?1 AND run.status = 'done' ORDER BY metric.name",
		"i", campaign);
	bool found = !response;

	if (ret)
		return ret;
	ret = take_names(r, s, names, nr);
	if (ret)
		return ret;
	for (size_t i = 0; i < *nr && response; i++)
		found |= strcmp((*names)[i], response) == 0;
	if (found)
		return 0;
	join_names(*names, *nr, list, sizeof(list));
	ret = err_set(err, EINVAL, "%s: no run has '%.60s'; there are %s", r->path, response,
		      *nr ? list : "no done runs");
	results_names_free(*names, *nr);
	*names = NULL;
	*nr = 0;
	return ret;
}

static void put_header(struct buf *out, char **factors, size_t nr_factors, char **metrics,
		       size_t nr_metrics, const char *response)
{
	buf_printf(out, "configuration,repetition");
	for (size_t i = 0; i < nr_factors; i++) {
		buf_put_u8(out, ',');
		table_put_cell(out, factors[i]);
	}
	for (size_t i = 0; i < nr_metrics; i++) {
		char error[READING_NAME_BYTES + 8];

		if (response && strcmp(metrics[i], response))
			continue;
		snprintf(error, sizeof(error), "%s_rse", metrics[i]);
		buf_put_u8(out, ',');
		table_put_cell(out, metrics[i]);
		buf_put_u8(out, ',');
		table_put_cell(out, error);
	}
	buf_put_u8(out, '\n');
}

static int put_levels(struct results *r, int64_t configuration, struct buf *out, struct err *err)
{
	sqlite3_stmt *s;
	int ret =
		results_prepare(r, &s, err,
				"SELECT text FROM level WHERE configuration = ? ORDER BY position",
				"i", configuration);

	if (ret)
		return ret;
	while (sqlite3_step(s) == SQLITE_ROW) {
		buf_put_u8(out, ',');
		table_put_cell(out, (const char *)sqlite3_column_text(s, 0));
	}
	sqlite3_finalize(s);
	return 0;
}

static int put_metrics(struct results *r, int64_t run, char **metrics, size_t nr,
		       const char *response, struct buf *out, struct err *err)
{
	sqlite3_stmt *s;
	int ret = results_prepare(r, &s, err,
				  "SELECT name, value, relative_standard_error FROM metric "
				  "WHERE run = ? ORDER BY name",
				  "i", run);
	bool row;

	if (ret)
		return ret;
	/* Both lists are sorted. A column that the run lacks becomes an empty cell. */
	row = sqlite3_step(s) == SQLITE_ROW;
	for (size_t i = 0; i < nr; i++) {
		bool wanted = !response || strcmp(metrics[i], response) == 0;
		bool has = row && strcmp((const char *)sqlite3_column_text(s, 0), metrics[i]) == 0;

		if (wanted)
			buf_printf(out, ",");
		if (wanted && has)
			buf_printf(out, "%.17g", sqlite3_column_double(s, 1));
		if (wanted)
			buf_printf(out, ",");
		if (wanted && has && sqlite3_column_type(s, 2) != SQLITE_NULL)
			buf_printf(out, "%.17g", sqlite3_column_double(s, 2));
		if (has)
			row = sqlite3_step(s) == SQLITE_ROW;
	}
	sqlite3_finalize(s);
	buf_put_u8(out, '\n');
	return 0;
}

static int put_rows(struct results *r, int64_t campaign, char **metrics, size_t nr,
		    const char *response, struct buf *out, struct err *err)
{
	sqlite3_stmt *s;
	int ret = results_prepare(
		r, &s, err,
		"SELECT run.id, c.id, c.number, run.repetition FROM " DONE_RUNS
		"AND (?2 IS NULL OR EXISTS (SELECT 1 FROM metric m WHERE m.run = run.id AND m.name = ?2)) "
		"ORDER BY c.number, run.repetition",
		"it", campaign, response);

	if (ret)
		return ret;
	while (sqlite3_step(s) == SQLITE_ROW) {
		buf_printf(out, "%lld,%lld", (long long)sqlite3_column_int64(s, 2),
			   (long long)sqlite3_column_int64(s, 3));
		ret = put_levels(r, sqlite3_column_int64(s, 1), out, err);
		if (ret)
			goto out;
		ret = put_metrics(r, sqlite3_column_int64(s, 0), metrics, nr, response, out, err);
		if (ret)
			goto out;
	}
out:
	sqlite3_finalize(s);
	return ret ? ret : out->error;
}

int results_csv(struct results *r, int64_t campaign, const char *response, struct buf *out,
		struct err *err)
{
	char **factors = NULL, **metrics = NULL;
	size_t nr_factors = 0, nr_metrics = 0;
	int ret = metric_columns(r, campaign, response, &metrics, &nr_metrics, err);

	if (ret)
		goto out;
	ret = results_factors(r, campaign, &factors, &nr_factors, err);
	if (ret)
		goto out;
	put_header(out, factors, nr_factors, metrics, nr_metrics, response);
	ret = put_rows(r, campaign, metrics, nr_metrics, response, out, err);
out:
	results_names_free(factors, nr_factors);
	results_names_free(metrics, nr_metrics);
	return ret;
}
