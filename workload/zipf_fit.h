/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zipf_fit: theta of Zipf-distributed items from the counts of ranked regions that hold them.
 * See hotspot_fit.h for what the two layouts mean.
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
 * counts[nr_regions]: accesses per region, the hottest rank first; items_per_region >= 1.
 * mass[nr_regions] receives the fitted probabilities by rank. 0 or -ENOMEM.
 */
int zipf_fit(const double *counts, size_t nr_regions, uint64_t items_per_region, double *mass,
	     struct zipf_fit *out);

#endif
