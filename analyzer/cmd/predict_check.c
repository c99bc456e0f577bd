// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/predict_check.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/stats.h"
#include "analyzer/models/regression/technique.h"
#include "analyzer/models/regression/validate.h"

struct check {
	const struct model *model, *other;
	size_t nr;
	double *measured; /* owned */
	struct validation of_model, of_other;
	struct t_test test;
	double level, covered; /* share of rows within the interval; NaN */
};

static int read_measured(struct check *c, const struct table *t, struct err *err)
{
	int column = table_find(t, c->model->schema.response, err);
	int ret = column < 0 ? column : 0;

	c->nr = t->nr_rows;
	c->measured = calloc(c->nr + 1, sizeof(*c->measured));
	if (!c->measured)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr && !ret; i++)
		ret = table_number(t, (size_t)column, i, &c->measured[i], err);
	return ret;
}

static double share_covered(const struct check *c, const double *predicted)
{
	double half = model_half_width(c->model, c->level), low, high;
	size_t nr = 0;

	if (!isfinite(half) || !c->nr)
		return NAN;
	for (size_t i = 0; i < c->nr; i++) {
		model_interval(c->model, predicted[i], half, &low, &high);
		nr += c->measured[i] >= low && c->measured[i] <= high;
	}
	return (double)nr / (double)c->nr;
}

/* The other model by the configurations of the first, so that their errors are in pairs. */
static int check_other(struct check *c, const struct predict_rows *rows, const struct table *t,
		       struct err *err)
{
	struct predict_rows others = { 0 };
	int ret = 0;

	if (strcmp(c->other->schema.response, c->model->schema.response) != 0)
		ret = err_set(err, EINVAL, "--against: a model of '%s', expected one of '%s'",
			      c->other->schema.response, c->model->schema.response);
	if (!ret)
		ret = predict_rows(&others, c->other, t, err);
	if (!ret)
		ret = validate(rows->rows, c->model->schema.nr, c->measured, others.predicted,
			       c->nr, &c->of_other);
	if (!ret)
		c->test = stats_paired_t(c->of_model.errors, c->of_other.errors,
					 c->of_model.nr_configurations - c->of_model.nr_zero);
	predict_rows_release(&others);
	return ret;
}

static json_t *ratio_json(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *errors_json(const struct model *m, const struct validation *v)
{
	return json_pack("{s:s, s:o, s:o, s:o}", "technique", m->technique->name, "mean_error",
			 ratio_json(v->mean_error), "p95_error", ratio_json(v->p95_error), "bias",
			 ratio_json(v->bias));
}

static int print_json(const struct check *c)
{
	const struct validation *v = &c->of_model;
	json_t *root =
		json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:f, s:o, s:o}", "schema",
			  "blkcast.check/1", "response", c->model->schema.response, "rows",
			  (json_int_t)v->nr_rows, "configurations",
			  (json_int_t)v->nr_configurations, "configurations_of_zero",
			  (json_int_t)v->nr_zero, "configurations_repeated",
			  (json_int_t)v->nr_repeated, "deviation", ratio_json(v->deviation),
			  "standard_error", ratio_json(v->standard_error), "level", c->level,
			  "covered", ratio_json(c->covered), "model", errors_json(c->model, v));
	int ret = 0;

	if (c->other) {
		json_object_set_new(root, "against", errors_json(c->other, &c->of_other));
		json_object_set_new(root, "t", ratio_json(c->test.t));
		json_object_set_new(root, "p", ratio_json(c->test.p));
	}
	if (!root || json_dumpf(root, stdout, JSON_INDENT(2)) || putchar('\n') == EOF)
		ret = -EIO;
	json_decref(root);
	return ret;
}

static void print_errors(const struct model *m, const struct validation *v)
{
	printf("%-9s mean relative error %.2f %%, 95 %% of errors below %.2f %%, bias %+.2f %%\n",
	       m->technique->name, 100 * v->mean_error, 100 * v->p95_error, 100 * v->bias);
}

static int print_text(const struct check *c)
{
	const struct validation *v = &c->of_model;

	printf("%s: %zu rows of %zu configurations", c->model->schema.response, v->nr_rows,
	       v->nr_configurations);
	if (v->nr_zero)
		printf(", %zu of them 0 and left out", v->nr_zero);
	putchar('\n');
	print_errors(c->model, v);
	if (c->other) {
		print_errors(c->other, &c->of_other);
		printf("paired t-test over configurations: t %.3f, p %.2g\n", c->test.t, c->test.p);
	}
	if (v->nr_repeated)
		printf("measured, %zu configurations repeated: relative standard deviation %.2f %%, "
		       "standard error of their means %.2f %%\n",
		       v->nr_repeated, 100 * v->deviation, 100 * v->standard_error);
	if (isfinite(c->covered))
		printf("%.1f %% of rows lie within their interval of %g %%\n", 100 * c->covered,
		       100 * c->level);
	return 0;
}

int predict_check(const struct model *m, const struct predict_rows *rows, const struct table *t,
		  const struct model *other, double level, bool json, struct err *err)
{
	struct check c = { .model = m, .other = other, .level = level };
	int ret = read_measured(&c, t, err);

	if (!ret)
		ret = validate(rows->rows, m->schema.nr, c.measured, rows->predicted, c.nr,
			       &c.of_model);
	if (!ret && other)
		ret = check_other(&c, rows, t, err);
	if (!ret) {
		c.covered = share_covered(&c, rows->predicted);
		ret = json ? print_json(&c) : print_text(&c);
	}
	free(c.measured);
	validation_release(&c.of_model);
	validation_release(&c.of_other);
	return ret;
}
