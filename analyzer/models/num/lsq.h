/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lsq: linear least squares by Householder QR (LAPACK dgeqrf), one thread, never by normal
 * equations. A column that depends on those before it is left out with coefficient 0: the rule of
 * R's lm, so that aliased terms are the same ones. Error of a coefficient: about
 * condition number x 1e-16; refined (Bjorck, BIT 7, 1967: residual and solution together, sums in
 * 80-bit numbers) about 1e-15 while the condition number is below 1e14.
 */
#ifndef ANALYZER_NUM_LSQ_H
#define ANALYZER_NUM_LSQ_H

#include <stdbool.h>
#include <stddef.h>

/* Part of a column's length that must be new against the columns before it. */
#define LSQ_TOLERANCE 1e-7

struct lsq_problem {
	size_t nr_rows, nr_columns;
	const double *x;      /* column-major, nr_rows each */
	const double *y;      /* nr_rows */
	const double *weight; /* nr_rows, each above 0; NULL: all 1 */
	bool refine;	      /* for some ten times the time of a solution already factored */
};

struct lsq_result {
	double *coefficients;	 /* caller's, nr_columns; 0 where left out */
	double *standard_errors; /* caller's, nr_columns, NaN where unknown; may be NULL */
	bool *used;		 /* caller's, nr_columns; may be NULL */
	size_t rank;
	double rss; /* weighted residual sum of squares */
};

/* 0, -ENOMEM, -ERANGE where numbers overflow. O(rows x columns^2), once more per column left out. Any thread. */
int lsq_solve(const struct lsq_problem *p, struct lsq_result *r);

/* Keeps BLAS in the calling thread, once per process: the same sums whatever the machine's cores. */
void lsq_single_thread(void);

#endif
