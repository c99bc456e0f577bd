/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_sum: one profile of several devices over the same time.
 *
 * Counts add up and histograms merge; ratios are means weighted by the requests they were taken
 * over. What has no meaning across devices (locality, think time, interarrival moments) is unknown.
 */
#ifndef ANALYZER_REPORT_PROFILE_SUM_H
#define ANALYZER_REPORT_PROFILE_SUM_H

#include "formats/profile/profile.h"

/* sum: initialized, empty; released on failure. nr > 0. 0 or -ENOMEM. Does not grade. */
int profile_sum(struct profile *sum, const struct profile *each, size_t nr);

#endif
