/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lsq: linear least squares by Householder QR (LAPACK dgeqrf), in one thread and never by normal
 * equations. A column that depends on earlier ones is left out with coefficient 0. This is the rule
 * of R's lm, so that the same terms are aliased. The error of a coefficient is about condition
 * number x 1e-16; with refinement (Bjorck, Iterative refinement of linear least squares solutions,
 * BIT 7, 1967: residual and solution together, with sums in 80-bit numbers) about 1e-15 while the
 * condition number is below 1e14.
 */
#ifndef ANALYZER_NUM_LSQ_H
#define ANALYZER_NUM_LSQ_H

#include <stdbool.h>
#include <stddef.h>

/* This share of a column's length must be independent of the columns before it. */
#define LSQ_TOLERANCE 1e-7

struct lsq_problem {
	size_t nr_rows, nr_columns;
	const double *x;      /* by columns, nr_rows each */
	const double *y;      /* nr_rows entries */
	const double *weight; /* nr_rows entries, each above 0; NULL: all are 1 */
	/* takes about ten times as long as a solution that is already factored */
	bool refine;
};

struct lsq_result {
	double *coefficients; /* belongs to the caller; nr_columns entries, 0 where left out */
	/* belongs to the caller; nr_columns entries, NaN where unknown; may be NULL */
	double *standard_errors;
	bool *used; /* belongs to the caller; nr_columns entries; may be NULL */
	size_t rank;
	double rss; /* weighted residual sum of squares */
};

/*
 * Returns 0, -ENOMEM, or -ERANGE where numbers overflow. O(rows x columns^2), and once more for
 * each column left out. For any thread.
 */
int lsq_solve(const struct lsq_problem *p, struct lsq_result *r);

/*
 * Keeps BLAS in the calling thread, once per process, so that sums do not depend on the number of
 * processors.
 */
void lsq_single_thread(void);

#endif
