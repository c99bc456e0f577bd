/* SPDX-License-Identifier: Apache-2.0 */
/* predict_check: compares predictions with a table's own column of the response. */
#ifndef ANALYZER_PREDICT_CHECK_H
#define ANALYZER_PREDICT_CHECK_H

#include "analyzer/cmd/cli.h"
#include "analyzer/cmd/predict_rows.h"

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
