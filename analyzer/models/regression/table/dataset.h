/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dataset: the data from which a model learns. It has independent variables in columns, one
 * response, weights and folds. The cells of a factor are the numbers of its levels, 0, 1, and so
 * on. The levels are sorted (as numbers if all of them are numbers), like those of R's factor(),
 * so that the first level is the reference.
 */
#ifndef ANALYZER_REGRESSION_DATASET_H
#define ANALYZER_REGRESSION_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/regression/table/offset.h"
#include "base/data/table.h"
#include "base/text/err.h"

#define DATASET_VARIABLES_MAX 1000
#define DATASET_LEVELS_MAX    10000
#define DATASET_ROWS_MAX      100000000u

struct variable {
	char *name;
	bool factor;
	size_t nr_levels;
	char **levels;	  /* owned; NULL if the variable is a number */
	double low, high; /* range of the training rows */
};

/* A zeroed schema is empty. */
struct schema {
	char *response;
	bool log; /* y is the logarithm of the response, so that errors are ratios */
	/* if log is true, the response is divided by this product before its logarithm is taken */
	struct offset offset;
	size_t nr;
	struct variable *variables;
};

struct dataset {
	size_t nr_rows, nr_vars;
	double *x;	/* nr_vars columns of nr_rows */
	double *y;	/* nr_rows */
	double *weight; /* nr_rows, above 0; NULL: all 1 */
	uint32_t *fold; /* nr_rows numbers from 0 to nr_folds - 1; NULL until folds are set */
	size_t nr_folds;
	uint64_t seed; /* random seed of the folds */
};

struct dataset_spec {
	const char *response;
	const char *const *predictors; /* NULL means every other column */
	size_t nr_predictors;
	/* columns that are factors, in addition to those that hold text */
	const char *const *factors;
	size_t nr_factors;
	/* learn the logarithm of the response, which must then be above 0 */
	bool log;
	const char *offset;	   /* an offset of a logarithm (offset.h); may be NULL */
	const char *weight_column; /* may be NULL */
	const char *fold_column;   /* holds the numbers 1 to k; may be NULL */
};

/*
 * The range to which the predictions of sums of terms are limited, in the scale that was learned.
 * Splines and their products are unconstrained where there are no training rows: in an empty cell
 * inside the training range they have predicted twice the largest response. The limits lie a tenth
 * of the range of the responses beyond it on either side (as in RuleQuest's Cubist).
 */
#define LIMITS_BEYOND 0.1
struct limits {
	double low, high;
};

struct limits limits_of(const struct dataset *d);
static inline double limits_keep(const struct limits *l, double y)
{
	/* The comparisons are written so that NaN stays NaN. */
	return y < l->low ? l->low : y > l->high ? l->high : y;
}

void schema_release(struct schema *s);
int schema_copy(struct schema *out, const struct schema *s);
void dataset_release(struct dataset *d);

/*
 * Reads schema and data. Returns -EINVAL with the row and the column of a cell that cannot be
 * used.
 */
int dataset_read(struct dataset *d, struct schema *s, const struct table *t,
		 const struct dataset_spec *spec, struct err *err);
/* Reads a column of weights, one per row of the table. Returns -EINVAL for one not above 0. */
int dataset_weights(double *weight, const struct table *t, const char *name, struct err *err);
/*
 * Encodes the cells of one row by a known schema. x has room for s->nr values, and at[] holds the
 * column of the table for each variable. Returns -EINVAL with the row for a level that the schema
 * does not have.
 */
int dataset_encode(const struct schema *s, const struct table *t, const size_t *at, size_t row,
		   double *x, struct err *err);
/* Returns the number of the level, or -1 if there is no such level. */
long variable_level(const struct variable *v, const char *text);
/* Returns true if x lies outside the range or the levels of the training rows. */
bool variable_outside(const struct variable *v, double x);

/* Divides the rows randomly into nr_folds folds, whose sizes differ by at most one. */
int dataset_make_folds(struct dataset *d, uint32_t nr_folds, uint64_t seed, struct err *err);
/* Copies the rows of a fold (inside) or all other rows. out gets no folds. Returns 0 or -ENOMEM. */
int dataset_subset(struct dataset *out, const struct dataset *d, uint32_t fold, bool inside);
/*
 * Returns a row-major copy of x, nr_rows x nr_vars, which the caller frees, or NULL if there is no
 * memory.
 */
double *dataset_rows(const struct dataset *d);
/* Allocates nr_rows x nr_vars values. Returns 0 or -ENOMEM. */
int dataset_alloc(struct dataset *d, size_t nr_rows, size_t nr_vars, bool weighted);
/* Sets low and high of every variable to the range of the data. */
void schema_take_ranges(struct schema *s, const struct dataset *d);

#endif
