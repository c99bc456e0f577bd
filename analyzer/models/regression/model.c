// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/model.h"
#include "analyzer/models/regression/technique.h"

/* Releases the parts that make predictions, but not the training data. */
static void model_release_form(struct model *m)
{
	terms_release(&m->terms);
	forest_release(&m->forest);
	rules_release(&m->rules);
	neighbours_release(&m->neighbours);
	gp_release(&m->gp);
}

void model_release(struct model *m)
{
	for (size_t i = 0; i < m->nr_members; i++)
		model_release_form(&m->members[i]);
	free(m->members);
	schema_release(&m->schema);
	dataset_release(&m->data);
	free(m->fold_rmse);
	free(m->residuals);
	spread_release(&m->spread);
	reach_release(&m->reach);
	model_release_form(m);
	memset(m, 0, sizeof(*m));
}

struct model *model_add_member(struct model *m)
{
	struct model *grown = reallocarray(m->members, m->nr_members + 1, sizeof(*grown)), *member;

	if (!grown)
		return NULL;
	m->members = grown;
	member = &m->members[m->nr_members++];
	*member = (struct model){ .schema = m->schema, .data = m->data, .limits = m->limits };
	forest_init(&member->forest);
	return member;
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
	m->limits = limits_of(d);
	ret = schema_copy(&m->schema, s);
	if (ret)
		goto out;
	ret = copy_data(&m->data, d);
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

static int model_correct(const struct model *m, const double *rows, size_t nr, double *out)
{
	const struct neighbours *n = &m->neighbours;
	struct nearest near = { 0 };
	int ret = 0;

	for (size_t i = 0; i < nr; i++) {
		double shift[NEIGHBOURS_MAX];

		ret = nearest_find(&near, n, rows + i * m->schema.nr);
		if (ret)
			goto out;
		nearest_shifts(&near, n->shift, shift);
		out[i] += shift[n->k - 1];
	}
out:
	nearest_release(&near);
	return ret;
}

/* Computes the prediction of a model without members, in the scale that was learned. */
static int model_predict_alone(const struct model *m, const double *rows, size_t nr, double *out)
{
	switch (m->form) {
	case MODEL_TERMS:
		terms_predict(&m->terms, rows, nr, m->schema.nr, out);
		for (size_t i = 0; i < nr; i++)
			out[i] = limits_keep(&m->limits, out[i]);
		break;
	case MODEL_FOREST:
		forest_predict(&m->forest, &m->schema, rows, nr, out);
		break;
	case MODEL_RULES:
		rules_predict(&m->rules, &m->schema, rows, nr, out);
		break;
	case MODEL_GP:
		gp_predict(&m->gp, &m->schema, rows, nr, out);
		break;
	default:
		return -EINVAL;
	}
	return m->neighbours.k ? model_correct(m, rows, nr, out) : 0;
}

static int model_predict_learned(const struct model *m, const double *rows, size_t nr, double *out)
{
	double *one;
	int ret;

	if (m->form != MODEL_MEMBERS)
		return model_predict_alone(m, rows, nr, out);
	one = calloc(nr + 1, sizeof(*one));
	if (!one)
		return -ENOMEM;
	memset(out, 0, nr * sizeof(*out));
	for (size_t k = 0; k < m->nr_members; k++) {
		ret = model_predict_alone(&m->members[k], rows, nr, one);
		if (ret)
			goto out;
		for (size_t i = 0; i < nr; i++)
			out[i] += m->members[k].share * one[i];
	}
	ret = 0;
out:
	free(one);
	return ret;
}

int model_predict(const struct model *m, const double *rows, size_t nr, double *out)
{
	int ret = model_predict_learned(m, rows, nr, out);

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

void model_interval(const struct model *m, double level, const double *row, double predicted,
		    double *low, double *high)
{
	double learned = predicted, half;

	if (m->schema.log)
		learned = log(predicted / offset_of(&m->schema.offset, row));
	half = m->spread.nr ? spread_half_width(&m->spread, learned, level)
			    : model_half_width(m, level);
	*low = m->schema.log ? predicted * exp(-half) : predicted - half;
	*high = m->schema.log ? predicted * exp(half) : predicted + half;
}

int model_take_reach(struct model *m)
{
	reach_release(&m->reach);
	return reach_init(&m->reach, &m->schema, &m->data);
}

struct reach_finding model_look(const struct model *m, const double *row)
{
	return reach_look(&m->reach, &m->schema, row);
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
	size_t nr = 0;

	for (size_t k = 0; k < m->nr_members; k++)
		nr += model_size(&m->members[k]);
	switch (m->form) {
	case MODEL_TERMS:
		return m->terms.nr;
	case MODEL_FOREST:
		return forest_nr_leaves(&m->forest);
	case MODEL_RULES:
		return m->rules.nr;
	case MODEL_GP:
		return m->gp.nr_rows;
	default:
		return nr;
	}
}

const char *model_parts_name(const struct model *m)
{
	static const char *const names[] = {
		[MODEL_TERMS] = "terms",
		[MODEL_FOREST] = "leaves",
		[MODEL_RULES] = "rules",
		[MODEL_GP] = "training rows that it weighs",
		[MODEL_MEMBERS] = "terms and rules",
	};

	return names[m->form];
}

static void model_print_form(const struct model *m, struct buf *out)
{
	if (m->form == MODEL_TERMS) {
		terms_print(&m->terms, &m->schema, out);
		buf_printf(out, "kept between %.6g and %.6g\n", m->limits.low, m->limits.high);
	} else if (m->form == MODEL_FOREST) {
		forest_print(&m->forest, &m->schema, out);
	} else if (m->form == MODEL_RULES) {
		rules_print(&m->rules, &m->schema, out);
	} else if (m->form == MODEL_GP) {
		gp_print(&m->gp, &m->schema, out);
	}
	if (m->neighbours.k)
		buf_printf(out, "corrected by the %u nearest training rows\n", m->neighbours.k);
}

static void model_print_members(const struct model *m, struct buf *out)
{
	buf_printf(out, "the weighted mean of %zu models\n", m->nr_members);
	for (size_t k = 0; k < m->nr_members; k++) {
		const struct model *member = &m->members[k];

		buf_printf(out, "\nmodel %zu, of weight %.4g: %s (", k + 1, member->share,
			   member->technique->name);
		technique_describe(member->technique, member->parameters, out);
		buf_printf(out, ")\n");
		model_print_form(member, out);
	}
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
	if (m->form == MODEL_MEMBERS)
		model_print_members(m, out);
	else
		model_print_form(m, out);
}
