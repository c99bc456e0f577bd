// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/measure/params.h"
#include "analyzer/whatif/capacity/capacity.h"

#define COLUMN_NAME_BYTES 256

/* The usual column names of size and mix; the first one that the table has is used. */
static const char *const size_names[] = { "size", "request_size", "block_size", "bs", NULL };
static const char *const mix_names[] = { "read", "mix", "rwmixread", "read_share", NULL };

struct columns {
	size_t size, mix;
	int rate[2], error[2]; /* reads, writes; -ENOENT if there is no such column */
	double mix_scale;
};

static bool has_cell(const struct table *t, int column, size_t row)
{
	return column >= 0 && !table_missing(t, (size_t)column, row);
}

static int find_one(const struct table *t, const char *name, const char *const *usual,
		    const char *what, size_t *out, struct err *err)
{
	int column = -ENOENT;

	if (name)
		column = table_find(t, name, err);
	for (; !name && column < 0 && *usual; usual++)
		column = table_find(t, *usual, NULL);
	if (column < 0)
		return name ? column
			    : err_set(err, EINVAL,
				      "%s: no column is called as a %s usually is; "
				      "name it",
				      t->source, what);
	*out = (size_t)column;
	return 0;
}

/*
 * Compares a cell of the table with a value of --where as plans write values: as numbers or as
 * words.
 */
static bool same_value(const char *a, const char *b)
{
	double x, y;

	if (param_number(a, &x) && param_number(b, &y))
		return x == y;
	return strcmp(a, b) == 0;
}

static int capacity_read_chosen(const struct table *t, const struct capacity_columns *k, size_t row,
				struct err *err)
{
	for (size_t i = 0; i < k->nr_where; i++) {
		const char *value = strchr(k->where[i], '=');
		char name[COLUMN_NAME_BYTES];
		int column;

		if (!value || value == k->where[i] || (size_t)(value - k->where[i]) >= sizeof(name))
			return err_set(err, EINVAL, "expected FACTOR=VALUE, got '%.60s'",
				       k->where[i]);
		snprintf(name, sizeof(name), "%.*s", (int)(value - k->where[i]), k->where[i]);
		column = table_find(t, name, err);
		if (column < 0)
			return column;
		if (!same_value(t->columns[column].cells[row], value + 1))
			return 0;
	}
	return 1;
}

/*
 * Other factors must be the same in all selected rows, because a capacity belongs to one
 * configuration.
 */
static int check_factors(const struct table *t, const struct capacity_columns *k,
			 const struct columns *at, struct err *err)
{
	for (size_t f = 0; f < k->nr_factors; f++) {
		int column = table_find(t, k->factors[f], err);
		const char *first = NULL;

		if (column < 0)
			return column;
		if ((size_t)column == at->size || (size_t)column == at->mix)
			continue;
		for (size_t row = 0; row < t->nr_rows; row++) {
			const char *cell = t->columns[column].cells[row];
			int use = capacity_read_chosen(t, k, row, err);

			if (use < 0)
				return use;
			if (use && first && strcmp(first, cell) != 0)
				return err_set(err, ENOTUNIQ,
					       "%s: '%s' is %.40s and %.40s: choose rows of one",
					       t->source, k->factors[f], first, cell);
			first = use ? cell : first;
		}
	}
	return 0;
}

static int find_columns(const struct table *t, const struct capacity_columns *k, struct columns *at,
			struct err *err)
{
	static const char *const sides[2] = { "read", "write" };
	char name[COLUMN_NAME_BYTES];
	double most = 0, v;
	int ret = find_one(t, k->size, size_names, "size", &at->size, err);

	if (ret)
		goto out;
	ret = find_one(t, k->mix, mix_names, "share of reads", &at->mix, err);
	if (ret)
		goto out;
	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "%s%s%s_per_s", k->target ? k->target : "",
			 k->target ? "." : "", sides[i]);
		at->rate[i] = table_find(t, name, NULL);
		strncat(name, "_rse", sizeof(name) - strlen(name) - 1);
		at->error[i] = table_find(t, name, NULL);
	}
	if (at->rate[0] < 0 && at->rate[1] < 0)
		return err_set(err, EINVAL, "%s: no columns %s%sread_per_s or write_per_s",
			       t->source, k->target ? k->target : "", k->target ? "." : "");
	for (size_t row = 0; row < t->nr_rows; row++) {
		ret = table_number(t, at->mix, row, &v, err);
		most = ret ? most : fmax(most, v);
		if (ret)
			goto out;
	}
out:
	at->mix_scale = most > 1 ? 0.01 : 1;
	return ret;
}

static int add_row(struct capacity *c, const struct table *t, const struct columns *at, size_t row,
		   struct err *err)
{
	double size, mix, rate[2] = { 0, 0 }, error[2] = { NAN, NAN }, sum = 0, total;
	int ret = table_number(t, at->size, row, &size, err);

	if (!ret)
		ret = table_number(t, at->mix, row, &mix, err);
	for (int i = 0; i < 2 && !ret; i++) {
		if (has_cell(t, at->rate[i], row))
			ret = table_number(t, (size_t)at->rate[i], row, &rate[i], err);
		if (!ret && has_cell(t, at->error[i], row))
			ret = table_number(t, (size_t)at->error[i], row, &error[i], err);
		if (rate[i] > 0)
			sum += rate[i] * rate[i] * error[i] * error[i];
	}
	if (ret)
		return ret;
	total = rate[0] + rate[1];
	if (!(size >= 1 && size <= 1u << 30))
		return err_set(err, EINVAL, "%s: row %zu: expected a size in bytes, got %g",
			       t->source, row + 1, size);
	ret = capacity_add(c, (uint64_t)llround(size), mix * at->mix_scale, total,
			   sqrt(sum) / total, err);
	if (ret)
		err_prefix(err, "%s: row %zu", t->source, row + 1);
	return ret;
}

int capacity_read(struct capacity *c, const struct table *t, const struct capacity_columns *k,
		  struct err *err)
{
	struct columns at;
	int ret = find_columns(t, k, &at, err);

	if (ret)
		return ret;
	ret = check_factors(t, k, &at, err);
	if (ret)
		return ret;
	for (size_t row = 0; row < t->nr_rows; row++) {
		ret = capacity_read_chosen(t, k, row, err);
		if (ret == 1)
			ret = add_row(c, t, &at, row, err);
		if (ret)
			return ret;
	}
	return 0;
}
