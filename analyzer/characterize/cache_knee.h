/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_knee: the size of a cache beyond which more cache brings little.
 *
 * The knee of a miss-ratio curve is the point furthest below the straight line between the ends of the
 * curve, over the logarithm of the cache size (Satopaa et al., Finding a "Kneedle" in a Haystack:
 * Detecting Knee Points in System Behavior, 2011, without its smoothing).
 */
#ifndef ANALYZER_CHARACTERIZE_CACHE_KNEE_H
#define ANALYZER_CHARACTERIZE_CACHE_KNEE_H

#include <stddef.h>

#include "formats/profile/profile.h"

/*
 * The index of the knee among nr points, whose sizes are above 0 and ascend; nr where the curve has fewer
 * than three points, or where none lies more than 0.02 of miss ratio below the line. O(nr).
 */
size_t cache_knee(const struct cache_point *points, size_t nr);

#endif
