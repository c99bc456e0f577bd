/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m5_linear: the linear model of one node of a model tree, over some variables (Quinlan 1992;
 * Cubist 2.07): least squares, then without one variable after the other, the one whose coefficient
 * times mean deviation is least first, as long as mean |y - f| (n + p) / (n - p) does not rise; then
 * once more without the rows whose error is above five times the mean.
 */
#ifndef ANALYZER_REGRESSION_M5_LINEAR_H
#define ANALYZER_REGRESSION_M5_LINEAR_H

#include "analyzer/models/regression/design.h"

/* A model is nr_columns + 1 numbers: the constant, then a coefficient per column of the design. */
struct m5_linear {
	const struct dataset *data; /* neither y nor weight is taken from it */
	const struct design *design;
	const double *y;
	const double *weight;	      /* of mean 1; NULL: all 1 */
	double floor, ceiling;	      /* predictions are cut to these */
	const double *spread;	      /* per column: its variance in all of the data */
	double *q, *r, *w, *z, *beta; /* of the columns in `kept` */
	double *mean, *deviation;     /* 0: of y, c + 1: of column c, at the node */
	double *error, *best;
	double *centre; /* as mean, at the rows of the fit under way */
	uint32_t *rows, *all, *kept;
};

int m5_linear_init(struct m5_linear *l, size_t nr_rows, size_t nr_columns);
void m5_linear_release(struct m5_linear *l);
/* use: per variable, true where it may be used. O(rows x variables^2). */
void m5_linear_fit(struct m5_linear *l, const uint32_t *rows, size_t nr, const bool *use,
		   double *model);
/* The model at a row of the data; cut: to floor and ceiling. */
double m5_linear_at(const struct m5_linear *l, const double *model, uint32_t row);
double m5_linear_cut(const struct m5_linear *l, const double *model, uint32_t row);
/* error x (n + p) / (n - p), p at most n - 1. */
double m5_adjusted(double error, double nr_rows, double nr_params);

#endif
