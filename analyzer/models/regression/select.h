/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select: the selection process (Noorshams, Modeling and Prediction of I/O Performance in
 * Virtualized Environments, 2015, section 6.3): candidates are filtered by simplicity and time,
 * each gets its parameters by S3 on the same folds, and the simplest within a share of the best
 * wins.
 */
#ifndef ANALYZER_REGRESSION_SELECT_H
#define ANALYZER_REGRESSION_SELECT_H

#include "analyzer/models/num/stats.h"
#include "analyzer/models/regression/objective.h"
#include "analyzer/models/regression/s3.h"

struct select_config {
	const struct schema *schema;
	const struct dataset *data; /* with folds */
	bool standard;		    /* no search */
	unsigned int splits, explorations, iterations;
	double improvement;
	unsigned int nr_bootstraps, nr_threads;
	/* May be NULL: called before a search with its bound, after each batch, and at its end. */
	void (*progress)(void *ctx, const struct technique *t, uint64_t done, uint64_t bound);
	void *ctx;
	/* Candidates fitted before with this configuration: a mean of techniques takes their parameters. May be NULL. */
	const struct candidate *known;
	size_t nr_known;
};

#define PARTS_MAX 2 /* of a mean of techniques */

struct candidate {
	const struct technique *technique;
	double parameters[PARAMETERS_MAX];
	bool fixed[PARAMETERS_MAX]; /* given by the caller, not searched */
	double *fold_rmse;	    /* owned, nr_splits */
	double *residuals;	    /* owned, |y - held-out prediction| ascending; NULL unknown */
	struct spread spread;	    /* owned: of these */
	uint32_t nr_splits;
	struct quality quality;
	uint64_t evaluations, nr_fits;
	double seconds;
	bool searched;
	bool by_folds;			/* fold_rmse is of the folds, not of bootstrap samples */
	double standard_cost;		/* of the standard parameters on the same splits */
	struct t_test against_standard; /* paired, fold by fold */
	struct s3_result trace;
	struct candidate *
		parts; /* owned, PARTS_MAX: those whose parameters were searched for this one; NULL: none */
};

/*
 * technique, fixed and their parameters are the caller's; fills the rest. 0, -EFBIG where the technique
 * takes no table that large, or another -errno.
 */
int select_candidate(struct candidate *c, const struct select_config *config);
void candidate_release(struct candidate *c);
/* Hands quality and residuals over to the model of that candidate. */
void candidate_give(struct candidate *c, struct model *m);
/* Index of the simplest candidate within that share of the least error (0.02: 2 %). */
size_t select_best(const struct candidate *c, size_t nr, double within);

#endif
