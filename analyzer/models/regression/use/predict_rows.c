// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/regression/use/predict_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/stats.h"
#include "analyzer/models/regression/technique.h"
#include "analyzer/models/regression/use/conformal.h"
#include "analyzer/models/regression/use/validate.h"
#include "base/data/json.h"

/* Finds the table's column of each variable. */
static int find_columns(const struct schema *s, const struct table *t, size_t *at, struct err *err)
{
	for (size_t v = 0; v < s->nr; v++) {
		int column = table_find(t, s->variables[v].name, err);

		if (column < 0)
			return column;
		at[v] = (size_t)column;
	}
	return 0;
}

int predict_rows(struct predict_rows *p, const struct model *m, const struct table *t,
		 struct err *err)
{
	const struct schema *s = &m->schema;
	size_t *at = calloc(s->nr + 1, sizeof(*at));
	size_t nr = t->nr_rows;
	int ret;

	p->rows = reallocarray(NULL, nr * s->nr + 1, sizeof(*p->rows));
	p->predicted = calloc(nr + 1, sizeof(*p->predicted));
	ret = at && p->rows && p->predicted ? find_columns(s, t, at, err) : -ENOMEM;
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		ret = dataset_encode(s, t, at, i, p->rows + i * s->nr, err);
		if (ret)
			goto out;
	}
	ret = model_predict(m, p->rows, nr, p->predicted);
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		if (!isfinite(p->predicted[i]))
			ret = err_set(err, EINVAL, "%s: row %zu: the prediction overflows",
				      t->source, i + 1);
		if (ret)
			goto out;
	}
out:
	free(at);
	return ret;
}

void predict_rows_release(struct predict_rows *p)
{
	free(p->rows);
	free(p->predicted);
	*p = (struct predict_rows){ 0 };
}

struct check {
	const struct model *model, *other;
	size_t nr;
	double *measured; /* owned */
	struct validation of_model, of_other;
	struct t_test test;
	double level, covered; /* covered: share of the rows within the interval, or NaN */
	const char *by;
	size_t nr_applications;
	double bound; /* of |ln(measured / predicted)| for a new application; infinite: unknown */
	/* mean over the applications of the share of rows covered */
	double applications_covered;
};

static int check_read_measured(struct check *c, const struct table *t, struct err *err)
{
	int column = table_find(t, c->model->schema.response, err);
	int ret = column < 0 ? column : 0;

	c->nr = t->nr_rows;
	c->measured = calloc(c->nr + 1, sizeof(*c->measured));
	if (!c->measured)
		return -ENOMEM;
	if (ret)
		return ret;
	for (size_t i = 0; i < c->nr; i++) {
		ret = table_number(t, (size_t)column, i, &c->measured[i], err);
		if (ret)
			return ret;
	}
	return 0;
}

static bool check_row_covered(const struct check *c, const struct predict_rows *rows, size_t i)
{
	double low, high;

	model_interval(c->model, c->level, rows->rows + i * c->model->schema.nr, rows->predicted[i],
		       &low, &high);
	return c->measured[i] >= low && c->measured[i] <= high;
}

static double check_share_covered(const struct check *c, const struct predict_rows *rows)
{
	size_t nr = 0;

	if (!isfinite(model_half_width(c->model, c->level)) || !c->nr)
		return NAN;
	for (size_t i = 0; i < c->nr; i++)
		nr += check_row_covered(c, rows, i);
	return (double)nr / (double)c->nr;
}

static int check_compare_cells(const void *a, const void *b, void *cells)
{
	const char *const *text = cells;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	int by_text = strcmp(text[i], text[j]);

	return by_text ? by_text : (i > j) - (i < j);
}

/* Finds for each row the number of the first row with the same text in the column. */
static int check_first_rows(const struct table *t, size_t column, size_t *first)
{
	const char **cells = t->columns[column].cells;
	size_t *order = calloc(t->nr_rows + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++)
		order[i] = i;
	qsort_r(order, t->nr_rows, sizeof(*order), check_compare_cells, cells);
	for (size_t i = 0; i < t->nr_rows; i++) {
		bool same = i && strcmp(cells[order[i]], cells[order[i - 1]]) == 0;

		first[order[i]] = same ? first[order[i - 1]] : order[i];
	}
	free(order);
	return 0;
}

