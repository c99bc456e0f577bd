// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/table/dataset.h"
#include "base/memory/order.h"
#include "base/text/units.h"

static bool dataset_read_named(const char *const *names, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static int by_number(const void *a, const void *b)
{
	double x = strtod(*(char *const *)a, NULL), y = strtod(*(char *const *)b, NULL);

	return x != y ? (x > y) - (x < y) : order_text(a, b);
}

static int dataset_read_missing(const struct table *t, size_t column, size_t row, struct err *err)
{
	return err_set(err, EINVAL, "%s:%" PRIu64 ": row %zu, column '%s': the cell is missing",
		       t->source, t->lines[row], row + 1, t->columns[column].name);
}

/* Collects the distinct cells of a column, sorted. */
static int take_levels(struct variable *v, const struct table *t, size_t column, struct err *err)
{
	const char **cells = calloc(t->nr_rows + 1, sizeof(*cells));
	int ret = 0;

	if (!cells)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++) {
		cells[i] = t->columns[column].cells[i];
		if (!table_missing(t, column, i))
			continue;
		ret = dataset_read_missing(t, column, i, err);
		goto out;
	}
	qsort(cells, t->nr_rows, sizeof(*cells), table_numeric(t, column) ? by_number : order_text);
	for (size_t i = 0; i < t->nr_rows; i++) {
		char **grown;

		if (i && strcmp(cells[i], cells[i - 1]) == 0)
			continue;
		if (v->nr_levels == DATASET_LEVELS_MAX) {
			ret = err_set(err, EINVAL,
				      "%s: factor '%s' has more than %d levels: is it a number?",
				      t->source, v->name, DATASET_LEVELS_MAX);
			goto out;
		}
		grown = reallocarray(v->levels, v->nr_levels + 1, sizeof(*grown));
		ret = -ENOMEM;
		if (!grown)
			goto out;
		v->levels = grown;
		grown[v->nr_levels] = strdup(cells[i]);
		if (!grown[v->nr_levels])
			goto out;
		v->nr_levels++;
	}
	ret = 0;
out:
	free(cells);
	return ret;
}

/*
 * A text column that has a different value in each of at least this many rows names the rows, and
 * is not a factor.
 */
#define LEAST_ROWS_OF_IDS 10

/*
 * Returns true for "4k", "1,001", "1e150" or "50%": texts that look like numbers but cannot be
 * read as numbers as they are.
 */
static bool is_like_number(const char *cell)
{
	uint64_t unused;
	char *end;
	double v = strtod(cell, &end);

	if (end == cell || isnan(v))
		return false;
	if (isinf(v))
		return *cell >= '0' && *cell <= '9';
	return !*end || (*end == ',' && end[1] >= '0' && end[1] <= '9') || !strcmp(end, "%") ||
	       !units_parse_bytes(cell, &unused, NULL) || !units_parse_time(cell, &unused, NULL);
}

/*
 * If one cell of a column of numbers is no number, the column would become a factor with one level
 * per number. Such a cell is more often a mistake than a name. Therefore the cell is reported, and
 * only a caller that declares the column a factor says that it is intended.
 */
static int refuse_mistaken_factor(const struct table *t, size_t column, struct err *err)
{
	const char *name = t->columns[column].name;
	size_t numbers = 0, first = t->nr_rows, like = t->nr_rows;
	struct err why = { 0 };
	double value;

	for (size_t i = 0; i < t->nr_rows; i++) {
		if (!table_number(t, column, i, &value, NULL))
			numbers++;
		else if (first == t->nr_rows && !table_missing(t, column, i))
			first = i;
		if (like == t->nr_rows && first == i && is_like_number(t->columns[column].cells[i]))
			like = i;
	}
	if (first == t->nr_rows || (!numbers && like == t->nr_rows))
		return 0;
	table_number(t, column, first, &value, &why);
	return err_set(
		err, EDOM,
		"%.300s; write plain numbers with a decimal point (4096 for 4k, 1001 for 1,001), "
		"or declare '%s' a factor",
		why.line, name);
}

