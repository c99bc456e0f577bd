/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_fit: chooses the distribution that describes the accesses per region best: uniform,
 * Gaussian or Zipf.
 *
 * Likelihoods are multinomial over the regions of the range touched. The first and the last region
 * are weighted by their part inside the range. Regions are joined until they hold 8 accesses each
 * on average, or until 64 regions are left.
 * - uniform: it has no parameter.
 * - gaussian: mean and deviation over the addresses, as shares of the range. The masses come from
 *   the normal distribution function and are normalized to the range.
 * - zipf: the regions are ranked, each half of the requests by the counts of the other half
 *   (hotspot.h). theta belongs to the items (the grain of the addresses), not to the regions. It
 *   maximizes the likelihood of one of two layouts, whichever is likelier: items scattered over the
 *   range, as hashing generators do, with equally many in every region; or items in order of rank,
 *   so that the hot ones lie together. With one item per region both are the plain ranked Zipf
 *   likelihood. The likelihood is unimodal in theta and is maximized by Brent's method on
 *   0..ZIPF_MAX_EXPONENT.
 *
 * The kind is chosen by AIC. A kind with parameters must be better than the uniform by
 * HOTSPOT_AIC_MARGIN, so that noise is not reported as a pattern (Burnham and Anderson, Model
 * Selection and Multimodel Inference, 2002: above 10 the worse model has essentially no support).
 *
 * Cost: a sort of the regions and, where the counts differ, some 50 passes over 5 values per region
 * (about 3 ms). The function allocates scratch memory and frees it.
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
 * Writes all of *out. Where there are too few accesses or regions, the kind is unknown and every
 * number is NaN. Returns 0, or -ENOMEM with out unchanged.
 */
int hotspot_fit(const struct hotspot *h, struct access_distribution *out);

/* The share of accesses that the chosen distribution gives to each region, the largest first. */
struct hotspot_law {
	double *mass; /* owned by the caller; nr shares, which sum to 1 */
	size_t nr;
	unsigned int shift; /* log2 of the sectors of a region; at least that of the hotspot */
};
/* Returns 0, -ENODATA where the kind is unknown, or -ENOMEM. */
int hotspot_law(const struct hotspot *h, struct hotspot_law *out);

#endif
