// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/form/terms.h"

#define BLOCK 64 /* rows at a time, so that their products stay in the first-level cache */

void terms_release(struct terms *t)
{
	free(t->coefficients);
	free(t->standard_errors);
	free(t->ends);
	free(t->factors);
	memset(t, 0, sizeof(*t));
}

static int more_terms(struct terms *t)
{
	size_t cap = t->cap ? 2 * t->cap : 16;
	double *coefficients = reallocarray(t->coefficients, cap, sizeof(*coefficients));
	size_t *ends;

	if (!coefficients)
		return -ENOMEM;
	t->coefficients = coefficients;
	ends = reallocarray(t->ends, cap, sizeof(*ends));
	if (!ends)
		return -ENOMEM;
	t->ends = ends;
	t->cap = cap;
	return 0;
}

int terms_add(struct terms *t, double coefficient, const struct term_factor *factors, size_t nr)
{
	size_t begin = t->nr ? t->ends[t->nr - 1] : 0;

	if (t->nr == t->cap && more_terms(t))
		return -ENOMEM;
	if (begin + nr > t->cap_factors || !t->factors) {
		size_t cap = 2 * (begin + nr) + 16;
		struct term_factor *grown = reallocarray(t->factors, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		t->factors = grown;
		t->cap_factors = cap;
	}
	if (nr)
		memcpy(t->factors + begin, factors, nr * sizeof(*factors));
	t->coefficients[t->nr] = coefficient;
	t->ends[t->nr++] = begin + nr;
	return 0;
}

/*
 * product[i] *= factor(x[i]) over a whole block. Loops of fixed length can be compiled to vector
 * instructions.
 */
static void terms_multiply(const struct term_factor *f, const double *x, double *product)
{
	double at = f->at;

	switch (f->kind) {
	case FACTOR_LINEAR:
		for (int i = 0; i < BLOCK; i++)
			product[i] *= x[i];
		break;
	case FACTOR_ABOVE:
		for (int i = 0; i < BLOCK; i++)
			product[i] *= x[i] > at ? x[i] - at : 0;
		break;
	case FACTOR_BELOW:
		for (int i = 0; i < BLOCK; i++)
			product[i] *= x[i] < at ? at - x[i] : 0;
		break;
	default:
		for (int i = 0; i < BLOCK; i++)
			product[i] *= x[i] == at;
	}
}

static void predict_block(const struct terms *t, const double *rows, size_t nr, size_t nr_vars,
			  double *out)
{
	double sum[BLOCK] = { 0 }, product[BLOCK], x[BLOCK] = { 0 };

	for (size_t j = 0; j < t->nr; j++) {
		for (int i = 0; i < BLOCK; i++)
			product[i] = t->coefficients[j];
		for (size_t k = terms_begin(t, j); k < t->ends[j]; k++) {
			const double *from = rows + t->factors[k].variable;

			for (size_t i = 0; i < nr; i++)
				x[i] = from[i * nr_vars];
			terms_multiply(&t->factors[k], x, product);
		}
		for (int i = 0; i < BLOCK; i++)
			sum[i] += product[i];
	}
	memcpy(out, sum, nr * sizeof(*out));
}

void terms_predict(const struct terms *t, const double *rows, size_t nr, size_t nr_vars,
		   double *out)
{
	for (size_t i = 0; i < nr; i += BLOCK)
		predict_block(t, rows + i * nr_vars, nr - i < BLOCK ? nr - i : BLOCK, nr_vars,
			      out + i);
}

static void print_factor(const struct term_factor *f, const struct schema *s, struct buf *out)
{
	const struct variable *v = &s->variables[f->variable];

	switch (f->kind) {
	case FACTOR_LINEAR:
		buf_printf(out, " * %s", v->name);
		break;
	case FACTOR_ABOVE:
		buf_printf(out, " * max(0, %s - %.6g)", v->name, f->at);
		break;
	case FACTOR_BELOW:
		buf_printf(out, " * max(0, %.6g - %s)", f->at, v->name);
		break;
	default:
		buf_printf(out, " * [%s = %s]", v->name, v->levels[(size_t)f->at]);
	}
}

void terms_print(const struct terms *t, const struct schema *s, struct buf *out)
{
	buf_printf(out, "%s =\n", s->response);
	for (size_t j = 0; j < t->nr; j++) {
		buf_printf(out, "  %c %-12.6g", signbit(t->coefficients[j]) ? '-' : '+',
			   fabs(t->coefficients[j]));
		for (size_t k = terms_begin(t, j); k < t->ends[j]; k++)
			print_factor(&t->factors[k], s, out);
		if (t->standard_errors && isfinite(t->standard_errors[j]))
			buf_printf(out, "    (standard error %.3g)", t->standard_errors[j]);
		buf_printf(out, "\n");
	}
}

static const char *const kind_names[NR_FACTOR_KINDS] = { "linear", "above", "below", "level" };

static json_t *factors_json(const struct terms *t, size_t j)
{
	json_t *list = json_array();

	for (size_t k = terms_begin(t, j); k < t->ends[j]; k++)
		json_array_append_new(list, json_pack("{s:s, s:I, s:f}", "kind",
						      kind_names[t->factors[k].kind], "variable",
						      (json_int_t)t->factors[k].variable, "at",
						      t->factors[k].at));
	return list;
}

json_t *terms_json(const struct terms *t)
{
	json_t *list = json_array();

	for (size_t j = 0; j < t->nr; j++)
		json_array_append_new(list,
				      json_pack("{s:f, s:o}", "coefficient", t->coefficients[j],
						"factors", factors_json(t, j)));
	return list;
}

static int read_factor(struct term_factor *f, const json_t *root, const struct schema *s)
{
	const char *kind = json_string_value(json_object_get(root, "kind"));
	const json_t *variable = json_object_get(root, "variable");
	const json_t *at = json_object_get(root, "at");
	json_int_t index = json_integer_value(variable);
	const struct variable *v;

	if (!kind || !json_is_integer(variable) || !json_is_number(at) || index < 0 ||
	    (uint64_t)index >= s->nr)
		return -EINVAL;
	v = &s->variables[index];
	f->variable = (uint32_t)index;
	f->at = json_number_value(at);
	for (f->kind = 0; f->kind < NR_FACTOR_KINDS; f->kind++)
		if (strcmp(kind, kind_names[f->kind]) == 0)
			break;
	if (f->kind == NR_FACTOR_KINDS || (f->kind == FACTOR_LEVEL) != v->factor)
		return -EINVAL;
	if (v->factor && (f->at < 0 || f->at >= (double)v->nr_levels || f->at != floor(f->at)))
		return -EINVAL;
	return 0;
}

static int read_term(struct terms *t, const json_t *term, const struct schema *s)
{
	const json_t *coefficient = json_object_get(term, "coefficient");
	const json_t *list = json_object_get(term, "factors");
	size_t nr = json_array_size(list);
	struct term_factor *factors;
	int ret = 0;

	if (!json_is_number(coefficient) || !json_is_array(list) || nr > s->nr)
		return -EINVAL;
	factors = calloc(nr + 1, sizeof(*factors));
	if (!factors)
		return -ENOMEM;
	for (size_t k = 0; k < nr; k++) {
		ret = read_factor(&factors[k], json_array_get(list, k), s);
		if (ret)
			goto out;
	}
	ret = terms_add(t, json_number_value(coefficient), factors, nr);
out:
	free(factors);
	return ret;
}

int terms_from_json(struct terms *t, const json_t *root, const struct schema *s, struct err *err)
{
	size_t nr = json_array_size(root);
	int ret = 0;

	memset(t, 0, sizeof(*t));
	if (!nr)
		return err_set(err, EINVAL, "terms: expected a list with at least a constant");
	for (size_t j = 0; j < nr; j++) {
		ret = read_term(t, json_array_get(root, j), s);
		if (ret == -EINVAL)
			err_set(err, EINVAL, "terms[%zu]: not a term of these variables", j);
		if (ret)
			goto out;
	}
out:
	if (ret)
		terms_release(t);
	return ret;
}

static void export_factor(const struct term_factor *f, struct buf *out)
{
	const char *x = "x[";
	unsigned int v = f->variable;

	switch (f->kind) {
	case FACTOR_LINEAR:
		buf_printf(out, " * %s%u]", x, v);
		break;
	case FACTOR_ABOVE:
		buf_printf(out, " * (%s%u] > %.17g ? %s%u] - %.17g : 0)", x, v, f->at, x, v, f->at);
		break;
	case FACTOR_BELOW:
		buf_printf(out, " * (%s%u] < %.17g ? %.17g - %s%u] : 0)", x, v, f->at, f->at, x, v);
		break;
	default:
		buf_printf(out, " * (%s%u] == %.17g)", x, v, f->at);
	}
}

void terms_export(const struct terms *t, const struct schema *s, struct buf *out)
{
	(void)s;
	for (size_t j = 0; j < t->nr; j++) {
		buf_printf(out, "\tsum += %.17g", t->coefficients[j]);
		for (size_t k = terms_begin(t, j); k < t->ends[j]; k++)
			export_factor(&t->factors[k], out);
		buf_printf(out, ";\n");
	}
}
