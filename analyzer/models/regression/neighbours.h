/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours: corrects the prediction of a model by the training rows nearest to the case
 * (Quinlan, Combining instance-based and model-based learning, ICML 1993). The result is the mean
 * of y_i + f(x) - f(x_i), weighted by 1 / (distance + 0.5). The distance is the sum over the
 * variables of the differences. A number's difference is divided by five standard deviations of
 * the variable and is at most 1; two different levels of a factor have the difference 2 / levels.
 * Distances are rounded to a sixteenth. Rows at the same distance as the last neighbour share the
 * remaining weight.
 */
#ifndef ANALYZER_REGRESSION_NEIGHBOURS_H
#define ANALYZER_REGRESSION_NEIGHBOURS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/regression/dataset.h"

#define NEIGHBOURS_MAX 9

/* A zeroed struct corrects nothing. */
struct neighbours {
	unsigned int k;
	size_t nr_rows, nr_vars;
	double *rows;  /* nr_rows x nr_vars, row-major */
	double *shift; /* y_i - f(x_i) */
	/* per variable: the factor of a difference; below 0 for a factor variable */
	double *scale;
	double low, high; /* limits of corrected values */
};

/* fitted has the predictions of the model for the training rows. */
int neighbours_init(struct neighbours *n, const struct schema *s, const struct dataset *d,
		    unsigned int k, const double *fitted);
void neighbours_release(struct neighbours *n);
/* The training rows nearest to one case. A zeroed struct is empty and grows with use. */
struct nearest {
	double distance[NEIGHBOURS_MAX]; /* ascending */
	size_t nr;
	/*
	 * All rows whose distance is at most the last of `distance`, including ties. rank is the
	 * index of the first item of `distance` that equals the distance of the row.
	 */
	size_t nr_rows, cap;
	uint32_t *rows;
	uint8_t *rank;
};

void nearest_release(struct nearest *near);
/* scratch has nr_rows numbers. The cost is O(rows x variables). Returns 0 or -ENOMEM. */
int nearest_find(struct nearest *near, const struct neighbours *n, const double *x,
		 double *scratch);
/*
 * Computes the corrections that are added to a prediction for 1..NEIGHBOURS_MAX neighbours, from
 * the shifts of the rows.
 */
void nearest_shifts(const struct nearest *near, const double *shift, double out[NEIGHBOURS_MAX]);

#endif
