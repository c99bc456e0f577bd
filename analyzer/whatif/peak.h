/* SPDX-License-Identifier: Apache-2.0 */
/* peak: several loads' windows on one clock, second by second, and when their sum was highest. */
#ifndef ANALYZER_PEAK_H
#define ANALYZER_PEAK_H

#include "analyzer/characterize/profile_set.h"
#include "workload/align.h"

struct peak_load {
	const struct profile_group *group; /* borrowed */
	double factor;			   /* of its requests */
};

/*
 * A window's requests spread evenly over its seconds. sum->makers name streams, which are numbers of
 * loads. -ENODATA where a load has no windows, -ENOMEM.
 */
int peak_find(const struct peak_load *loads, size_t nr, struct align_sum *sum);

#endif
