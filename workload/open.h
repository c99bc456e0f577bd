/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open: describes the intensity of a load as an open system: the arrival rate and the times between
 * arrivals.
 *
 * The sums are exact integers, of 128 bits for squares and products. An arrival with a time before
 * the latest arrival counts as simultaneous with the latest: its gap is 0 and the latest stays
 * unchanged, so that the gaps still sum to the span. A request costs O(1); the memory is
 * sizeof(struct open).
 */
#ifndef WORKLOAD_OPEN_H
#define WORKLOAD_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

struct open {
	uint64_t nr;		    /* arrivals */
	uint64_t first_ns, last_ns; /* earliest and latest arrival */
	uint64_t nr_gaps;
	uint64_t sum_ns; /* sum of the gaps */
	uint64_t first_gap_ns, last_gap_ns;
	unsigned __int128 sum_squares;	/* sum of gap^2; at most span^2 */
	unsigned __int128 sum_products; /* sum of gap_i * gap_(i+1) */
	uint64_t resume_ns;  /* if not 0: the time from the latest arrival up to here was not
			      * observed */
	uint64_t skipped_ns; /* sum of the gaps that hold such a time */
};

/* A zeroed struct is empty. */
void open_clear(struct open *o);
void open_add_many(struct open *o, const struct request *r, size_t nr);
/*
 * Marks the time up to end_ns as not observed. The time to the next arrival then counts as no gap.
 */
void open_break(struct open *o, uint64_t end_ns);

/*
 * Returns the arrivals per second over a period of that length (eq. 5.6 of docs/methods.md), or NaN
 * where the length is not above 0.
 */
double open_rate_per_s(const struct open *o, double period_s);
/* Returns NaN without a gap. */
double open_interarrival_mean_s(const struct open *o);
/*
 * Returns the variance over the squared mean, in population form: 1 for a Poisson stream. Returns
 * NaN with fewer than two gaps.
 */
double open_interarrival_scv(const struct open *o);
/* Returns a value in -1..1, or NaN with fewer than three gaps or where all gaps are equal. */
double open_lag1_autocorrelation(const struct open *o);

#endif
