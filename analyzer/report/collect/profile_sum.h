/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_sum: combines the profiles of several devices over the same time into one.
 *
 * Counts are added and histograms merged; ratios are means weighted by their requests. Values
 * without a meaning across devices (locality, think time, interarrival moments) are unknown.
 */
#ifndef ANALYZER_REPORT_COLLECT_PROFILE_SUM_H
#define ANALYZER_REPORT_COLLECT_PROFILE_SUM_H

#include "formats/profile/profile.h"

/*
 * sum is initialized and empty, and released on failure; nr > 0. The profile is not graded. Returns
 * 0 or -ENOMEM.
 */
int profile_sum(struct profile *sum, const struct profile *each, size_t nr);

#endif
