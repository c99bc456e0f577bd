/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objective: the generalization error of parameter sets. c(p) is the mean over the splits of the
 * RMSE on held-out rows (Noorshams, Modeling and Prediction of I/O Performance in Virtualized
 * Environments, 2015, equation 6.3). The splits are the folds of the dataset, or bootstrap samples
 * that are tested on the rows they left out. The objective keeps one sweep per split, so that
 * parameter sets share work. Splits are evaluated in parallel, and the result does not depend on
 * the number of threads.
 */
#ifndef ANALYZER_REGRESSION_OBJECTIVE_H
#define ANALYZER_REGRESSION_OBJECTIVE_H

#include "analyzer/models/num/checkpoint.h"
#include "analyzer/models/regression/technique.h"

struct objective;

struct objective_config {
	const struct technique *technique;
	const struct schema *schema;
	const struct dataset *data;    /* must have folds */
	unsigned int nr_bootstraps;    /* 0 means that the folds are the splits */
	unsigned int nr_threads;       /* 0 means as many as there are processors */
	struct checkpoint *checkpoint; /* borrowed; may be NULL */
};

/* The objects to which config points must outlive the objective. Returns 0, -ENOMEM or -EINVAL. */
int objective_new(struct objective **out, const struct objective_config *config);
void objective_free(struct objective *o);
uint32_t objective_nr_splits(const struct objective *o);
/*
 * points has nr sets of PARAMETERS_MAX values. rmse has nr x nr_splits items and may be NULL; cost
 * has nr items.
 */
int objective_eval(struct objective *o, const double *points, size_t nr, double *rmse,
		   double *cost);
/*
 * Computes the held-out prediction of every row, by the folds: predicted[nr_rows]. The function
 * does not work for bootstrap samples.
 */
int objective_predict(struct objective *o, const double *p, double *predicted);
/* Returns the number of models fitted so far. */
uint64_t objective_nr_fits(const struct objective *o);

/* Compares predictions with responses. cv_rmse does not change. */
void quality_of(struct quality *q, const double *y, const double *predicted, size_t nr);

#endif
