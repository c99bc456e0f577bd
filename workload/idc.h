/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idc: index of dispersion for counts, Var(N_w) / E(N_w), at w = 10 ms, 100 ms, 1 s and 10 s.
 *
 * 1 at every w for a Poisson stream; 0 for a clock; growing with w for bursty traffic. Counts fall
 * into bins [i w, (i + 1) w) of the monotonic clock itself, not of the period, so that the bins of
 * two periods lie on one another. Only bins wholly inside the period enter; with fewer than
 * IDC_MIN_BINS of them the index is unknown.
 *
 * Memory is bounded (about 8 KiB): per w the first IDC_OPEN_BINS bins (half of them before the
 * period's begin, for requests that arrived before it) and the last IDC_OPEN_BINS stay open as
 * counts; those between are closed into a sum and a sum of squares.
 * An arrival that is older than all open bins counts in the oldest of them.
 * An arrival costs a comparison and an increment, and a bin O(1) amortized.
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
	uint64_t tail_begin; /* oldest bin of the ring; >= origin + IDC_OPEN_BINS */
	uint32_t head[IDC_OPEN_BINS];
	uint32_t tail[IDC_OPEN_BINS]; /* bin i at i % IDC_OPEN_BINS */
	uint64_t sum;		      /* over bins [origin + IDC_OPEN_BINS, tail_begin) */
	double sum_squares;
	uint64_t dead_begin, dead_end; /* bins of the last interval that nobody watched */
	uint64_t nr_dead;	       /* bins of all such intervals, from the period's begin on */
};

struct idc {
	uint64_t begin_ns;
	uint64_t bin_begin_ns; /* the finest bin being filled, not yet in the scales ... */
	uint32_t bin_count;    /* ... and its arrivals */
	struct idc_scale scale[IDC_NR_SCALES];
};

void idc_init(struct idc *d, uint64_t begin_ns);
void idc_add_many(struct idc *d, const struct request *r, size_t nr);
/*
 * Nobody watched [begin_ns, end_ns): its bins, those at its ends included, do not count. Called in
 * order of time, after the arrivals before it and before those after it.
 */
void idc_skip(struct idc *d, uint64_t begin_ns, uint64_t end_ns);
/* The index at idc_window_ns[scale] over [begin, end_ns); NaN with too few bins or arrivals. */
double idc_at(const struct idc *d, unsigned int scale, uint64_t end_ns);

#endif
