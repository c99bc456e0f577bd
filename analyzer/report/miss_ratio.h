/* SPDX-License-Identifier: Apache-2.0 */
/*
 * miss_ratio: how much cache is worth having: the miss-ratio curve of a profile, its knee marked.
 */
#ifndef ANALYZER_REPORT_MISS_RATIO_H
#define ANALYZER_REPORT_MISS_RATIO_H

#include "analyzer/report/frame.h"
#include "formats/profile/profile.h"

/* 0, -ENODATA where the profile has no curve. */
int miss_ratio_draw(const struct profile *p, const struct view *v, struct buf *out);
int miss_ratio_csv(const struct profile *p, struct buf *out);

#endif
