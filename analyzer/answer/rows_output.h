/* SPDX-License-Identifier: Apache-2.0 */
/* rows_output: writes a table as CSV or JSON and adds to each row what a model says of the row. */
#ifndef ANALYZER_ANSWER_ROWS_OUTPUT_H
#define ANALYZER_ANSWER_ROWS_OUTPUT_H

#include <stdio.h>

#include "base/data/table.h"

/* A table and, beside each of its rows, what a model says of it. All is borrowed. */
struct rows_output {
	const struct table *table;
	const char *const *names; /* of the values */
	size_t nr_names;
	const double *values; /* row by row; NaN: unknown */
	const bool *outside;  /* by row: outside of what the model learned from */
	int digits;	      /* of the numbers in CSV */
	bool json;
	FILE *out;
};

/* Writes the rows, as CSV or as a list in JSON. Returns 0, -ENOMEM or -EIO. */
int rows_output_print(const struct rows_output *o);

#endif
