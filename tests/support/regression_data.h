/* SPDX-License-Identifier: Apache-2.0 */
/* regression_data: generates data for the tests of regression, the same on every machine. */
#ifndef TESTS_SLOW_REGRESSION_DATA_H
#define TESTS_SLOW_REGRESSION_DATA_H

#include "analyzer/models/regression/table/dataset.h"

/*
 * Makes Friedman's function 1 of five uniform variables with normal noise. with_factor adds a
 * variable of three levels, which shifts and tilts the function.
 */
void regression_data(struct dataset *d, struct schema *s, size_t nr_rows, bool with_factor,
		     uint64_t seed);

#endif
