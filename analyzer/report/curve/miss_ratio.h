/* SPDX-License-Identifier: Apache-2.0 */
/*
 * miss_ratio: draws the miss-ratio curve of a profile, and marks its knee, which shows how much
 * cache is useful.
 */
#ifndef ANALYZER_REPORT_CURVE_MISS_RATIO_H
#define ANALYZER_REPORT_CURVE_MISS_RATIO_H

#include "analyzer/report/draw/frame.h"
#include "formats/profile/profile.h"

/* Returns 0, or -ENODATA where the profile has no curve. */
int miss_ratio_draw(const struct profile *p, const struct view *v, struct buf *out);
int miss_ratio_csv(const struct profile *p, struct buf *out);

#endif
