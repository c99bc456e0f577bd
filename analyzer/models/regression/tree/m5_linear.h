/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m5_linear: fits the linear model of one node of a model tree over some variables (Quinlan,
 * Learning with continuous classes, 1992; Cubist 2.07). It begins with least squares. Then it
 * removes one variable after the other, each time the one whose coefficient times mean deviation
 * is smallest, as long as mean |y - f| (n + p) / (n - p) does not rise. At last it fits once more
 * without the rows whose error is above five times the mean error.
 */
#ifndef ANALYZER_REGRESSION_M5_LINEAR_H
#define ANALYZER_REGRESSION_M5_LINEAR_H

#include "analyzer/models/regression/table/design.h"

/*
 * A model is nr_columns + 1 numbers: the constant, then one coefficient per column of the design.
 */
struct m5_linear {
	const struct dataset *data; /* y and weight are not taken from it */
	const struct design *design;
	const double *y;
	const double *weight;	      /* their mean is 1; NULL means that all are 1 */
	double floor, ceiling;	      /* limits of the predictions */
	const double *spread;	      /* per column: its variance in all data */
	double *q, *r, *w, *z, *beta; /* for the columns in `kept` */
	double *mean, *deviation;     /* index 0: of y; index c + 1: of column c, at the node */
	double *error, *best;
	double *centre; /* like mean, but over the rows of the present fit */
	uint32_t *all, *kept;
	/*
	 * These are the rows of the present fit: the columns in use, nr_rows apart, then the
	 * response and the weights.
	 */
	double *node_x, *node_y, *node_weight;
};

int m5_linear_init(struct m5_linear *l, size_t nr_rows, size_t nr_columns);
void m5_linear_release(struct m5_linear *l);
/* use has one flag per variable: whether it may be used. The cost is O(rows x variables^2). */
void m5_linear_fit(struct m5_linear *l, const uint32_t *rows, size_t nr, const bool *use,
		   double *model);
/*
 * Computes the values of the model at rows of the data. cut limits them to floor and ceiling.
 */
void m5_linear_at(const struct m5_linear *l, const double *model, const uint32_t *rows, size_t nr,
		  double *out);
void m5_linear_cut(const struct m5_linear *l, const double *model, const uint32_t *rows, size_t nr,
		   double *out);
/* Returns error x (n + p) / (n - p), with p at most n - 1. */
double m5_adjusted(double error, double nr_rows, double nr_params);

#endif
