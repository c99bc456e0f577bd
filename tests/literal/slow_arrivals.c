/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "tests/literal/slow_arrivals.h"

static double gap(const uint64_t *arrival_ns, size_t i)
{
	return (double)(arrival_ns[i + 1] - arrival_ns[i]);
}

static double mean_ns(const uint64_t *arrival_ns, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i + 1 < nr; i++)
		sum += gap(arrival_ns, i);
	return sum / (double)(nr - 1);
}

double slow_interarrival_mean_s(const uint64_t *arrival_ns, size_t nr)
{
	return mean_ns(arrival_ns, nr) / 1e9;
}

static double variance_ns2(const uint64_t *arrival_ns, size_t nr)
{
	double mean = mean_ns(arrival_ns, nr), sum = 0;

	for (size_t i = 0; i + 1 < nr; i++)
		sum += (gap(arrival_ns, i) - mean) * (gap(arrival_ns, i) - mean);
	return sum / (double)(nr - 1);
}

double slow_interarrival_scv(const uint64_t *arrival_ns, size_t nr)
{
	double mean = mean_ns(arrival_ns, nr);

	return variance_ns2(arrival_ns, nr) / (mean * mean);
}

double slow_lag1_autocorrelation(const uint64_t *arrival_ns, size_t nr)
{
	double mean = mean_ns(arrival_ns, nr), sum = 0;

	for (size_t i = 0; i + 2 < nr; i++)
		sum += (gap(arrival_ns, i) - mean) * (gap(arrival_ns, i + 1) - mean);
	return sum / (variance_ns2(arrival_ns, nr) * (double)(nr - 1));
}

double slow_idc(const uint64_t *arrival_ns, size_t nr, uint64_t window_ns, uint64_t begin_ns,
		uint64_t end_ns, uint64_t min_bins)
{
	uint64_t first = (begin_ns + window_ns - 1) / window_ns, last = end_ns / window_ns;
	double *bins, mean = 0, variance = 0, n = (double)(last - first);

	if (last < first + min_bins)
		return NAN;
	bins = calloc(last - first, sizeof(*bins));
	if (!bins)
		return NAN;
	for (size_t i = 0; i < nr; i++) {
		uint64_t bin = arrival_ns[i] / window_ns;

		if (bin >= first && bin < last)
			bins[bin - first]++;
	}
	for (uint64_t i = 0; i < last - first; i++)
		mean += bins[i] / n;
	for (uint64_t i = 0; i < last - first; i++)
		variance += (bins[i] - mean) * (bins[i] - mean) / (n - 1);
	free(bins);
	return variance / mean;
}