static int take_variable(struct schema *s, const struct table *t, size_t column,
			 const struct dataset_spec *spec, struct err *err)
{
	const char *name = t->columns[column].name;
	struct variable *v = &s->variables[s->nr];
	int ret = 0;

	if (s->nr == DATASET_VARIABLES_MAX)
		return err_set(err, EINVAL, "%s: expected at most %d independent variables",
			       t->source, DATASET_VARIABLES_MAX);
	v->name = strdup(name);
	if (!v->name)
		return -ENOMEM;
	s->nr++;
	v->factor = dataset_read_named(spec->factors, spec->nr_factors, name) ||
		    !table_numeric(t, column);
	if (v->factor && !dataset_read_named(spec->factors, spec->nr_factors, name))
		ret = refuse_mistaken_factor(t, column, err);
	if (ret)
		return ret;
	if (v->factor)
		ret = take_levels(v, t, column, err);
	if (ret)
		return ret;
	if (v->factor && !dataset_read_named(spec->factors, spec->nr_factors, name) &&
	    v->nr_levels == t->nr_rows && t->nr_rows >= LEAST_ROWS_OF_IDS)
		return err_set(
			err, EDOM,
			"%s: column '%s' has a different text in each of %zu rows, from which "
			"nothing can be learned: leave it out of the predictors, or declare it a "
			"factor",
			t->source, name, t->nr_rows);
	return 0;
}

static int take_schema(struct schema *s, const struct table *t, const struct dataset_spec *spec,
		       size_t **at, struct err *err)
{
	size_t nr = spec->nr_predictors ? spec->nr_predictors : t->nr_columns;
	int ret;

	*at = calloc(nr + 1, sizeof(**at));
	s->variables = calloc(nr + 1, sizeof(*s->variables));
	s->response = strdup(spec->response);
	if (!*at || !s->variables || !s->response)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		int column = spec->nr_predictors ? table_find(t, spec->predictors[i], err) : (int)i;
		const char *name;

		if (column < 0)
			return column;
		name = t->columns[column].name;
		if (strcmp(name, spec->response) == 0 ||
		    (spec->weight_column && strcmp(name, spec->weight_column) == 0) ||
		    (spec->fold_column && strcmp(name, spec->fold_column) == 0)) {
			if (spec->nr_predictors)
				return err_set(err, EINVAL,
					       "'%s' is the response, weight or fold column: it "
					       "cannot be a predictor too",
					       name);
			continue;
		}
		for (size_t k = 0; k < s->nr; k++)
			if (strcmp(s->variables[k].name, name) == 0)
				return err_set(err, EINVAL, "'%s' is a predictor twice", name);
		(*at)[s->nr] = (size_t)column;
		ret = take_variable(s, t, (size_t)column, spec, err);
		if (ret)
			return ret;
	}
	if (!s->nr)
		ret = err_set(err, EINVAL, "%s: no independent variable beside the response '%s'",
			      t->source, spec->response);
	return ret;
}

int dataset_encode(const struct schema *s, const struct table *t, const size_t *at, size_t row,
		   double *x, struct err *err)
{
	for (size_t v = 0; v < s->nr; v++) {
		const struct variable *var = &s->variables[v];
		const char *cell = t->columns[at[v]].cells[row];
		long level;
		int ret;

		if (!var->factor) {
			ret = table_number(t, at[v], row, &x[v], err);
			if (ret)
				return ret;
			continue;
		}
		if (table_missing(t, at[v], row))
			return dataset_read_missing(t, at[v], row, err);
		level = variable_level(var, cell);
		if (level < 0)
			return err_set(err, EINVAL,
				       "%s:%" PRIu64 ": row %zu, column '%s': level '%.60s' was "
				       "never seen in training",
				       t->source, t->lines[row], row + 1, var->name, cell);
		x[v] = (double)level;
	}
	return 0;
}

static int take_folds(struct dataset *d, const struct table *t, const char *name, struct err *err)
{
	int column = table_find(t, name, err);
	uint32_t most = 0;

	if (column < 0)
		return column;
	d->fold = calloc(d->nr_rows + 1, sizeof(*d->fold));
	if (!d->fold)
		return -ENOMEM;
	for (size_t i = 0; i < d->nr_rows; i++) {
		double v;
		int ret = table_number(t, (size_t)column, i, &v, err);

		if (ret)
			return ret;
		if (v < 1 || v > (double)d->nr_rows || v != floor(v))
			return err_set(err, EINVAL,
				       "%s:%" PRIu64
				       ": row %zu, column '%s': expected a fold 1, 2, "
				       "..., got %g",
				       t->source, t->lines[i], i + 1, name, v);
		d->fold[i] = (uint32_t)v - 1;
		most = d->fold[i] > most ? d->fold[i] : most;
	}
	d->nr_folds = most + 1;
	for (uint32_t f = 0; f <= most; f++) {
		size_t nr = 0;

		for (size_t i = 0; i < d->nr_rows; i++)
			nr += d->fold[i] == f;
		if (nr == 0 || nr == d->nr_rows)
			return err_set(err, EINVAL,
				       "%s: column '%s': fold %u of %u holds %zu of %zu rows",
				       t->source, name, f + 1, most + 1, nr, d->nr_rows);
	}
	return 0;
}

