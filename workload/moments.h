/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moments: mean and variance of a stream in one pass; two of them can be merged.
 *
 * The update is Welford's (Note on a Method for Calculating Corrected Sums of Squares and Products,
 * 1962), the merge that of Chan, Golub and LeVeque (Updating Formulae and a Pairwise Algorithm for
 * Computing Sample Variances, 1979). Neither of them subtracts large sums, so the relative error
 * stays near that of double however far the mean is from 0.
 */
#ifndef WORKLOAD_MOMENTS_H
#define WORKLOAD_MOMENTS_H

#include <stdint.h>

struct moments {
	uint64_t nr;
	double mean; /* 0 while empty */
	double m2;   /* sum of squared deviations from the mean */
};

/* A zeroed struct is empty. */
void moments_add(struct moments *m, double x);
void moments_merge(struct moments *dst, const struct moments *src);
/* NaN while empty. */
double moments_mean(const struct moments *m);
/* Unbiased (n - 1); NaN below two values. */
double moments_variance(const struct moments *m);

#endif
