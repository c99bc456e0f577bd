/* SPDX-License-Identifier: Apache-2.0 */
/* gp_kernel: distances and covariances of a Gaussian process, for its fit and its predictions. */
#ifndef ANALYZER_REGRESSION_GP_KERNEL_H
#define ANALYZER_REGRESSION_GP_KERNEL_H

#include <math.h>

#include "analyzer/models/regression/gp.h"

/* The correlation at that squared distance. */
static inline double gp_correlation(double squared)
{
	double r = sqrt(5 * squared);

	return (1 + r + r * r / 3) * exp(-r);
}

/* The weighted mean of the responses. */
double gp_mean(const struct dataset *d);
/* How the value of a variable enters, before it is divided by the length. */
double gp_enter(const struct variable *v, bool logarithm, double x);
/* The point of a row: values as they enter, over the lengths; of a factor the number of the level. */
void gp_point(const struct gp *g, const struct schema *s, const double *row, double *point);
/* Squared distance of two points. */
double gp_squared(const struct gp *g, const struct schema *s, const double *a, const double *b);
/*
 * The lower triangle of the correlation matrix with the noise on its diagonal, column-major, then its
 * Cholesky factor in place. -ERANGE where it is not positive definite.
 */
int gp_factor(const struct gp *g, const struct schema *s, const struct dataset *d, double *matrix);

#endif
