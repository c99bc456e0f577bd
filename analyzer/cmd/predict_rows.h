/* SPDX-License-Identifier: Apache-2.0 */
/* predict_rows: the rows of a table in the form that a model takes, and its predictions. */
#ifndef ANALYZER_PREDICT_ROWS_H
#define ANALYZER_PREDICT_ROWS_H

#include "analyzer/models/regression/model.h"
#include "base/table.h"

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

#endif
