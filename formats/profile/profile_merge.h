/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_merge: combines two profiles of one device into the profile of both periods.
 *
 * Everything that can be added is exact: counts, bytes, sizes, losses, the histograms of response
 * times with their sums and extremes, the tallies of arrivals, and the values that follow from
 * these (rate, mix, throughput, mean in flight, and percentiles to the histograms' own resolution).
 * Ratios of access patterns are weighted by requests and the mean of clients by time, because
 * subsets and intervals end where a period ends. Values that need single requests become unknown:
 * think time, variation and burstiness of arrivals, footprint, distribution, miss-ratio curve.
 * docs/methods.md has the equations. A period without requests of its own changes only the length.
 */
#ifndef FORMATS_PROFILE_MERGE_H
#define FORMATS_PROFILE_MERGE_H

#include "formats/profile/profile.h"

/*
 * The ends of neighbouring periods are read at slightly different instants; a difference up to this
 * is not a gap.
 */
#define PROFILE_TOUCH_S 0.01

/*
 * Adds src to dst. Either both are graded or neither is, and dst is graded afterwards. The periods
 * may come in any order; the result is exact where they do not overlap. host, device, name and
 * layer remain those of dst; different sources become unknown; details of one source are dropped.
 * Returns 0, or -ENOMEM with dst released. Cost: the distinct sizes and buckets of both.
 */
int profile_merge(struct profile *dst, const struct profile *src);

#endif
