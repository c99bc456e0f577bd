/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate: compares the errors of predictions with the differences between repeated measurements.
 *
 * Rows that have the same values of all variables are repetitions of one configuration. The error
 * of a configuration is the absolute value of (p - m) / m, where m is the mean of its repetitions
 * and p the mean of their predictions. No model can be expected to have smaller errors than the
 * repetitions have among each other.
 */
#ifndef ANALYZER_REGRESSION_VALIDATE_H
#define ANALYZER_REGRESSION_VALIDATE_H

#include <stddef.h>

struct validation { /* ratios; NaN where nothing is known */
	size_t nr_rows, nr_configurations;
	/* configurations whose mean is 0; they have no relative error and are left out */
	size_t nr_zero;
	double mean_error, p95_error;
	double bias; /* mean of (p - m) / m */
	/* configurations with at least two repetitions; the next two are over these */
	size_t nr_repeated;
	double deviation; /* mean standard deviation of a repetition, relative to m */
	/* that of m: deviation divided by the square root of the number of repetitions */
	double standard_error;
	/* owned: one per configuration that counts, in the order of their first rows */
	double *errors;
};

/*
 * rows has nr x nr_variables finite numbers, row-major. The rows are sorted, O(nr log nr). Returns
 * 0 or -ENOMEM.
 */
int validate(const double *rows, size_t nr_variables, const double *measured,
	     const double *predicted, size_t nr, struct validation *out);
void validation_release(struct validation *v);

#endif
