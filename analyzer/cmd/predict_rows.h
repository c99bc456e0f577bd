/* SPDX-License-Identifier: Apache-2.0 */
/* predict_rows: the rows of a table in the form that a model takes, and its predictions. */
#ifndef ANALYZER_PREDICT_ROWS_H
#define ANALYZER_PREDICT_ROWS_H

#include "analyzer/models/regression/model.h"
#include "base/table.h"
#include "analyzer/cmd/cli.h"

/* A zeroed struct is empty. */
struct predict_rows {
	double *rows; /* owned; table rows x variables, row by row */
	double *predicted;
};

/*
 * Returns 0; -EINVAL: a column is missing, a cell cannot be used or a prediction overflows, each
 * with its name in err; -ENOMEM.
 */
int predict_rows(struct predict_rows *p, const struct model *m, const struct table *t,
		 struct err *err);
void predict_rows_release(struct predict_rows *p);

/* A table and, beside each of its rows, what a model says of it. All is borrowed. */
struct rows_output {
	const struct table *table;
	const char *const *names; /* of the values */
	size_t nr_names;
	const double *values; /* row by row; NaN: unknown */
	const bool *outside;  /* by row: outside of what the model learned from */
	int digits;	      /* of the numbers in CSV */
	bool json;
};

/* Prints the rows to standard output, as CSV or as a list in JSON. Returns 0, -ENOMEM or -EIO. */
int rows_output_print(const struct rows_output *o);

/* predict_check: compares predictions with a table's own column of the response. */

struct predict_check {
	const struct model *model;
	const struct model *other; /* of the same response, beside it; may be NULL */
	double level;		   /* of the prediction interval */
	const char *by;		   /* column that names the application of each row; may be NULL */
};

/*
 * Prints the errors of the model. Where there is another model, it also prints that model's errors
 * and the paired t-test between the two. With `by` it prints how large the errors are for whole
 * applications; *told becomes false where there are too few applications for that. Returns -EINVAL
 * where the table lacks the column, a cell holds no number, or the other model has another
 * response.
 */
int predict_check(const struct cli *cli, const struct predict_check *ask,
		  const struct predict_rows *rows, const struct table *t, bool *told,
		  struct err *err);

#endif
