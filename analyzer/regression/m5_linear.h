/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m5_linear: the linear model of one node: least squares over some columns by Gram-Schmidt done
 * twice, then without one column after the other, least harm first, as long as
 * (1/n) sum |y - f| (n + p) / (n - p) has its least there.
 */
#ifndef ANALYZER_REGRESSION_M5_LINEAR_H
#define ANALYZER_REGRESSION_M5_LINEAR_H

#include "analyzer/regression/design.h"

struct m5_linear {
	const struct design *design;
	const double *y, *weight; /* weight may be NULL */
	size_t cap;		  /* columns there is room for, the constant included */
	double *q, *r, *w, *z, *beta, *scratch;
	size_t *kept;
};

struct m5_fit {
	double absolute; /* weighted mean of |y - f| */
	double adjusted; /* times (n + p) / (n - p) */
	size_t nr_params;
};

int m5_linear_init(struct m5_linear *l, const struct design *g, const double *y,
		   const double *weight);
void m5_linear_release(struct m5_linear *l);
/* columns: true where it may be used. model: constant and a coefficient per column. */
struct m5_fit m5_linear_fit(struct m5_linear *l, const uint32_t *rows, size_t nr,
			    const bool *columns, double *model);
/* |y - f| times (n + p) / (n - p); infinite where there are not more rows than parameters. */
double m5_adjusted(double absolute, double nr_rows, double nr_params);

#endif
