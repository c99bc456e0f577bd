/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread: how large the errors of a model are where it predicts a given value, so that an interval is
 * wide where errors are large and narrow where they are small (normalised split conformal prediction:
 * Lei et al., Distribution-free predictive inference for regression, JASA 113, 2018, section 5.2).
 *
 * The held-out rows are sorted by what was predicted for them and cut into groups of the same size. The
 * scale at the middle of a group is its mean absolute error, drawn towards the mean of all as far as chance explains their difference; between
 * the middles it is a line. An error counts divided by the scale at its row, and that scale is computed without the
 * row itself: the errors then stand to their scales as that of a new row does.
 */
#ifndef ANALYZER_REGRESSION_SPREAD_H
#define ANALYZER_REGRESSION_SPREAD_H

#include <stddef.h>

/* Fewer rows make no group of their own: the mean of their errors would be chance. */
#define SPREAD_GROUP_ROWS 20
#define SPREAD_GROUPS_MAX 32

/* A zeroed one is empty: nothing is known. */
struct spread {
	size_t nr;     /* of knots */
	double *at;    /* ascending: predictions, in the scale that was learned */
	double *scale; /* above 0 */
	size_t nr_rows;
	double *ratios; /* of held-out errors to their scales, ascending */
};

/* predicted and error (absolute): of nr held-out rows. 0 or -ENOMEM. */
int spread_fit(struct spread *s, const double *predicted, const double *error, size_t nr);
void spread_release(struct spread *s);
double spread_scale(const struct spread *s, double predicted);
/*
 * Half the width of the interval around that prediction that holds a new response with probability
 * `level`. NaN where too few rows are known.
 */
double spread_half_width(const struct spread *s, double predicted, double level);

#endif
