/* SPDX-License-Identifier: Apache-2.0 */
/* stats: small statistics of arrays. Empty input gives NaN. */
#ifndef ANALYZER_NUM_STATS_H
#define ANALYZER_NUM_STATS_H

#include <stddef.h>

double stats_mean(const double *v, size_t nr);
/* Standard deviation with nr - 1. */
double stats_sd(const double *v, size_t nr);
/* Sorts ascending, in place. */
void stats_sort(double *v, size_t nr);
/* Quantile q in [0, 1] of a sorted array, straight lines between order statistics (R type 7). */
double stats_quantile(const double *sorted, size_t nr, double q);

struct stats_weighted {
	double value, weight;
};
/*
 * The least value with at least half of the weight at or below it. Reorders v; O(nr) on average.
 */
double stats_weighted_median(struct stats_weighted *v, size_t nr);

struct t_test {
	double t, p; /* p two-sided; NaN where the differences do not vary */
	size_t df;
};
/* Paired t-test of a[i] - b[i]. */
struct t_test stats_paired_t(const double *a, const double *b, size_t nr);

/* Two-sample Kolmogorov-Smirnov distance of sorted arrays and its asymptotic p-value. */
double stats_ks(const double *a, size_t nr_a, const double *b, size_t nr_b, double *p);

#endif
