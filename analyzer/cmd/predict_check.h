/* SPDX-License-Identifier: Apache-2.0 */
/* predict_check: predictions held against a table's own column of what the model predicts. */
#ifndef ANALYZER_PREDICT_CHECK_H
#define ANALYZER_PREDICT_CHECK_H

#include "analyzer/cmd/cli.h"
#include "analyzer/cmd/predict_rows.h"

/*
 * Shows the errors of m and, where other is not NULL, of that model of the same response, with the paired
 * t-test between the two. level is the level of the prediction interval. -EINVAL: no such column, a cell without a
 * number, or another response.
 */
int predict_check(const struct cli *cli, const struct model *m, const struct predict_rows *rows,
		  const struct table *t, const struct model *other, double level, struct err *err);

#endif
