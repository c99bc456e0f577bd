/* SPDX-License-Identifier: Apache-2.0 */
/* predict_rows: a table's rows as a model takes them, and its predictions. */
#ifndef ANALYZER_PREDICT_ROWS_H
#define ANALYZER_PREDICT_ROWS_H

#include "analyzer/models/regression/model.h"
#include "base/table.h"

/* A zeroed one is empty. */
struct predict_rows {
	double *rows; /* owned: table rows x variables, row-major */
	double *predicted;
};

/* -EINVAL: a column is missing, a cell unusable, or a prediction overflows, each named. -ENOMEM. */
int predict_rows(struct predict_rows *p, const struct model *m, const struct table *t,
		 struct err *err);
void predict_rows_release(struct predict_rows *p);

#endif
