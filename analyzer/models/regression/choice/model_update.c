// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/choice/model_update.h"
#include "analyzer/models/regression/choice/select.h"

/* Reads the rows by the schema, row-major, and their responses in the scale that was learned. */
static int read_rows(const struct model *m, const struct table *t, double *rows, double *y,
		     struct err *err)
{
	const struct schema *s = &m->schema;
	size_t *at = calloc(s->nr + 1, sizeof(*at));
	int column = table_find(t, s->response, err), ret = at ? 0 : -ENOMEM;

	if (ret)
		goto out;
	if (column < 0)
		ret = column;
	if (ret)
		goto out;
	for (size_t v = 0; v < s->nr; v++) {
		int c = table_find(t, s->variables[v].name, err);

		at[v] = c < 0 ? 0 : (size_t)c;
		ret = c < 0 ? c : 0;
		if (ret)
			goto out;
	}
	for (size_t i = 0; i < t->nr_rows; i++) {
		ret = dataset_encode(s, t, at, i, rows + i * s->nr, err);
		if (ret)
			goto out;
		ret = table_number(t, (size_t)column, i, &y[i], err);
		if (ret)
			goto out;
		if (s->log && !(y[i] > 0))
			ret = err_set(err, EINVAL,
				      "%s:%" PRIu64 ": row %zu, column '%s': expected a number "
				      "above 0, got %g",
				      t->source, t->lines[i], i + 1, s->response, y[i]);
		if (ret)
			goto out;
		if (!(offset_of(&s->offset, rows + i * s->nr) > 0))
			ret = err_set(err, EINVAL,
				      "%s:%" PRIu64 ": row %zu: expected an offset above 0, got %g",
				      t->source, t->lines[i], i + 1,
				      offset_of(&s->offset, rows + i * s->nr));
		if (ret)
			goto out;
		if (s->log)
			y[i] = log(y[i] / offset_of(&s->offset, rows + i * s->nr));
	}
out:
	free(at);
	return ret;
}

/* Compares the errors of the new rows with those of the held-out rows. */
static int model_update_judge(const struct model *m, const double *rows, const double *y, size_t nr,
			      struct update_facts *f)
{
	double half = model_half_width(m, 0.9), *error = calloc(nr + 1, sizeof(*error));
	size_t inside = 0;
	int ret = error ? model_predict(m, rows, nr, error) : -ENOMEM;

	*f = (struct update_facts){ .nr_rows = nr, .inside_ratio = NAN, .ks_p = NAN };
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		bool outside = false;

		if (m->schema.log)
			error[i] = log(error[i] /
				       offset_of(&m->schema.offset, rows + i * m->schema.nr));
		error[i] = fabs(y[i] - error[i]);
		inside += error[i] <= half;
		for (size_t v = 0; v < m->schema.nr; v++)
			outside = outside || variable_outside(&m->schema.variables[v],
							      rows[i * m->schema.nr + v]);
		f->nr_outside += outside;
	}
	if (m->residuals && nr >= UPDATE_LEAST_ROWS) {
		size_t n = m->data.nr_rows;

		stats_sort(error, nr);
		stats_ks(error, nr, m->residuals, n, &f->ks_p);
		f->inside_ratio = (double)inside / (double)nr;
		f->drift = f->ks_p < UPDATE_DRIFT_P &&
			   stats_mean(error, nr) > stats_mean(m->residuals, n);
	}
out:
	free(error);
	return ret;
}

/* weight has the weights of the new rows; NULL means that each is 1. */
static int model_update_join(struct dataset *out, const struct model *m, const double *rows,
			     const double *y, const double *weight, size_t nr)
{
	const struct dataset *d = &m->data;
	size_t n = d->nr_rows + nr;
	int ret = dataset_alloc(out, n, d->nr_vars, weight != NULL);

	if (ret)
		return ret;
	for (size_t v = 0; v < d->nr_vars; v++) {
		memcpy(out->x + v * n, d->x + v * d->nr_rows, d->nr_rows * sizeof(*d->x));
		for (size_t i = 0; i < nr; i++)
			out->x[v * n + d->nr_rows + i] = rows[i * d->nr_vars + v];
	}
	memcpy(out->y, d->y, d->nr_rows * sizeof(*d->y));
	memcpy(out->y + d->nr_rows, y, nr * sizeof(*y));
	for (size_t i = 0; i < d->nr_rows && weight; i++)
		out->weight[i] = d->weight ? d->weight[i] : 1;
	if (weight)
		memcpy(out->weight + d->nr_rows, weight, nr * sizeof(*weight));
	return 0;
}

static int model_update_refit(struct model *out, const struct model *m, struct dataset *d,
			      struct err *err)
{
	struct candidate c = { .technique = m->technique };
	struct select_config config = { .schema = &m->schema, .data = d, .standard = true };
	struct schema s = { 0 };
	int ret =
		dataset_make_folds(d, m->data.nr_folds ? m->data.nr_folds : 10, m->data.seed, err);

	memcpy(c.parameters, m->parameters, sizeof(c.parameters));
	memset(c.fixed, true, sizeof(c.fixed));
	if (ret)
		goto out;
	ret = select_candidate(&c, &config);
	if (ret == -EFBIG)
		err_set(err, EINVAL,
			"%s: %zu rows are more than the %zu that this technique can learn from",
			m->technique->name, d->nr_rows, m->technique->most_rows);
	if (ret)
		goto out;
	ret = schema_copy(&s, &m->schema);
	if (ret)
		goto out;
	schema_take_ranges(&s, d);
	ret = model_fit(out, m->technique, m->parameters, &s, d);
	if (ret)
		goto out;
	candidate_give(&c, out);
out:
	schema_release(&s);
	candidate_release(&c);
	return ret;
}

int model_update(struct model *out, const struct model *m, const struct table *t,
		 const char *weight_column, struct update_facts *facts, struct err *err)
{
	size_t nr = t->nr_rows;
	double *rows = calloc(nr * m->schema.nr + 1, sizeof(*rows));
	double *y = calloc(nr + 1, sizeof(*y));
	double *weight = weight_column ? calloc(nr + 1, sizeof(*weight)) : NULL;
	struct dataset d = { 0 };
	int ret = rows && y && !weight_column == !weight ? 0 : -ENOMEM;

	if (ret)
		goto out;
	if (!nr)
		ret = err_set(err, EINVAL, "%s: no rows under the header", t->source);
	if (ret)
		goto out;
	if (m->data.weight && !weight_column)
		ret = err_set(err, EINVAL,
			      "%s: expected a column of weights, the model's rows have weights",
			      t->source);
	if (ret)
		goto out;
	if (weight)
		ret = dataset_weights(weight, t, weight_column, err);
	if (ret)
		goto out;
	ret = read_rows(m, t, rows, y, err);
	if (ret)
		goto out;
	ret = model_update_judge(m, rows, y, nr, facts);
	if (ret)
		goto out;
	ret = model_update_join(&d, m, rows, y, weight, nr);
	if (ret)
		goto out;
	ret = model_update_refit(out, m, &d, err);
out:
	dataset_release(&d);
	free(rows);
	free(y);
	free(weight);
	return ret;
}
