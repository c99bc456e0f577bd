/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_update: new rows for a saved model: whether they fit what it learned, and the model fitted
 * again with the same technique and parameters to old and new rows together.
 */
#ifndef ANALYZER_REGRESSION_MODEL_UPDATE_H
#define ANALYZER_REGRESSION_MODEL_UPDATE_H

#include "analyzer/models/regression/model.h"

/* Fewer new rows than this cannot tell a drift. */
#define UPDATE_LEAST_ROWS 5
#define UPDATE_DRIFT_P	  0.01

struct update_facts {
	size_t nr_rows;	     /* new ones */
	size_t nr_outside;   /* of them outside the training range */
	double inside_ratio; /* within the interval of 90 %; NaN unknown */
	double ks_p; /* errors of the new rows are of the held-out errors' law; NaN unknown */
	bool drift;  /* ks_p below UPDATE_DRIFT_P, and the new errors larger */
};

/*
 * Fills facts and out, a model of its own. weight_column: of the new rows; NULL: each counts 1, which
 * is refused where those of the model have weights. 0, -ENOMEM, -EINVAL for rows that do not fit.
 */
int model_update(struct model *out, const struct model *m, const struct table *t,
		 const char *weight_column, struct update_facts *facts, struct err *err);

#endif
