/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflight: the exact mean number of requests in flight in every column of time: all of them, and
 * those inside the device.
 *
 * The columns that a request spans need not be touched. Let A(T) requests have begun and C(T) have
 * ended before T, with SA and SC the sums of those times. The time integral of the requests in
 * flight is
 *	I(T) = T * (A - C) - SA + SC
 * and the mean over a column is the difference of I at its ends divided by its width. All sums are
 * integers modulo 2^64; the difference is correct as long as the integral over one column is below
 * 2^64 ns * requests. So columns can be joined like those of any other timegrid.
 */
#ifndef ANALYZER_REPORT_PICTURE_INFLIGHT_H
#define ANALYZER_REPORT_PICTURE_INFLIGHT_H

#include "analyzer/report/draw/frame.h"

enum inflight_part {
	INFLIGHT_ALL,	 /* from arrival to completion */
	INFLIGHT_DEVICE, /* from dispatch to completion */
};

struct inflight {
	struct timegrid grid; /* rows: count and sum of the arrivals, dispatches and completions */
};

void inflight_init(struct inflight *f);
void inflight_release(struct inflight *f);
/*
 * Requires arrival <= dispatch <= completion; for an unknown dispatch the arrival is passed.
 * Returns 0 or -ENOMEM.
 */
int inflight_add(struct inflight *f, uint64_t arrival_ns, uint64_t dispatch_ns,
		 uint64_t completion_ns);
/*
 * Adds a mean number of requests over [begin_ns, end_ns), `inside` of them inside the device, for a
 * period of which no single request is known. Returns 0 or -ENOMEM.
 */
int inflight_spread(struct inflight *f, uint64_t begin_ns, uint64_t end_ns, double all,
		    double inside);
/*
 * Writes to means[i] the mean of column i of a grid with inflight's rows; means has grid->nr
 * entries.
 */
void inflight_means(const struct timegrid *grid, enum inflight_part part, double *means);
/*
 * Returns the mean number of requests inside the device while others wait in front of it, over time
 * and weighted by how many wait. NaN where none ever waits, or where memory is short.
 */
double inflight_device_while_waiting(const struct inflight *f);

/* Returns 0, -ENODATA where no completion is known, or -ENOMEM. */
int inflight_draw(const struct inflight *f, const struct view *v, struct buf *out);
int inflight_csv(const struct inflight *f, const struct view *v, struct buf *out);

#endif
