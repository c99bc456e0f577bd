/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conformal: intervals that hold for a new application, and not only for one more request, run or configuration
 * of an application that is known.
 *
 * The answers about one application err alike, so that a hundred of them tell less than a hundred
 * applications would. The bound is therefore a quantile over applications in which each of them counts the same, however many answers
 * it has, and in which the new one counts as one more that is infinitely wrong (hierarchical conformal prediction:
 * Lee, Barber and Willett, Distribution-free inference with hierarchical data, 2023, theorem 1). An answer about a new application, one
 * that comes from where the recorded ones came from, errs by at most the bound with at least the asked probability.
 *
 *	struct conformal_error errors[] = {
 *		{ 0, conformal_ratio(measured, predicted) }, ... one for each recorded answer
 *	};
 *	double bound = conformal_bound(errors, nr, 0.9);
 *
 *	if (isfinite(bound))	the interval is [predicted * exp(-bound), predicted * exp(bound)]
 *	else			too few applications are recorded: nothing can be told
 */
#ifndef ANALYZER_REGRESSION_CONFORMAL_H
#define ANALYZER_REGRESSION_CONFORMAL_H

#include <stddef.h>
#include <stdint.h>

struct conformal_error {
	uint32_t application; /* any number, the same for all answers about one application */
	double error;	      /* 0 or more, of any kind; infinite: nothing was predicted */
};

/* The error as the magnitude of the logarithm of measured over predicted; infinite where one is not above 0. */
double conformal_ratio(double measured, double predicted);
/*
 * The bound of the errors, or infinity where it cannot be told: there are fewer applications than
 * conformal_least(level), or errors are infinite. Sorts errors. O(nr log nr).
 */
double conformal_bound(struct conformal_error *errors, size_t nr, double level);
/* The least number of applications that can tell a bound of that level: 9 for 0.9. */
size_t conformal_least(double level);
/* How many different applications there are; sorts errors. */
size_t conformal_nr_applications(struct conformal_error *errors, size_t nr);

#endif
