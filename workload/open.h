/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open: intensity as an open system sees it: arrival rate and the times between arrivals.
 *
 * Sums are exact integers (128 bits for squares and products). An arrival before the latest one
 * counts as simultaneous with it: its gap is 0 and the latest stays, so that the gaps still sum to
 * the span. A request costs O(1), and the memory is sizeof(struct open).
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
	uint64_t sum_ns; /* of the gaps */
	uint64_t first_gap_ns, last_gap_ns;
	unsigned __int128 sum_squares;	/* of gap^2; at most span^2 */
	unsigned __int128 sum_products; /* of gap_i * gap_(i+1) */
	uint64_t resume_ns;  /* not 0: nobody watched up to here since the latest arrival */
	uint64_t skipped_ns; /* between arrivals on either side of such intervals */
};

/* A zeroed struct is empty. */
void open_clear(struct open *o);
void open_add_many(struct open *o, const struct request *r, size_t nr);
/* Nobody watched up to end_ns: the time to the first arrival from then on is no gap. */
void open_break(struct open *o, uint64_t end_ns);

/* eq. 5.6: arrivals per second over a period of that length; NaN where it is not above 0. */
double open_rate_per_s(const struct open *o, double period_s);
/* NaN below one gap. */
double open_interarrival_mean_s(const struct open *o);
/* Variance over squared mean, population form: 1 for a Poisson stream. NaN below two gaps. */
double open_interarrival_scv(const struct open *o);
/* In -1..1; NaN below three gaps, or where all gaps are equal. */
double open_lag1_autocorrelation(const struct open *o);

#endif
