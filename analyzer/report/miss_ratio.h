/* SPDX-License-Identifier: Apache-2.0 */
/*
 * miss_ratio: how much cache is worth having: the miss-ratio curve of a profile, its knee marked.
 */
#ifndef ANALYZER_REPORT_MISS_RATIO_H
#define ANALYZER_REPORT_MISS_RATIO_H

#include "analyzer/report/frame.h"
#include "formats/profile.h"

/*
 * The knee: the point furthest below the straight line between the ends of the curve, over the
 * logarithm of the cache size (Satopaa et al., Finding a "Kneedle" in a Haystack, 2011, without
 * its smoothing). Index of the point, or nr where the curve is flat or has fewer than 3 points.
 */
size_t miss_ratio_knee(const struct cache_point *points, size_t nr);

/* 0, -ENODATA where the profile has no curve. */
int miss_ratio_draw(const struct profile *p, const struct view *v, struct buf *out);
int miss_ratio_csv(const struct profile *p, struct buf *out);

#endif
