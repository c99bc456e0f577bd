/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peak: aligns the windows of several loads in time, adds them second by second, and finds when
 * their sum was highest.
 */
#ifndef ANALYZER_PEAK_H
#define ANALYZER_PEAK_H

#include "analyzer/characterize/profile_set.h"
#include "workload/align.h"

struct peak_load {
	const struct profile_group *group; /* borrowed */
	double factor;			   /* multiplies its requests */
};

/*
 * The requests of a window are spread evenly over its time, so that each second of the clock gets
 * them in proportion to the part of it that the window covers. sum->makers holds streams, which are
 * the numbers of the loads. Returns 0, -ENODATA if a load has no windows, or -ENOMEM.
 */
int peak_find(const struct peak_load *loads, size_t nr, struct align_sum *sum);

#endif