static int take_column(double *out, size_t nr_rows, const struct table *t, const char *name,
		       bool positive, struct err *err)
{
	int column = table_find(t, name, err), ret = 0;

	if (column < 0)
		return column;
	for (size_t i = 0; i < nr_rows; i++) {
		ret = table_number(t, (size_t)column, i, &out[i], err);
		if (ret)
			return ret;
		if (positive && !(out[i] > 0))
			ret = err_set(err, EINVAL,
				      "%s:%" PRIu64 ": row %zu, column '%s': expected a weight "
				      "above 0, got %g",
				      t->source, t->lines[i], i + 1, name, out[i]);
		if (ret)
			return ret;
	}
	return 0;
}

int dataset_weights(double *weight, const struct table *t, const char *name, struct err *err)
{
	return take_column(weight, t->nr_rows, t, name, true, err);
}

static int take_rows(struct dataset *d, const struct schema *s, const struct table *t,
		     const size_t *at, struct err *err)
{
	double *row = calloc(s->nr, sizeof(*row));
	int ret = row ? 0 : -ENOMEM;

	if (ret)
		goto out;
	for (size_t i = 0; i < t->nr_rows; i++) {
		ret = dataset_encode(s, t, at, i, row, err);
		if (ret)
			goto out;
		for (size_t v = 0; v < s->nr; v++)
			d->x[v * d->nr_rows + i] = row[v];
	}
out:
	free(row);
	return ret;
}

static int take_logarithms(struct dataset *d, const struct table *t, const char *response,
			   struct err *err)
{
	for (size_t i = 0; i < d->nr_rows; i++) {
		if (!(d->y[i] > 0))
			return err_set(err, EINVAL,
				       "%s:%" PRIu64 ": row %zu, column '%s': expected a number "
				       "above 0 to take the logarithm of, got %g",
				       t->source, t->lines[i], i + 1, response, d->y[i]);
		d->y[i] = log(d->y[i]);
	}
	return 0;
}

/* Subtracts the logarithm of the offset from the logarithm of the response. */
static int take_offset(struct dataset *d, struct schema *s, const struct table *t, const char *text,
		       struct err *err)
{
	double *row = calloc(s->nr, sizeof(*row));
	int ret = row ? offset_read(&s->offset, text, s, err) : -ENOMEM;

	if (ret)
		goto out;
	for (size_t i = 0; i < d->nr_rows; i++) {
		double product;

		for (size_t v = 0; v < s->nr; v++)
			row[v] = d->x[v * d->nr_rows + i];
		product = offset_of(&s->offset, row);
		if (!(product > 0) || isinf(product))
			ret = err_set(err, EINVAL,
				      "%s:%" PRIu64 ": row %zu: expected an offset above 0, got %g",
				      t->source, t->lines[i], i + 1, product);
		d->y[i] -= log(product);
		if (ret)
			goto out;
	}
out:
	free(row);
	return ret;
}

int dataset_read(struct dataset *d, struct schema *s, const struct table *t,
		 const struct dataset_spec *spec, struct err *err)
{
	size_t *at = NULL;
	int ret;

	memset(d, 0, sizeof(*d));
	memset(s, 0, sizeof(*s));
	if (!t->nr_rows)
		return err_set(err, EINVAL, "%s: no rows under the header", t->source);
	if (spec->offset && !spec->log)
		return err_set(err, EINVAL,
			       "an offset is one of a logarithm, which is not asked for");
	ret = table_find(t, spec->response, err);
	if (ret < 0)
		return ret;
	ret = take_schema(s, t, spec, &at, err);
	if (ret)
		goto out;
	ret = dataset_alloc(d, t->nr_rows, s->nr, spec->weight_column != NULL);
	if (ret)
		goto out;
	ret = take_column(d->y, d->nr_rows, t, spec->response, false, err);
	if (ret)
		goto out;
	s->log = spec->log;
	if (spec->log)
		ret = take_logarithms(d, t, spec->response, err);
	if (ret)
		goto out;
	ret = take_rows(d, s, t, at, err);
	if (ret)
		goto out;
	if (spec->offset)
		ret = take_offset(d, s, t, spec->offset, err);
	if (ret)
		goto out;
	if (spec->weight_column)
		ret = dataset_weights(d->weight, t, spec->weight_column, err);
	if (ret)
		goto out;
	if (spec->fold_column)
		ret = take_folds(d, t, spec->fold_column, err);
	if (ret)
		goto out;
	schema_take_ranges(s, d);
out:
	free(at);
	if (ret) {
		dataset_release(d);
		schema_release(s);
	}
	return ret;
}
