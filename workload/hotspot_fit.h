/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_fit: uniform, Gaussian or Zipf, whichever the accesses per region speak for.
 *
 * Likelihoods are multinomial over the regions that the range touched, the first and the last
 * weighted by the part of them inside it. Regions are joined until there are 8 accesses to each on
 * average, or 64 regions.
 * - uniform: no parameter.
 * - gaussian: mean and deviation over the addresses, as shares of the range; masses by the normal
 *   distribution function, normalized to the range.
 * - zipf: regions ranked, each half of the requests by the counts of the other half (hotspot.h).
 *   theta belongs to the items (the grain of the addresses), not to the regions, and maximizes the
 *   likelihood of one of two layouts, whichever is likelier: items scattered over the range, as
 *   hashing generators do, every region holding as many; or in order of rank, the hot ones
 *   together. With one item per region both are the plain ranked Zipf likelihood. It is
 *   unimodal in theta and maximized by Brent's method on 0..ZIPF_MAX_EXPONENT.
 * The kind is chosen by AIC; one with parameters must beat the uniform by HOTSPOT_AIC_MARGIN, so
 * that noise is not called a pattern (Burnham and Anderson 2002: above 10, essentially no support).
 *
 * Cost: a sort of the regions, and where they are not all alike some 50 passes over 5 values per
 * region (about 3 ms). Allocates scratch memory and frees it.
 */
#ifndef WORKLOAD_HOTSPOT_FIT_H
#define WORKLOAD_HOTSPOT_FIT_H

#include "formats/profile/profile.h"
#include "workload/hotspot.h"

#define HOTSPOT_AIC_MARGIN   10.0
#define HOTSPOT_MIN_ACCESSES 100
#define HOTSPOT_MIN_REGIONS  10
#define ZIPF_MAX_EXPONENT    4.0

/*
 * Writes all of *out. Below the minimum of accesses or regions the kind is unknown and every
 * number NaN. 0 or -ENOMEM (out unchanged).
 */
int hotspot_fit(const struct hotspot *h, struct access_distribution *out);

/* The shares of accesses that the chosen distribution gives to each region, the largest first. */
struct hotspot_law {
	double *mass; /* owned, to be freed; nr of them, summing to 1 */
	size_t nr;
};
/* 0, -ENODATA where the kind is unknown, or -ENOMEM. */
int hotspot_law(const struct hotspot *h, struct hotspot_law *out);

#endif
