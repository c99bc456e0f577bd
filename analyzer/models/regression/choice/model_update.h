/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_update: applies new rows to a saved model. It checks whether they agree with the model,
 * and fits the model again, with the same technique and parameters, to old and new rows together.
 */
#ifndef ANALYZER_REGRESSION_MODEL_UPDATE_H
#define ANALYZER_REGRESSION_MODEL_UPDATE_H

#include "analyzer/models/regression/model.h"

/* A drift cannot be detected with fewer new rows than this. */
#define UPDATE_LEAST_ROWS 5
#define UPDATE_DRIFT_P	  0.01

struct update_facts {
	size_t nr_rows;	     /* number of new rows */
	size_t nr_outside;   /* number of new rows outside the training range */
	double inside_ratio; /* share within the 90 % interval; NaN if unknown */
	/* p-value that new and held-out errors have the same distribution; NaN if unknown */
	double ks_p;
	bool drift; /* ks_p is below UPDATE_DRIFT_P, and the new errors are larger */
};

/*
 * Sets the facts and creates out, a model of its own. weight_column is a column of the new rows.
 * With NULL each new row has the weight 1, which is an error if the rows of the model have
 * weights. Returns 0, -ENOMEM, or -EINVAL for rows that do not match the schema.
 */
int model_update(struct model *out, const struct model *m, const struct table *t,
		 const char *weight_column, struct update_facts *facts, struct err *err);

#endif