/*
 * Computes the bound that a new application keeps, and for each recorded application how many rows
 * the model's own interval covers.
 */
static int check_applications(struct check *c, const struct predict_rows *rows,
			      const struct table *t, struct err *err)
{
	struct conformal_error *errors = calloc(c->nr + 1, sizeof(*errors));
	double *covered = calloc(2 * c->nr + 1, sizeof(*covered)), *nr_rows = covered + c->nr;
	size_t *first = calloc(c->nr + 1, sizeof(*first));
	int column = table_find(t, c->by, err), ret = column < 0 ? column : 0;

	if (!errors || !covered || !first)
		ret = -ENOMEM;
	if (ret)
		goto out;
	ret = check_first_rows(t, (size_t)column, first);
	if (ret)
		goto out;
	c->applications_covered = 0;
	for (size_t i = 0; i < c->nr; i++) {
		size_t application = first[i];

		errors[i] = (struct conformal_error){
			(uint32_t)application, conformal_ratio(c->measured[i], rows->predicted[i])
		};
		covered[application] += check_row_covered(c, rows, i);
		nr_rows[application]++;
	}
	c->bound = conformal_bound(errors, c->nr, c->level);
	c->nr_applications = conformal_nr_applications(errors, c->nr);
	for (size_t i = 0; i < c->nr; i++)
		if (nr_rows[i] > 0)
			c->applications_covered +=
				covered[i] / nr_rows[i] / (double)c->nr_applications;
	if (!isfinite(model_half_width(c->model, c->level)))
		c->applications_covered = NAN;
out:
	free(errors);
	free(covered);
	free(first);
	return ret;
}

/* Evaluates the other model on the configurations of the first, so that the errors form pairs. */
static int check_other(struct check *c, const struct predict_rows *rows, const struct table *t,
		       struct err *err)
{
	struct predict_rows others = { 0 };
	int ret = predict_rows(&others, c->other, t, err);

	if (ret)
		goto out;
	ret = validate(rows->rows, c->model->schema.nr, c->measured, others.predicted, c->nr,
		       &c->of_other);
	if (ret)
		goto out;
	c->test = stats_paired_t(c->of_model.errors, c->of_other.errors,
				 c->of_model.nr_configurations - c->of_model.nr_zero);
out:
	predict_rows_release(&others);
	return ret;
}

static json_t *check_errors_json(const struct model *m, const struct validation *v)
{
	return json_pack("{s:s, s:o, s:o, s:o}", "technique", m->technique->name, "mean_error",
			 json_number(v->mean_error), "p95_error", json_number(v->p95_error), "bias",
			 json_number(v->bias));
}

static void check_answer_model(const struct model *m, const struct validation *v,
			       struct answer_table *t)
{
	answer_words(t, "%s", m->technique->name);
	answer_number(t, v->mean_error);
	answer_number(t, v->p95_error);
	answer_number(t, v->bias);
}

/* Adds the table of the models' errors, which only people see. */
static void check_answer_errors(const struct check *c, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "model" },
		{ .title = "mean relative error", .unit = ANSWER_RATIO },
		{ .title = "95 % of errors below", .unit = ANSWER_RATIO },
		{ .title = "bias", .unit = ANSWER_CHANGE },
	};
	struct answer_table *t = answer_table(a, NULL, "Errors", NULL, ANSWER_COLUMNS(columns));

	check_answer_model(c->model, &c->of_model, t);
	if (c->other)
		check_answer_model(c->other, &c->of_other, t);
}

