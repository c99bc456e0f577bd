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
 * Shows the errors of the model and, where there is another one, of that and the paired t-test
 * between the two; with
 * `by`, how far the answers about whole applications are off. *told becomes false where there are
 * too few
 * applications for that. -EINVAL: no such column, a cell without a number, or another response.
 */
int predict_check(const struct cli *cli, const struct predict_check *ask,
		  const struct predict_rows *rows, const struct table *t, bool *told,
		  struct err *err);

#endif
