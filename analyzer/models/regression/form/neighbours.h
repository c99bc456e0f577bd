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

#include "analyzer/models/regression/table/dataset.h"

#define NEIGHBOURS_MAX 9

/*
 * This struct is a node of the tree of rows (Friedman, Bentley and Finkel, An algorithm for finding
 * best matches in logarithmic expected time, 1977). The rows of one node are near to each other.
 */
struct neighbours_node {
	uint32_t begin, end; /* its rows in the order of the tree */
	uint32_t right;	     /* 0: a leaf; the left child is the next node */
};

/* A zeroed struct corrects nothing. */
struct neighbours {
	unsigned int k;
	size_t nr_rows, nr_vars;
	double *rows;		       /* nr_rows x nr_vars, row-major */
	double *ordered;	       /* the points in the order of the tree */
	uint32_t *row;		       /* by place in this order: the number of the row */
	struct neighbours_node *nodes; /* the root is the first one */
	/* per node: the lowest value of each variable, and then the highest one */
	double *boxes;
	size_t nr_nodes;
	double *shift; /* y_i - f(x_i) */
	/* per variable: the factor of a difference; below 0 for a factor variable */
	double *scale;
	double low, high; /* limits of corrected values */
};

/* fitted has the predictions of the model for the training rows. */
int neighbours_init(struct neighbours *n, const struct schema *s, const struct dataset *d,
		    unsigned int k, const double *fitted);
void neighbours_release(struct neighbours *n);
/*
 * This struct holds the training rows nearest to one case. A zeroed struct is empty and grows with
 * use.
 */
struct nearest {
	double distance[NEIGHBOURS_MAX]; /* ascending */
	size_t nr;
	/*
	 * These are all rows whose distance is at most the last of `distance`, including ties. rank
	 * is the index of the first item of `distance` that equals the distance of the row.
	 */
	size_t nr_rows, cap;
	struct nearest_row {
		uint32_t row;
		uint32_t rank;
		double distance;
	} * rows; /* owned; by ascending number */
};

void nearest_release(struct nearest *near);
/*
 * Finds the rows through the tree: parts of it whose box lies farther away than the nearest rows
 * found so far are left out. Returns 0 or -ENOMEM.
 */
int nearest_find(struct nearest *near, const struct neighbours *n, const double *x);
/*
 * Computes the corrections that are added to a prediction for 1..NEIGHBOURS_MAX neighbours, from
 * the shifts of the rows.
 */
void nearest_shifts(const struct nearest *near, const double *shift, double out[NEIGHBOURS_MAX]);

#endif
