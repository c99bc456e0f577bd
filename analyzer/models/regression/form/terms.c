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

/* A term as it stands in a file. */
struct term_saved {
	double coefficient;
	size_t nr;
	struct term_factor *factors;
};

#define AT(type, member) .offset = offsetof(struct type, member), .required = true

static const char *const kind_names[] = { "linear", "above", "below", "level", NULL };
static const struct field factor_fields[] = {
	FIELD(WORD, "kind", AT(term_factor, kind), .words = kind_names),
	FIELD(COUNT, "variable", AT(term_factor, variable), .room = sizeof(uint32_t)),
	FIELD(NUMBER, "at", AT(term_factor, at), .low = -INFINITY),
	{ 0 },
};
static const struct fields factor_table = { .name = "factor", .fields = factor_fields };
static const struct field factor_item = FIELD(STRUCT, NULL, .of = &factor_table);
static const struct field term_fields[] = {
	FIELD(NUMBER, "coefficient", AT(term_saved, coefficient), .low = -INFINITY),
	FIELD(LIST, "factors", AT(term_saved, factors), .item = &factor_item,
	      .stride = sizeof(struct term_factor), .owned = true,
	      .count = offsetof(struct term_saved, nr)),
	{ 0 },
};
static const struct fields term_table = { .name = "term", .fields = term_fields };

int terms_json(const struct terms *t, json_t **out)
{
	static const struct field item = FIELD(STRUCT, NULL, .of = &term_table);
	json_t *list = json_array();
	int ret = list ? 0 : -ENOMEM;

	for (size_t j = 0; j < t->nr && !ret; j++) {
		size_t begin = terms_begin(t, j);
		struct term_saved term = { t->coefficients[j], t->ends[j] - begin,
					   t->factors + begin };

		ret = fields_json_append(list, &item, &term);
	}
	*out = list;
	return ret;
}

static bool factor_fits(const struct term_factor *f, const struct schema *s)
{
	const struct variable *v = &s->variables[f->variable];

	if (f->variable >= s->nr || (f->kind == FACTOR_LEVEL) != v->factor)
		return false;
	return !v->factor || (f->at >= 0 && f->at < (double)v->nr_levels && f->at == floor(f->at));
}

static int term_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			  void *to)
{
	struct term_saved term = { 0 };
	int ret = fields_json_read(r, &term_table, value, &term);

	(void)f;
	for (size_t k = 0; k < term.nr && !ret; k++)
		if (term.nr > ((struct schema *)r->context)->nr ||
		    !factor_fits(&term.factors[k], r->context))
			ret = fields_json_error(r, "expected a term of the variables");
	if (!ret)
		ret = terms_add(to, term.coefficient, term.factors, term.nr);
	free(term.factors);
	return ret;
}

int terms_from_json(struct terms *t, struct fields_json *r, const json_t *value)
{
	static const struct field term_item = FIELD(ANY, NULL, .from_json = term_from_json);
	static const struct field list = FIELD(LIST, NULL, .item = &term_item, .low = 1);

	return fields_json_read_value(r, &list, value, t);
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