static void check_answer_json(const struct check *c, struct answer *a)
{
	const struct validation *v = &c->of_model;

	answer_fact_words(a, "response", NULL, c->model->schema.response);
	answer_fact(a, "rows", NULL, ANSWER_INTEGER, (double)v->nr_rows);
	answer_fact(a, "configurations", NULL, ANSWER_INTEGER, (double)v->nr_configurations);
	answer_fact(a, "configurations_of_zero", NULL, ANSWER_INTEGER, (double)v->nr_zero);
	answer_fact(a, "configurations_repeated", NULL, ANSWER_INTEGER, (double)v->nr_repeated);
	answer_fact(a, "deviation", NULL, ANSWER_RATIO, v->deviation);
	answer_fact(a, "standard_error", NULL, ANSWER_RATIO, v->standard_error);
	answer_fact(a, "level", NULL, ANSWER_RATIO, c->level);
	answer_fact(a, "covered", NULL, ANSWER_RATIO, c->covered);
	answer_member(a, "model", check_errors_json(c->model, v));
	if (c->by) {
		answer_fact(a, "applications", NULL, ANSWER_INTEGER, (double)c->nr_applications);
		answer_fact(a, "applications_covered", NULL, ANSWER_RATIO, c->applications_covered);
		answer_fact(a, "application_factor", NULL, ANSWER_NONE,
			    isfinite(c->bound) ? exp(c->bound) : NAN);
	}
	if (!c->other)
		return;
	answer_member(a, "against", check_errors_json(c->other, &c->of_other));
	answer_fact(a, "t", NULL, ANSWER_NONE, c->test.t);
	answer_fact(a, "p", NULL, ANSWER_NONE, c->test.p);
}

static void check_answer_applications(const struct check *c, struct answer *a)
{
	answer_fact(a, NULL, "Applications", ANSWER_INTEGER, (double)c->nr_applications);
	if (isfinite(c->applications_covered))
		answer_line(a, "Within their interval",
			    "%.1f %% of an application's rows on average",
			    100 * c->applications_covered);
	if (isfinite(c->bound))
		answer_conclude(a,
				"With a probability of %g %%, an answer about a new application is "
				"off by a factor of %.4g at most.",
				100 * c->level, exp(c->bound));
	else
		answer_conclude(a,
				"How far an answer about a new application is off cannot be told "
				"with a probability of %g %%: that takes %zu applications whose "
				"values are all above 0, and the table has %zu.",
				100 * c->level, conformal_least(c->level), c->nr_applications);
}

static struct answer *check_answer(const struct check *c)
{
	const struct validation *v = &c->of_model;
	struct answer *a = answer_new("blkcast.check/1", "Predictions beside measurements");

	check_answer_json(c, a);
	answer_line(a, c->model->schema.response, "%zu rows of %zu configurations", v->nr_rows,
		    v->nr_configurations);
	if (v->nr_zero)
		answer_fact(a, NULL, "Configurations of 0, which are left out", ANSWER_INTEGER,
			    (double)v->nr_zero);
	check_answer_errors(c, a);
	if (c->other)
		answer_line(a, "Paired t-test over configurations", "t %.3f, p %.2g", c->test.t,
			    c->test.p);
	if (v->nr_repeated) {
		answer_fact(a, NULL, "Configurations repeated", ANSWER_INTEGER,
			    (double)v->nr_repeated);
		answer_line(a, "Their measured spread",
			    "relative standard deviation %.2f %%, standard error of their means "
			    "%.2f %%",
			    100 * v->deviation, 100 * v->standard_error);
	}
	if (isfinite(c->covered)) {
		answer_line(a, "Within their interval", "%.1f %% of rows", 100 * c->covered);
		answer_fact(a, NULL, "Level of the interval", ANSWER_RATIO, c->level);
	}
	if (c->by)
		check_answer_applications(c, a);
	return a;
}

int predict_check(struct answer **out, const struct predict_check *ask,
		  const struct predict_rows *rows, const struct table *t, bool *told,
		  struct err *err)
{
	struct check c = {
		.model = ask->model, .other = ask->other, .level = ask->level, .by = ask->by
	};
	int ret = check_read_measured(&c, t, err);

	if (ret)
		goto out;
	ret = validate(rows->rows, ask->model->schema.nr, c.measured, rows->predicted, c.nr,
		       &c.of_model);
	if (ret)
		goto out;
	ret = ask->other ? check_other(&c, rows, t, err) : 0;
	if (ret)
		goto out;
	ret = ask->by ? check_applications(&c, rows, t, err) : 0;
	if (ret)
		goto out;
	c.covered = check_share_covered(&c, rows);
	*out = check_answer(&c);
	*told = !ask->by || isfinite(c.bound);
out:
	free(c.measured);
	validation_release(&c.of_model);
	validation_release(&c.of_other);
	return ret;
}
