/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate: how far predictions are from what was measured, beside how far measurements are from each
 * other.
 *
 * Rows with the same values of all variables are repetitions of one configuration. Its error is
 * |p - m| / |m| with m the mean of its repetitions and p that of their predictions; no model can
 * be expected to come nearer than the repetitions do to each other.
 */
#ifndef ANALYZER_REGRESSION_VALIDATE_H
#define ANALYZER_REGRESSION_VALIDATE_H

#include <stddef.h>

struct validation { /* ratios; NaN where there is nothing to tell them from */
	size_t nr_rows, nr_configurations;
	size_t nr_zero; /* configurations whose mean is 0: no relative error, left out */
	double mean_error, p95_error;
	double bias;	       /* mean of (p - m) / m */
	size_t nr_repeated;    /* configurations with two repetitions or more; over these: */
	double deviation;      /* mean standard deviation of a repetition, relative to m */
	double standard_error; /* that of m: each by the root of its number */
	double *errors; /* owned: by configuration that counts, in order of their first rows */
};

/*
 * rows: nr x nr_variables, row-major, of finite numbers. Sorting, O(nr log nr). 0, -ENOMEM.
 */
int validate(const double *rows, size_t nr_variables, const double *measured,
	     const double *predicted, size_t nr, struct validation *out);
void validation_release(struct validation *v);

#endif
