/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_arrivals: computes statistics of arrival times by their definitions, over complete arrays.
 */
#ifndef TESTS_SLOW_ARRIVALS_H
#define TESTS_SLOW_ARRIVALS_H

#include <stddef.h>
#include <stdint.h>

/* The arrays hold nr arrival times in order. */
double slow_interarrival_mean_s(const uint64_t *arrival_ns, size_t nr);
double slow_interarrival_scv(const uint64_t *arrival_ns, size_t nr);
double slow_lag1_autocorrelation(const uint64_t *arrival_ns, size_t nr);
/*
 * Uses the bins on multiples of window_ns that lie wholly inside [begin_ns, end_ns). Returns NaN
 * with fewer than min_bins of them.
 */
double slow_idc(const uint64_t *arrival_ns, size_t nr, uint64_t window_ns, uint64_t begin_ns,
		uint64_t end_ns, uint64_t min_bins);

#endif
