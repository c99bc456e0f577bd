/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours: corrects a model's prediction by the training rows nearest to the case (Quinlan,
 * Combining instance-based and model-based learning, ICML 1993): the mean, weighted by
 * 1 / (distance + 0.5), of y_i + f(x) - f(x_i). Distance is Manhattan over the variables, each
 * difference divided by five standard deviations of the variable and at most 1, or 2 / levels for
 * a factor's unequal levels; to a sixteenth. Rows as far as the last one taken share the weight that is left.
 */
#ifndef ANALYZER_REGRESSION_NEIGHBOURS_H
#define ANALYZER_REGRESSION_NEIGHBOURS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/regression/dataset.h"

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
/* The training rows nearest to one case; a zeroed one is empty and grows as it is used. */
struct nearest {
	double distance[NEIGHBOURS_MAX]; /* ascending */
	size_t nr;
	/* Every row as near as the last of these, ties included, and which of them it ties with first. */
	size_t nr_rows, cap;
	uint32_t *rows;
	uint8_t *rank;
};

void nearest_release(struct nearest *near);
/* scratch: nr_rows. O(rows x variables). 0 or -ENOMEM. */
int nearest_find(struct nearest *near, const struct neighbours *n, const double *x,
		 double *scratch);
/* Corrections to add to a prediction, for 1..NEIGHBOURS_MAX neighbours; shift: of the rows. */
void nearest_shifts(const struct nearest *near, const double *shift, double out[NEIGHBOURS_MAX]);

#endif
