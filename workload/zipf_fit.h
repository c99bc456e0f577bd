/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zipf_fit: estimates theta of Zipf-distributed items from the counts of the ranked regions that
 * hold them. hotspot_fit.h explains the two layouts.
 */
#ifndef WORKLOAD_ZIPF_FIT_H
#define WORKLOAD_ZIPF_FIT_H

#include <stddef.h>
#include <stdint.h>

struct zipf_fit {
	double exponent;
	double log_likelihood;
};

/*
 * counts[nr_regions] are the accesses per region, the hottest rank first. items_per_region is at
 * least 1. mass[nr_regions] receives the fitted probabilities by rank. Returns 0 or -ENOMEM.
 */
int zipf_fit(const double *counts, size_t nr_regions, uint64_t items_per_region, double *mass,
	     struct zipf_fit *out);

#endif
