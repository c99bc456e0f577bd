/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp_kernel: computes distances and covariances of a Gaussian process, for its fit and its
 * predictions.
 */
#ifndef ANALYZER_REGRESSION_GP_KERNEL_H
#define ANALYZER_REGRESSION_GP_KERNEL_H

#include <math.h>

#include "analyzer/models/regression/form/gp.h"

/* Returns the correlation at a squared distance. */
static inline double gp_correlation(double squared)
{
	double r = sqrt(5 * squared);

	return (1 + r + r * r / 3) * exp(-r);
}

/* Returns the weighted mean of the responses. */
double gp_mean(const struct dataset *d);
/* Returns the value by which a variable enters, before the division by its length. */
double gp_enter(const struct variable *v, bool logarithm, double x);
/*
 * Computes the point of a row: values as they enter, divided by the lengths. A factor enters by
 * the number of its level.
 */
void gp_point(const struct gp *g, const struct schema *s, const double *row, double *point);
/* Returns the squared distance of two points. */
double gp_squared(const struct gp *g, const struct schema *s, const double *a, const double *b);
/*
 * Computes the lower triangle of the correlation matrix with the noise on its diagonal,
 * column-major, and then its Cholesky factor in place. Returns -ERANGE if the matrix is not
 * positive definite.
 */
int gp_factor(const struct gp *g, const struct schema *s, const struct dataset *d, double *matrix);

#endif
