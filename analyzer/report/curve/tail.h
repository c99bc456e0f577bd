/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tail: the distribution of response times on a scale that gives room to the slow end: 50, 90, 99,
 * 99.9 and 99.99 %, per stage and direction. It is drawn from the histograms of a profile.
 */
#ifndef ANALYZER_REPORT_CURVE_TAIL_H
#define ANALYZER_REPORT_CURVE_TAIL_H

#include "analyzer/report/draw/frame.h"
#include "formats/profile/profile.h"

/* Returns 0, or -ENODATA where no response time is known. */
int tail_draw(const struct profile *p, const struct view *v, struct buf *out);
/*
 * Writes the percentiles, a line each, by direction and stage; a cell is empty where fewer than ten
 * requests lie beyond it.
 */
int tail_csv(const struct profile *p, struct buf *out);

#endif
