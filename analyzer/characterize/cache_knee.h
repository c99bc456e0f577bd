/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_knee: finds the size of a cache beyond which more cache brings little.
 *
 * The knee of a miss-ratio curve is the point furthest below the straight line between the two ends
 * of the curve, over the logarithm of the cache size (Satopaa, Albrecht, Irwin and Raghavan,
 * Finding a "Kneedle" in a Haystack: Detecting Knee Points in System Behavior, 2011; the smoothing
 * of that paper is left out).
 */
#ifndef ANALYZER_CHARACTERIZE_CACHE_KNEE_H
#define ANALYZER_CHARACTERIZE_CACHE_KNEE_H

#include <stddef.h>

#include "formats/profile/profile.h"

/*
 * Returns the index of the knee among nr points, whose sizes are above 0 and ascending. Returns nr
 * where the curve has fewer than three points, or where none lies more than 0.02 of miss ratio
 * below the line. Costs O(nr).
 */
size_t cache_knee(const struct cache_point *points, size_t nr);

#endif
