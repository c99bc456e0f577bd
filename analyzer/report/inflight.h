/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflight: the mean number of requests under way in every column of time, exactly: in all, and
 * of them inside the device.
 *
 * Counted without touching the columns that a request spans: with A(T) begun and C(T) ended before
 * T, sums SA and SC of those times, the time integral of requests under way is
 *	I(T) = T * (A - C) - SA + SC
 * and the mean over a column is the difference of I at its ends over its width. All sums are
 * integers modulo 2^64; the difference is right as long as the integral over one column is below
 * 2^64 ns * requests. Columns can therefore be joined like those of any other timegrid.
 */
#ifndef ANALYZER_REPORT_INFLIGHT_H
#define ANALYZER_REPORT_INFLIGHT_H

#include "analyzer/report/frame.h"

enum inflight_part {
	INFLIGHT_ALL,	 /* arrival to completion */
	INFLIGHT_DEVICE, /* dispatch to completion */
};

struct inflight {
	struct timegrid grid; /* rows: count and sum of arrivals, dispatches, completions */
};

void inflight_init(struct inflight *f);
void inflight_release(struct inflight *f);
/* arrival <= dispatch <= completion; an unknown dispatch is the arrival. 0 or -ENOMEM. */
int inflight_add(struct inflight *f, uint64_t arrival_ns, uint64_t dispatch_ns,
		 uint64_t completion_ns);
/* means[i]: of column i of a grid of inflight's rows; means has grid->nr places. */
void inflight_means(const struct timegrid *grid, enum inflight_part part, double *means);
/*
 * Requests inside the device while others wait before it: the mean over time, weighted by how many
 * wait. NaN where none ever does, or without memory.
 */
double inflight_device_while_waiting(const struct inflight *f);

/* 0, -ENODATA where no completion is known, -ENOMEM. */
int inflight_draw(const struct inflight *f, const struct view *v, struct buf *out);
int inflight_csv(const struct inflight *f, const struct view *v, struct buf *out);

#endif
