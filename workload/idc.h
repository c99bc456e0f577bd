/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idc: index of dispersion for counts, Var(N_w) / E(N_w), at w = 10 ms, 100 ms, 1 s and 10 s.
 *
 * The index is 1 at every w for a Poisson stream and 0 for evenly spaced arrivals; it grows with w
 * for bursty traffic. Counts fall into bins [i w, (i + 1) w) of the monotonic clock itself, not of
 * the period, so that the bins of two periods coincide. Only bins that lie wholly inside the period
 * are used. With fewer than IDC_MIN_BINS of them the index is unknown.
 *
 * Memory is bounded (about 8 KiB). For each w the counts of the first IDC_OPEN_BINS bins and of the
 * last IDC_OPEN_BINS bins stay open. Half of the first bins lie before the period's begin, for
 * requests that arrived before it. The bins between are closed: only their sum and their sum of
 * squares are kept. An arrival that is older than all open bins counts in the oldest open bin. An
 * arrival costs a comparison and an increment; a bin costs O(1) amortized.
 */
#ifndef WORKLOAD_IDC_H
#define WORKLOAD_IDC_H

#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define IDC_NR_SCALES 4
#define IDC_OPEN_BINS 256
/* The standard error of a variance from n values is about sqrt(2 / n): 26 % at 30. */
#define IDC_MIN_BINS 30

extern const uint64_t idc_window_ns[IDC_NR_SCALES];

struct idc_scale {
	uint64_t origin;     /* bin of head[0] */
	uint64_t tail_begin; /* oldest bin of the ring; at least origin + IDC_OPEN_BINS */
	uint32_t head[IDC_OPEN_BINS];
	uint32_t tail[IDC_OPEN_BINS]; /* bin i at i % IDC_OPEN_BINS */
	uint64_t sum;		      /* sum over bins [origin + IDC_OPEN_BINS, tail_begin) */
	double sum_squares;
	uint64_t dead_begin, dead_end; /* bins of the last interval that was not observed */
	uint64_t nr_dead;	       /* bins of all such intervals since the period's begin */
};

struct idc {
	uint64_t begin_ns;
	uint64_t bin_begin_ns; /* begin of the finest bin being filled, which the scales lack */
	uint32_t bin_count;    /* arrivals of that bin so far */
	struct idc_scale scale[IDC_NR_SCALES];
};

void idc_init(struct idc *d, uint64_t begin_ns);
void idc_add_many(struct idc *d, const struct request *r, size_t nr);
/*
 * Marks [begin_ns, end_ns) as not observed. Its bins, including those at its two ends, do not
 * count. The calls come in order of time, after the arrivals before the interval and before those
 * after it.
 */
void idc_skip(struct idc *d, uint64_t begin_ns, uint64_t end_ns);
/*
 * Returns the index at idc_window_ns[scale] over [begin, end_ns), or NaN with too few bins or
 * arrivals.
 */
double idc_at(const struct idc *d, unsigned int scale, uint64_t end_ns);

#endif
