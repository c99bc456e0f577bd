/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objective: the generalization error of parameter sets, c(p) = mean over the splits of the RMSE
 * on the rows held out (Noorshams, Modeling and Prediction of I/O Performance in Virtualized
 * Environments, 2015, equation 6.3). Splits are the dataset's folds, or bootstrap samples tested
 * on the rows they left out. One sweep per split lives as long as the objective, so that
 * parameter sets share their work. Splits are worked in parallel; the result does not depend on
 * the number of threads.
 */
#ifndef ANALYZER_REGRESSION_OBJECTIVE_H
#define ANALYZER_REGRESSION_OBJECTIVE_H

#include "analyzer/models/regression/technique.h"

struct objective;

struct objective_config {
	const struct technique *technique;
	const struct schema *schema;
	const struct dataset *data; /* with folds */
	unsigned int nr_bootstraps; /* 0: the folds */
	unsigned int nr_threads;    /* 0: as many as there are processors */
};

/* What config points to must outlive it. 0, -ENOMEM, -EINVAL. */
int objective_new(struct objective **out, const struct objective_config *config);
void objective_free(struct objective *o);
uint32_t objective_nr_splits(const struct objective *o);
/* points: nr sets of PARAMETERS_MAX. rmse: nr x nr_splits, may be NULL; cost: nr. */
int objective_eval(struct objective *o, const double *points, size_t nr, double *rmse,
		   double *cost);
/* Held-out prediction of every row, by the folds: predicted[nr_rows]. Not for bootstrap. */
int objective_predict(struct objective *o, const double *p, double *predicted);
/* Models fitted so far. */
uint64_t objective_nr_fits(const struct objective *o);

/* Of predictions against responses. cv_rmse is left alone. */
void quality_of(struct quality *q, const double *y, const double *predicted, size_t nr);

#endif
