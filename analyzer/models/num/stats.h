/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats: computes small statistics of arrays: means, quantiles, and tests. An empty array gives
 * NaN.
 */
#ifndef ANALYZER_NUM_STATS_H
#define ANALYZER_NUM_STATS_H

#include <stddef.h>

double stats_mean(const double *v, size_t nr);
/* Returns the standard deviation with divisor nr - 1. */
double stats_sd(const double *v, size_t nr);
/* Sorts ascending, in place. */
void stats_sort(double *v, size_t nr);
/*
 * Returns quantile q in [0, 1] of a sorted array, with linear interpolation between order
 * statistics (R type 7).
 */
double stats_quantile(const double *sorted, size_t nr, double q);

struct stats_weighted {
	double value, weight;
};
/*
 * Returns the least value at or below which lies at least half of the weight. Reorders v; O(nr) on
 * average.
 */
double stats_weighted_median(struct stats_weighted *v, size_t nr);

struct t_test {
	double t, p; /* p is two-sided; NaN where the differences do not vary */
	size_t df;
};
/* Makes the paired t-test of a[i] - b[i]. */
struct t_test stats_paired_t(const double *a, const double *b, size_t nr);

/*
 * Returns the two-sample Kolmogorov-Smirnov distance of sorted arrays, and its asymptotic p-value
 * in *p.
 */
double stats_ks(const double *a, size_t nr_a, const double *b, size_t nr_b, double *p);

#endif
