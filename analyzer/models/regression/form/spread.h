/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread: the size of a model's errors as a function of the prediction, so that intervals are wide
 * where errors are large and narrow where errors are small (normalised split conformal prediction:
 * Lei et al., Distribution-free predictive inference for regression, JASA 113, 2018, section 5.2).
 *
 * The held-out rows are sorted by their predictions and cut into groups of the same size. The
 * scale at the middle of a group is its mean absolute error, shrunk towards the overall mean as
 * far as chance explains the difference. Between the middles the scale is linear. Each error is
 * divided by the scale at its row. That scale is computed without the row itself, so that the
 * relation of an error to its scale is the same as for a new row.
 */
#ifndef ANALYZER_REGRESSION_SPREAD_H
#define ANALYZER_REGRESSION_SPREAD_H

#include <stddef.h>

/* A group has at least this many rows, because the mean of fewer errors would be mostly chance. */
#define SPREAD_GROUP_ROWS 20
#define SPREAD_GROUPS_MAX 32

/* A zeroed spread is empty: nothing is known. */
struct spread {
	size_t nr;     /* number of knots */
	double *at;    /* ascending predictions, in the scale that was learned */
	double *scale; /* above 0 */
	size_t nr_rows;
	double *ratios; /* held-out errors divided by their scales, ascending */
};

/* predicted and error (absolute) have nr items, one for each held-out row. Returns 0 or -ENOMEM. */
int spread_fit(struct spread *s, const double *predicted, const double *error, size_t nr);
void spread_release(struct spread *s);
/*
 * Returns half the width of the interval around that prediction that holds a new response with
 * probability `level`, or NaN if too few rows are known.
 */
double spread_half_width(const struct spread *s, double predicted, double level);

#endif
