// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/model.h"
#include "analyzer/models/regression/technique.h"

void model_release(struct model *m)
{
	schema_release(&m->schema);
	dataset_release(&m->data);
	free(m->fold_rmse);
	free(m->residuals);
	terms_release(&m->terms);
	forest_release(&m->forest);
	rules_release(&m->rules);
	neighbours_release(&m->neighbours);
	memset(m, 0, sizeof(*m));
}

static int copy_data(struct dataset *out, const struct dataset *d)
{
	int ret = dataset_alloc(out, d->nr_rows, d->nr_vars, d->weight != NULL);

	if (ret)
		return ret;
	memcpy(out->x, d->x, d->nr_rows * d->nr_vars * sizeof(*d->x));
	memcpy(out->y, d->y, d->nr_rows * sizeof(*d->y));
	if (d->weight)
		memcpy(out->weight, d->weight, d->nr_rows * sizeof(*d->weight));
	if (d->fold) {
		out->fold = calloc(d->nr_rows + 1, sizeof(*out->fold));
		if (!out->fold)
			return -ENOMEM;
		memcpy(out->fold, d->fold, d->nr_rows * sizeof(*d->fold));
	}
	out->nr_folds = d->nr_folds;
	out->seed = d->seed;
	return 0;
}

int model_fit(struct model *m, const struct technique *t, const double *p, const struct schema *s,
	      const struct dataset *d)
{
	struct sweep_input in = { .schema = s, .train = d };
	void *sweep = NULL;
	int ret;

	memset(m, 0, sizeof(*m));
	forest_init(&m->forest);
	m->technique = t;
	memcpy(m->parameters, p, t->nr_parameters * sizeof(*p));
	m->quality = (struct quality){ NAN, NAN, NAN, NAN };
	ret = schema_copy(&m->schema, s);
	if (!ret)
		ret = copy_data(&m->data, d);
	m->limits = limits_of(d);
	if (ret)
		goto out;
	ret = t->open(&sweep, t, &in);
	if (ret)
		goto out;
	ret = t->extract(sweep, p, m);
out:
	if (sweep)
		t->close(sweep);
	if (ret)
		model_release(m);
	return ret;
}

static int predict_learned(const struct model *m, const double *rows, size_t nr, double *out)
{
	const struct neighbours *n = &m->neighbours;
	struct nearest near = { 0 };
	double *scratch;
	int ret;

	if (m->form == MODEL_TERMS) {
		terms_predict(&m->terms, rows, nr, m->schema.nr, out);
		for (size_t i = 0; i < nr; i++)
			out[i] = limits_keep(&m->limits, out[i]);
	} else if (m->form == MODEL_FOREST) {
		forest_predict(&m->forest, &m->schema, rows, nr, out);
	} else {
		rules_predict(&m->rules, &m->schema, rows, nr, out);
	}
	if (!n->k)
		return 0;
	scratch = calloc(n->nr_rows + 1, sizeof(*scratch));
	ret = scratch ? 0 : -ENOMEM;
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		double shift[NEIGHBOURS_MAX];

		ret = nearest_find(&near, n, rows + i * m->schema.nr, scratch);
		if (ret)
			break;
		nearest_shifts(&near, n->shift, shift);
		out[i] += shift[n->k - 1];
		if (ret)
			goto out;
	}
out:
	nearest_release(&near);
	free(scratch);
	return ret;
}

int model_predict(const struct model *m, const double *rows, size_t nr, double *out)
{
	int ret = predict_learned(m, rows, nr, out);

	if (ret)
		return ret;
	for (size_t i = 0; i < nr && m->schema.log; i++)
		out[i] = exp(out[i]) * offset_of(&m->schema.offset, rows + i * m->schema.nr);
	return 0;
}

double model_measured(const struct model *m, size_t i)
{
	double product = 1;

	for (size_t k = 0; k < m->schema.offset.nr; k++) {
		const struct offset_part *p = &m->schema.offset.parts[k];
		double x = m->data.x[p->variable * m->data.nr_rows + i];

		product *= p->rest ? p->from - x : x;
	}
	return m->schema.log ? exp(m->data.y[i]) * product : m->data.y[i];
}

void model_interval(const struct model *m, double predicted, double half, double *low, double *high)
{
	*low = m->schema.log ? predicted * exp(-half) : predicted - half;
	*high = m->schema.log ? predicted * exp(half) : predicted + half;
}

double model_half_width(const struct model *m, double level)
{
	double rank = ceil((double)(m->data.nr_rows + 1) * level);

	if (!m->residuals || rank < 1 || rank > (double)m->data.nr_rows)
		return NAN;
	return m->residuals[(size_t)rank - 1];
}

size_t model_size(const struct model *m)
{
	return m->form == MODEL_TERMS	 ? m->terms.nr
	       : m->form == MODEL_FOREST ? forest_nr_leaves(&m->forest)
					 : m->rules.nr;
}

static void print_ranges(const struct model *m, struct buf *out)
{
	buf_printf(out, "trained on %zu rows:", m->data.nr_rows);
	for (size_t v = 0; v < m->schema.nr; v++) {
		const struct variable *var = &m->schema.variables[v];

		if (var->factor)
			buf_printf(out, "%s %s of %zu levels", v ? "," : "", var->name,
				   var->nr_levels);
		else
			buf_printf(out, "%s %s %.6g to %.6g", v ? "," : "", var->name, var->low,
				   var->high);
	}
	buf_printf(out, "\n");
}

void model_print(const struct model *m, struct buf *out)
{
	buf_printf(out, "%s of %s'%s' (", m->technique->name,
		   m->schema.log ? "the logarithm of " : "", m->schema.response);
	technique_describe(m->technique, m->parameters, out);
	buf_printf(out, ")\n");
	if (m->schema.offset.nr) {
		buf_printf(out, "over ");
		offset_print(&m->schema.offset, &m->schema, out);
		buf_printf(out, "\n");
	}
	print_ranges(m, out);
	if (isfinite(m->quality.cv_rmse))
		buf_printf(out,
			   "error on held-out rows: RMSE %.6g%s, mean relative error %.2f %%\n",
			   m->quality.cv_rmse, m->schema.log ? " of the logarithm" : "",
			   100 * m->quality.mean_relative_error);
	buf_printf(out, "\n");
	if (m->form == MODEL_TERMS) {
		terms_print(&m->terms, &m->schema, out);
		buf_printf(out, "kept between %.6g and %.6g\n", m->limits.low, m->limits.high);
	} else if (m->form == MODEL_FOREST) {
		forest_print(&m->forest, &m->schema, out);
	} else {
		rules_print(&m->rules, &m->schema, out);
	}
	if (m->neighbours.k)
		buf_printf(out, "corrected by the %u nearest training rows\n", m->neighbours.k);
}
