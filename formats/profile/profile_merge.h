/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_merge: two profiles of one device as the profile of both periods.
 *
 * What adds up is exact: counts, bytes, sizes, losses, the histograms of response times with their sums
 * and extremes, and what follows from them (rate, mix, throughput, mean in flight, percentiles to the
 * histograms' own resolution). Ratios of access patterns are weighted by requests and the mean of
 * clients by time: subsets and intervals end where a period ends. What takes single requests to tell becomes unknown: think time,
 * variation and burstiness of arrivals, footprint, distribution, miss-ratio curve. docs/methods.md has
 * the equations. A period without requests of its own changes nothing but the length.
 */
#ifndef FORMATS_PROFILE_MERGE_H
#define FORMATS_PROFILE_MERGE_H

#include "formats/profile/profile.h"

/* Neighbouring periods whose ends are read at slightly different instants: no gap. */
#define PROFILE_TOUCH_S 0.01

/*
 * dst += src; both graded or not, dst is graded afterwards. Periods in any order; the result is exact
 * where they do not overlap. host, device, name and layer stay dst's; a source that differs becomes
 * unknown; details of one source are dropped. 0, or -ENOMEM: dst is released then.
 * Cost: the distinct sizes and buckets of both.
 */
int profile_merge(struct profile *dst, const struct profile *src);

#endif
