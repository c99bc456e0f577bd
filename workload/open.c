/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "workload/open.h"

#define NS_PER_S 1e9
/*
 * A squared coefficient of variation below this is the rounding error of 64-bit mantissas, not a
 * variance.
 */
#define SCV_FLOOR 1e-15L

void open_clear(struct open *o)
{
	memset(o, 0, sizeof(*o));
}

static inline void add_gap(struct open *o, uint64_t gap)
{
	if (o->nr_gaps++)
		o->sum_products += (unsigned __int128)o->last_gap_ns * gap;
	else
		o->first_gap_ns = gap;
	o->sum_ns += gap;
	o->sum_squares += (unsigned __int128)gap * gap;
	o->last_gap_ns = gap;
}

static void first_arrival(struct open *o, uint64_t arrival_ns)
{
	o->nr = 1;
	o->first_ns = arrival_ns;
	o->last_ns = arrival_ns;
}

void open_add_many(struct open *o, const struct request *r, size_t nr)
{
	size_t i = 0;

	if (!nr)
		return;
	if (!o->nr)
		first_arrival(o, r[i++].arrival_ns);
	for (; i < nr; i++) {
		uint64_t arrival_ns = r[i].arrival_ns;
		uint64_t gap = arrival_ns > o->last_ns ? arrival_ns - o->last_ns : 0;

		if (arrival_ns < o->first_ns)
			o->first_ns = arrival_ns;
		if (o->resume_ns && arrival_ns >= o->resume_ns) {
			o->resume_ns = 0;
			o->skipped_ns += gap;
		} else {
			add_gap(o, gap);
		}
		o->last_ns += gap;
		o->nr++;
	}
}

void open_break(struct open *o, uint64_t end_ns)
{
	if (o->nr)
		o->resume_ns = end_ns;
}

double open_rate_per_s(const struct open *o, double period_s)
{
	return period_s > 0 ? (double)o->nr / period_s : NAN;
}

double open_interarrival_mean_s(const struct open *o)
{
	if (!o->nr_gaps)
		return NAN;
	return (double)(o->last_ns - o->first_ns - o->skipped_ns) / (double)o->nr_gaps / NS_PER_S;
}

static long double open_scv(const struct open *o)
{
	long double sum = (long double)o->sum_ns;
	long double ratio = (long double)o->nr_gaps * (long double)o->sum_squares / (sum * sum) - 1;

	return ratio > SCV_FLOOR ? ratio : 0;
}

double open_interarrival_scv(const struct open *o)
{
	if (o->nr_gaps < 2 || !o->sum_ns)
		return NAN;
	return (double)open_scv(o);
}

/*
 * The coefficient is sum (x_i - m)(x_(i+1) - m) over sum (x_i - m)^2, expanded so that it needs
 * only the sums and the first and the last gap.
 */
double open_lag1_autocorrelation(const struct open *o)
{
	long double n = (long double)o->nr_gaps, sum = (long double)o->sum_ns, mean, spread, cross;

	if (o->nr_gaps < 3 || !o->sum_ns || open_scv(o) == 0)
		return NAN;
	mean = sum / n;
	spread = open_scv(o) * mean * mean * n;
	cross = (long double)o->sum_products -
		mean * (2 * sum - (long double)o->first_gap_ns - (long double)o->last_gap_ns) +
		(n - 1) * mean * mean;
	return (double)(cross / spread);
}
