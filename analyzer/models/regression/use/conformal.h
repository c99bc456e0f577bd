/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conformal: computes prediction intervals that are valid for a new application, and not only for
 * one more request, run or configuration of a known application.
 *
 * The errors of predictions about one application are similar, so that a hundred such errors say
 * less than the errors of a hundred applications. The bound is therefore a quantile over
 * applications. Each application has the same weight in it, however many predictions it has, and
 * the new application is added with an infinite error (hierarchical conformal prediction: Lee,
 * Barber and Willett, Distribution-free inference with hierarchical data, 2023, theorem 1). If the
 * new application comes from the same population as the recorded ones, the error of a prediction
 * about it is at most the bound, with at least the probability that was asked for.
 *
 *	struct conformal_error errors[] = {
 *		{ 0, conformal_ratio(measured, predicted) }, ... one for each recorded prediction
 *	};
 *	double bound = conformal_bound(errors, nr, 0.9);
 *
 *	if (isfinite(bound))	the interval is [predicted * exp(-bound), predicted * exp(bound)]
 *	else			too few applications are recorded for an interval
 */
#ifndef ANALYZER_REGRESSION_CONFORMAL_H
#define ANALYZER_REGRESSION_CONFORMAL_H

#include <stddef.h>
#include <stdint.h>

struct conformal_error {
	/* any number; predictions about the same application have the same number */
	uint32_t application;
	double error; /* 0 or more, of any kind; infinite if nothing was predicted */
};

/*
 * Returns the absolute logarithm of measured over predicted, or infinity if one of them is not
 * above 0.
 */
double conformal_ratio(double measured, double predicted);
/*
 * Returns the bound of the errors, or infinity if it cannot be computed: because there are fewer
 * applications than conformal_least(level), or errors are infinite. Sorts errors. The cost is O(nr
 * log nr).
 */
double conformal_bound(struct conformal_error *errors, size_t nr, double level);
/* Returns the least number of applications that a bound of that level needs: 9 for 0.9. */
size_t conformal_least(double level);
/* Returns the number of different applications. Sorts errors. */
size_t conformal_nr_applications(struct conformal_error *errors, size_t nr);

#endif
