/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflight: the mean number of requests under way in every column of time, exactly.
 *
 * Counted without touching the columns that a request spans: with A(T) arrivals and C(T)
 * completions before T, sums SA and SC of their times, the time integral of requests under way is
 *	I(T) = T * (A - C) - SA + SC
 * and the mean over a column is the difference of I at its ends over its width. All sums are
 * integers modulo 2^64; the difference is right as long as the integral over one column is below
 * 2^64 ns * requests. Columns can therefore be joined like those of any other timegrid.
 */
#ifndef ANALYZER_REPORT_INFLIGHT_H
#define ANALYZER_REPORT_INFLIGHT_H

#include "analyzer/report/frame.h"

struct inflight {
	struct timegrid grid; /* rows: arrivals, sum of arrival times, completions, their sum */
};

void inflight_init(struct inflight *f);
void inflight_release(struct inflight *f);
/* arrival <= completion. 0 or -ENOMEM. */
int inflight_add(struct inflight *f, uint64_t arrival_ns, uint64_t completion_ns);
/* means[i]: of column i of a grid of inflight's rows; means has grid->nr places. */
void inflight_means(const struct timegrid *grid, double *means);

/* 0, -ENODATA where no completion is known, -ENOMEM. */
int inflight_draw(const struct inflight *f, const struct view *v, struct buf *out);
int inflight_csv(const struct inflight *f, const struct view *v, struct buf *out);

#endif
