/* SPDX-License-Identifier: Apache-2.0 */
/* predict_rows: brings the rows of a table into the form that a model takes, and predicts them. */
#ifndef ANALYZER_PREDICT_ROWS_H
#define ANALYZER_PREDICT_ROWS_H

#include "analyzer/answer/answer.h"
#include "analyzer/models/regression/model.h"
#include "base/data/table.h"

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

/* predict_check: compares predictions with a table's own column of the response. */

struct predict_check {
	const struct model *model;
	const struct model *other; /* another model of the same response; may be NULL */
	double level;		   /* of the prediction interval */
	const char *by;		   /* column that names the application of each row; may be NULL */
};

/*
 * Makes an answer of the errors of the model. Where there is another model, the answer also has
 * that model's errors and the paired t-test between the two. With `by` it says how large the errors
 * are for whole applications; *told becomes false where there are too few applications for that.
 * The caller owns *out. Returns 0, -ENOMEM, or -EINVAL where the table lacks the column or a cell
 * holds no number.
 */
int predict_check(struct answer **out, const struct predict_check *ask,
		  const struct predict_rows *rows, const struct table *t, bool *told,
		  struct err *err);

#endif
