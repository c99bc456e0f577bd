/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours: corrects a model's prediction by the training rows nearest to the case (Quinlan,
 * Combining instance-based and model-based learning, ICML 1993): the mean, weighted by
 * 1 / (distance + 0.5), of y_i + f(x) - f(x_i). Distance is Manhattan over the variables, each
 * difference divided by five standard deviations of the variable and at most 1, or 2 / levels for
 * a factor's unequal levels. Rows as far as the last one taken share the weight that is left.
 */
#ifndef ANALYZER_REGRESSION_NEIGHBOURS_H
#define ANALYZER_REGRESSION_NEIGHBOURS_H

#include <stddef.h>

#include "analyzer/regression/dataset.h"

#define NEIGHBOURS_MAX 9

/* A zeroed one corrects nothing. */
struct neighbours {
	unsigned int k;
	size_t nr_rows, nr_vars;
	double *rows;	  /* nr_rows x nr_vars, row-major */
	double *shift;	  /* y_i - f(x_i) */
	double *scale;	  /* per variable: what a difference is multiplied by; below 0 a factor */
	double low, high; /* corrected values are cut to these */
};

/* fitted: the model at the training rows. */
int neighbours_init(struct neighbours *n, const struct schema *s, const struct dataset *d,
		    unsigned int k, const double *fitted);
void neighbours_release(struct neighbours *n);
/* The correction to add to a prediction. scratch: nr_rows. O(rows x variables). */
double neighbours_shift(const struct neighbours *n, unsigned int k, const double *x,
			double *scratch);
/*
 * Corrections for 1..NEIGHBOURS_MAX neighbours at once, the distances looked at a single time;
 * shift[k - 1].
 */
void neighbours_shifts(const struct neighbours *n, const double *x, double *scratch,
		       double shift[NEIGHBOURS_MAX]);

#endif
