/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select: the selection process (Noorshams, Modeling and Prediction of I/O Performance in
 * Virtualized Environments, 2015, section 6.3). Candidates are filtered by simplicity and time. S3
 * finds the parameters of each candidate on the same folds. The simplest candidate whose error is
 * within a given share of the best error is selected.
 */
#ifndef ANALYZER_REGRESSION_SELECT_H
#define ANALYZER_REGRESSION_SELECT_H

#include "analyzer/models/num/stats.h"
#include "analyzer/models/regression/choice/objective.h"
#include "analyzer/models/regression/choice/s3.h"

struct select_config {
	const struct schema *schema;
	const struct dataset *data; /* must have folds */
	bool standard;		    /* use the standard parameters, without a search */
	unsigned int splits, explorations, iterations;
	double improvement;
	unsigned int nr_bootstraps, nr_threads;
	struct checkpoint *checkpoint; /* borrowed; may be NULL */
	/*
	 * May be NULL. The function is called before a search with its bound, after each batch, and
	 * at the end.
	 */
	void (*progress)(void *ctx, const struct technique *t, uint64_t done, uint64_t bound);
	void *ctx;
	/*
	 * Candidates that were fitted before with this configuration. A mean of techniques takes
	 * their parameters. May be NULL.
	 */
	const struct candidate *known;
	size_t nr_known;
};

#define PARTS_MAX 3 /* most parts of a mean of techniques */

struct candidate {
	const struct technique *technique;
	double parameters[PARAMETERS_MAX];
	bool fixed[PARAMETERS_MAX]; /* given by the caller and not searched */
	double *fold_rmse;	    /* owned, nr_splits */
	/* owned: |y - held-out prediction|, ascending; NULL if unknown */
	double *residuals;
	double *held_out;     /* owned: the predictions of all rows, each by the other folds */
	struct spread spread; /* owned: spread of the residuals */
	uint32_t nr_splits;
	struct quality quality;
	uint64_t evaluations, nr_fits;
	double seconds;
	bool searched;
	/* fold_rmse belongs to the folds, not to bootstrap samples */
	bool by_folds;
	double standard_cost;		/* cost of the standard parameters on the same splits */
	struct t_test against_standard; /* paired by folds */
	struct s3_result trace;
	struct candidate *
		/*
		 * owned, PARTS_MAX: the parts whose parameters were searched for this candidate;
		 * NULL: none
		 */
		parts;
};

/*
 * The caller sets technique, fixed and the fixed parameters; the function sets the rest. Returns
 * 0, -EFBIG if the technique does not accept a table of this size, or another -errno.
 */
int select_candidate(struct candidate *c, const struct select_config *config);
void candidate_release(struct candidate *c);
/* Moves quality and residuals to the model of that candidate. */
void candidate_give(struct candidate *c, struct model *m);
/*
 * Returns the index of the simplest candidate whose error exceeds the least error by at most this
 * share (0.02: 2 %).
 */
size_t select_best(const struct candidate *c, size_t nr, double within);

#endif
