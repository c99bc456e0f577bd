/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dataset: what a model learns from: independent variables in columns, one response, weights and
 * folds. A factor's cells are the numbers of its levels, 0, 1, ...; its levels are sorted (as
 * numbers where all are), as R's factor() does, so that the first is the reference.
 */
#ifndef ANALYZER_REGRESSION_DATASET_H
#define ANALYZER_REGRESSION_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/regression/offset.h"
#include "base/err.h"
#include "base/table.h"

#define DATASET_VARIABLES_MAX 1000
#define DATASET_LEVELS_MAX    10000
#define DATASET_ROWS_MAX      100000000u

struct variable {
	char *name;
	bool factor;
	size_t nr_levels;
	char **levels;	  /* owned; NULL for numbers */
	double low, high; /* of the training rows */
};

/* A zeroed one is empty. */
struct schema {
	char *response;
	bool log;	      /* y is the logarithm of the response: errors count by their ratio */
	struct offset offset; /* of a logarithm: y is that of the response over this product */
	size_t nr;
	struct variable *variables;
};

struct dataset {
	size_t nr_rows, nr_vars;
	double *x;	/* nr_vars columns of nr_rows */
	double *y;	/* nr_rows */
	double *weight; /* nr_rows, above 0; NULL: all 1 */
	uint32_t *fold; /* nr_rows, 0..nr_folds-1; NULL until given */
	uint32_t nr_folds;
	uint64_t seed; /* of the folds */
};

struct dataset_spec {
	const char *response;
	const char *const *predictors; /* none: every other column */
	size_t nr_predictors;
	const char *const *factors; /* besides columns that hold text */
	size_t nr_factors;
	bool log;		   /* learn the logarithm of the response, which must be above 0 */
	const char *offset;	   /* of a logarithm: offset.h; may be NULL */
	const char *weight_column; /* may be NULL */
	const char *fold_column;   /* 1..k; may be NULL */
};

/*
 * Between which values a prediction of sums of terms is kept, in the scale that was learned. Splines
 * and products of them go anywhere where no training row holds them: in an empty cell inside the
 * training range they have answered twice the largest response there is. A tenth of the responses'
 * range beyond it, on both sides, is as far as a trend may lead (as in RuleQuest's Cubist).
 */
#define LIMITS_BEYOND 0.1
struct limits {
	double low, high;
};

struct limits limits_of(const struct dataset *d);
static inline double limits_keep(const struct limits *l, double y)
{
	/* Written so that what is no number stays none. */
	return y < l->low ? l->low : y > l->high ? l->high : y;
}

void schema_release(struct schema *s);
int schema_copy(struct schema *out, const struct schema *s);
void dataset_release(struct dataset *d);

/* Reads schema and data. -EINVAL names row and column of what cannot be used. */
int dataset_read(struct dataset *d, struct schema *s, const struct table *t,
		 const struct dataset_spec *spec, struct err *err);
/*
 * Cells of one row by a schema that is known already; x has s->nr places, at[] says in which column
 * of the table each variable stands. A level never seen is -EINVAL naming the row.
 */
int dataset_encode(const struct schema *s, const struct table *t, const size_t *at, size_t row,
		   double *x, struct err *err);
/* The number of the level, or -1. */
long variable_level(const struct variable *v, const char *text);
/* True where x lies outside what the variable was trained on. */
bool variable_outside(const struct variable *v, double x);

/* A random partition into nr_folds folds whose sizes differ by one at most. */
int dataset_make_folds(struct dataset *d, uint32_t nr_folds, uint64_t seed, struct err *err);
/* The rows of a fold (inside), or all the others. out gets no folds. 0 or -ENOMEM. */
int dataset_subset(struct dataset *out, const struct dataset *d, uint32_t fold, bool inside);
/* Row-major copy of x: nr_rows x nr_vars, caller frees; NULL where there is no memory. */
double *dataset_rows(const struct dataset *d);
/* Room for nr_rows x nr_vars. 0 or -ENOMEM. */
int dataset_alloc(struct dataset *d, size_t nr_rows, size_t nr_vars, bool weighted);
/* Sets low and high of every variable to what the data holds. */
void schema_take_ranges(struct schema *s, const struct dataset *d);

#endif
