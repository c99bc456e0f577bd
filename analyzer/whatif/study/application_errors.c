// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/study/application_errors.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/use/conformal.h"
#include "base/data/table.h"
#include "base/memory/order.h"

struct errors_row {
	uint32_t application; /* its number among the names */
	int type, point;      /* type -1: the table has none */
	double error;
};

static int errors_point(const struct table *t, size_t column, size_t row, struct err *err)
{
	const char *cell = t->columns[column].cells[row];

	for (unsigned int point = 0; point < STUDY_POINTS; point++)
		if (!strcmp(cell, study_point_name(point)))
			return (int)point;
	return err_set(err, EINVAL,
		       "%s: line %llu: point: expected mean, p50, p95 or p99, got '%.40s'",
		       t->source, (unsigned long long)t->lines[row], cell);
}

static int errors_type(const struct table *t, int column, size_t row, struct err *err)
{
	const char *cell = column < 0 ? NULL : t->columns[column].cells[row];

	for (unsigned int type = 0; type < STUDY_TYPES && cell; type++)
		if (!strcmp(cell, study_type_name(type)))
			return (int)type;
	if (!cell)
		return -1;
	return err_set(err, EINVAL,
		       "%s: line %llu: type: expected read, write or flush, got '%.40s'", t->source,
		       (unsigned long long)t->lines[row], cell);
}

/* Returns the distinct names of the applications in ascending order; NULL if memory is out. */
static const char **errors_names(const struct table *t, size_t column, size_t *nr)
{
	const char **names = calloc(t->nr_rows + 1, sizeof(*names));

	*nr = 0;
	if (!names)
		return NULL;
	memcpy(names, t->columns[column].cells, t->nr_rows * sizeof(*names));
	qsort(names, t->nr_rows, sizeof(*names), order_text);
	for (size_t i = 0; i < t->nr_rows; i++)
		if (!*nr || strcmp(names[*nr - 1], names[i]) != 0)
			names[(*nr)++] = names[i];
	return names;
}

/* Reads a row; *has is false where a value is missing. */
static int errors_read_row(const struct table *t, const int columns[5], size_t row,
			   struct errors_row *out, bool *has, struct err *err)
{
	double predicted, measured;
	int ret;

	*has = !table_missing(t, (size_t)columns[2], row) &&
	       !table_missing(t, (size_t)columns[3], row);
	if (!*has)
		return 0;
	ret = table_number(t, (size_t)columns[2], row, &predicted, err);
	if (!ret)
		ret = table_number(t, (size_t)columns[3], row, &measured, err);
	if (ret)
		return ret;
	out->point = errors_point(t, (size_t)columns[1], row, err);
	out->type = errors_type(t, columns[4], row, err);
	if (out->point < 0 || out->type < -1)
		return -EINVAL;
	out->error = conformal_ratio(measured, predicted);
	return 0;
}

/* Returns the bound of the rows of that type and point; -1 stands for any. */
static double errors_bound(const struct errors_row *rows, size_t nr, int type, int point,
			   double level, struct conformal_error *scratch)
{
	size_t used = 0;

	for (size_t i = 0; i < nr; i++)
		if ((type < 0 || rows[i].type == type) && (point < 0 || rows[i].point == point))
			scratch[used++] =
				(struct conformal_error){ rows[i].application, rows[i].error };
	return conformal_bound(scratch, used, level);
}

static int errors_take(struct application_errors *e, const struct errors_row *rows, size_t nr,
		       double level, const char *path, struct err *err)
{
	struct conformal_error *scratch = calloc(nr + 1, sizeof(*scratch));
	double any;

	if (!scratch)
		return -ENOMEM;
	any = errors_bound(rows, nr, -1, -1, level, scratch);
	e->nr_applications = conformal_nr_applications(scratch, nr);
	for (int type = 0; type < STUDY_TYPES; type++)
		for (int point = 0; point < STUDY_POINTS; point++) {
			double half = errors_bound(rows, nr, type, point, level, scratch);

			if (!isfinite(half))
				half = errors_bound(rows, nr, -1, point, level, scratch);
			e->half[type][point] = isfinite(half) ? half : any;
		}
	free(scratch);
	if (!isfinite(any))
		return err_set(err, EINVAL,
			       "%s: expected %zu applications or more with values above 0 for "
			       "intervals of %g %%, got %zu",
			       path, conformal_least(level), 100 * level, e->nr_applications);
	return 0;
}

int application_errors_read(struct application_errors *e, const char *path, double level,
			    struct err *err)
{
	static const char *const names[] = { "application", "point", "predicted", "measured",
					     "type" };
	const char **applications = NULL, **found;
	struct errors_row *rows = NULL;
	struct table t = { 0 };
	int columns[5], ret = table_read(&t, path, err);
	size_t nr = 0, nr_applications;

	if (ret)
		return ret;
	for (int i = 0; i < 5; i++) {
		struct err ignored = { 0 };

		columns[i] = table_find(&t, names[i], i < 4 ? err : &ignored);
		if (columns[i] < 0 && i < 4)
			ret = -EINVAL;
		if (ret)
			goto out;
	}
	rows = calloc(t.nr_rows + 1, sizeof(*rows));
	applications = errors_names(&t, (size_t)columns[0], &nr_applications);
	ret = rows && applications ? 0 : -ENOMEM;
	for (size_t i = 0; i < t.nr_rows && !ret; i++) {
		bool has = false;

		ret = errors_read_row(&t, columns, i, &rows[nr], &has, err);
		if (ret)
			goto out;
		found = bsearch(&t.columns[columns[0]].cells[i], applications, nr_applications,
				sizeof(*applications), order_text);
		rows[nr].application = (uint32_t)(found - applications);
		nr += has;
	}
	if (!ret)
		ret = errors_take(e, rows, nr, level, path, err);
out:
	free(applications);
	free(rows);
	table_release(&t);
	return ret;
}

static void errors_widen_time(double half, double s, double *low, double *high)
{
	if (isnan(s))
		return;
	*low = fmin(isnan(*low) ? s : *low, s * exp(-half));
	*high = fmax(isnan(*high) ? s : *high, s * exp(half));
}

void application_errors_widen(const struct application_errors *e, const struct study *s,
			      struct study_case *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		struct study_answer *a = &c->answers[i];

		for (int type = 0; type < STUDY_TYPES; type++)
			for (int point = 0; point < STUDY_POINTS; point++) {
				struct study_time *t = &a->points[type][point];

				if (t->way)
					errors_widen_time(e->half[type][point], t->s, &t->low,
							  &t->high);
			}
		for (int type = 0; type < 2; type++)
			errors_widen_time(e->half[type][STUDY_MEAN], a->s[type], &a->low[type],
					  &a->high[type]);
		if (isfinite(a->rate_low_per_s) && a->rate_low_per_s < a->rate_high_per_s) {
			const struct load_facts *f = &s->loads[c->loads[i]].facts;

			a->rate_low_per_s = predictor_rate(f, a->high);
			a->rate_high_per_s = predictor_rate(f, a->low);
		}
	}
}
