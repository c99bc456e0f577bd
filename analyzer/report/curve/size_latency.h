/* SPDX-License-Identifier: Apache-2.0 */
/*
 * size_latency: response time by request size: for every size class and direction the median, the
 * 95th and the 99th percentile of the total. It is drawn from the joint histograms of a profile.
 */
#ifndef ANALYZER_REPORT_CURVE_SIZE_LATENCY_H
#define ANALYZER_REPORT_CURVE_SIZE_LATENCY_H

#include "analyzer/report/draw/frame.h"
#include "formats/profile/profile.h"

/* Returns 0, or -ENODATA where no response time is known. */
int size_latency_draw(const struct profile *p, const struct view *v, struct buf *out);
int size_latency_csv(const struct profile *p, struct buf *out);

#endif
