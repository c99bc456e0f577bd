/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tail: the distribution of response times on a scale that gives the slow end room: 50, 90, 99,
 * 99.9 and 99.99 %, per stage and direction. Drawn from the histograms of a profile.
 */
#ifndef ANALYZER_REPORT_TAIL_H
#define ANALYZER_REPORT_TAIL_H

#include "analyzer/report/frame.h"
#include "formats/profile/profile.h"

/* 0, -ENODATA where no response time is known. */
int tail_draw(const struct profile *p, const struct view *v, struct buf *out);
/* Percentiles, a line each, by direction and stage; empty where fewer than ten lie beyond. */
int tail_csv(const struct profile *p, struct buf *out);

#endif
