/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terms: a sum of products, which is the form of the models of least squares and MARS: f(x) = sum
 * of coefficient_j x product of factors. Term 0 is the constant.
 */
#ifndef ANALYZER_REGRESSION_TERMS_H
#define ANALYZER_REGRESSION_TERMS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/regression/table/dataset.h"
#include "base/data/fields_json.h"
#include "base/memory/buf.h"

enum factor_kind {
	FACTOR_LINEAR, /* x */
	FACTOR_ABOVE,  /* (x - at)+ */
	FACTOR_BELOW,  /* (at - x)+ */
	FACTOR_LEVEL,  /* 1 where x is level `at`, otherwise 0 */
};

struct term_factor {
	uint32_t kind, variable;
	double at;
};

/* A zeroed sum is empty: f = 0. */
struct terms {
	size_t nr, cap;
	double *coefficients;
	double *standard_errors; /* NaN where unknown; NULL if not asked for */
	size_t *ends;		 /* term j has the factors [ends[j-1], ends[j]) */
	struct term_factor *factors;
	size_t cap_factors;
};

void terms_release(struct terms *t);
/* Appends a term. Returns 0 or -ENOMEM. */
int terms_add(struct terms *t, double coefficient, const struct term_factor *factors, size_t nr);

static inline size_t terms_begin(const struct terms *t, size_t j)
{
	return j ? t->ends[j - 1] : 0;
}

static inline double factor_value(const struct term_factor *f, double x)
{
	switch (f->kind) {
	case FACTOR_LINEAR:
		return x;
	case FACTOR_ABOVE:
		return x > f->at ? x - f->at : 0;
	case FACTOR_BELOW:
		return x < f->at ? f->at - x : 0;
	default:
		return x == f->at;
	}
}

/* rows has nr x nr_vars values, row-major. The function allocates no memory. */
void terms_predict(const struct terms *t, const double *rows, size_t nr, size_t nr_vars,
		   double *out);
/* Writes one readable line per term: coefficient and factors. */
void terms_print(const struct terms *t, const struct schema *s, struct buf *out);
int terms_json(const struct terms *t, json_t **out);
/* Reads and checks all values. The context of r is the schema. Returns 0, -ENOMEM or -EINVAL. */
int terms_from_json(struct terms *t, struct fields_json *r, const json_t *value);
/* Writes C statements that add to `sum` from `const double *x`. */
void terms_export(const struct terms *t, const struct schema *s, struct buf *out);

#endif
